//! Draws the pictures of `docs/scene.md`: `docs/images/NAME.png` from `docs/scenes/NAME.json`.
//!
//! `cargo xtask docs-images` runs it. A picture shows the scene's first frame, or the moments that
//! `docs/scenes/moments.toml` lists, side by side.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use framefence::{
    AdapterChoice, FrameRequest, Gpu, GpuOptions, Renderer, RendererOptions, Size, Time,
};
use framefence_compositor::{Compositor, Scene};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _, RgbaImage};

/// Between the moments of a strip, in pixels.
const GAP: u32 = 6;

/// By how many code values a picture may differ from the stored one, as for the compositor's golden
/// frames: one for the rounding of each of two blended layers, which the GPU is free in.
const TOLERANCE: u8 = 2;

#[derive(Parser)]
struct Args {
    /// Write nothing: compare with the pictures that are there
    #[arg(long)]
    check: bool,
    /// Only the pictures of these names [default: all]
    names: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut moments = Moments::load(&docs.join("scenes/moments.toml"))?;
    let studio = Studio::open()?;
    let mut unknown = args.names.clone();
    let mut stale = Vec::new();
    let mut count = 0;
    for scene in scenes(&docs.join("scenes"))? {
        let name = scene
            .file_stem()
            .context("a scene has a name")?
            .to_string_lossy()
            .into_owned();
        let times = moments.take(&name);
        if !args.names.is_empty() && !args.names.contains(&name) {
            continue;
        }
        unknown.retain(|asked| *asked != name);
        let picture = docs.join("images").join(&name).with_extension("png");
        let strip = studio
            .strip(&scene, &times)
            .with_context(|| format!("cannot draw {}", scene.display()))?;
        count += 1;
        if args.check {
            if let Err(difference) = compare(&strip, &picture) {
                stale.push(format!("{name}: {difference:#}"));
            }
        } else {
            save(&strip, &picture)?;
        }
    }
    moments.ensure_all_taken()?;
    ensure!(unknown.is_empty(), "there are no scenes {unknown:?}");
    ensure!(
        stale.is_empty(),
        "pictures are not what their scenes show; `cargo xtask docs-images` draws them anew:\n  {}",
        stale.join("\n  ")
    );
    let done = if args.check { "compared" } else { "drawn" };
    println!("{count} pictures {done}");
    Ok(())
}

/// The scenes of the guide, in order.
fn scenes(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut scenes = Vec::new();
    for entry in fs::read_dir(folder).context("the folder of the scenes cannot be read")? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            scenes.push(path);
        }
    }
    scenes.sort();
    Ok(scenes)
}

/// The times at which scenes are shown, in seconds.
struct Moments(BTreeMap<String, Vec<f64>>);

impl Moments {
    fn load(path: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let times =
            toml::from_str(&text).with_context(|| format!("cannot use {}", path.display()))?;
        Ok(Self(times))
    }

    fn take(&mut self, name: &str) -> Vec<Time> {
        let seconds = self.0.remove(name).unwrap_or_else(|| vec![0.0]);
        let millis = seconds.iter().map(|seconds| (seconds * 1e3).round() as i64);
        millis
            .map(|millis| Time::from_ratio(millis, 1000))
            .collect()
    }

    fn ensure_all_taken(&self) -> Result<()> {
        let names: Vec<_> = self.0.keys().collect();
        ensure!(
            names.is_empty(),
            "moments.toml lists scenes that are not there: {names:?}"
        );
        Ok(())
    }
}

/// What draws all of them.
struct Studio {
    gpu: Gpu,
    renderer: Renderer,
}

impl Studio {
    /// On a software driver if there is one: the stored pictures are its, and drivers round
    /// differently.
    fn open() -> Result<Self> {
        let software = GpuOptions::default().with_adapter(AdapterChoice::Software);
        let gpu = Gpu::open(&software).or_else(|_| Gpu::open(&GpuOptions::default()))?;
        let renderer = Renderer::new(&gpu, RendererOptions::default())?;
        Ok(Self { gpu, renderer })
    }

    /// The scene at each of `times`, from left to right, with nothing between them.
    fn strip(&self, path: &Path, times: &[Time]) -> Result<RgbaImage> {
        let scene = Scene::load(path)?;
        let size = Size::new(scene.canvas.width, scene.canvas.height);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut compositor = Compositor::new(&self.gpu, scene, folder)?;
        let count = times.len() as u32;
        let width = size.width * count + GAP * count.saturating_sub(1);
        let mut strip = RgbaImage::new(width, size.height);
        for (index, &time) in times.iter().enumerate() {
            let request = FrameRequest::new(index as u64, time, size);
            let frame = self
                .renderer
                .submit_now(&mut compositor, &request)?
                .wait()?;
            let plane = frame.image().plane();
            let left = index as u32 * (size.width + GAP);
            for (y, row) in plane.rows().enumerate() {
                for (x, pixel) in row.as_chunks::<4>().0.iter().enumerate() {
                    strip.put_pixel(left + x as u32, y as u32, image::Rgba(straight(*pixel)));
                }
            }
        }
        Ok(strip)
    }
}

/// A pixel with its alpha divided out, as PNG files hold it.
fn straight([red, green, blue, alpha]: [u8; 4]) -> [u8; 4] {
    let channel = |value: u8| match alpha {
        0 => 0,
        alpha => {
            let rounded = (u32::from(value) * 255 + u32::from(alpha) / 2) / u32::from(alpha);
            rounded.min(255) as u8
        }
    };
    [channel(red), channel(green), channel(blue), alpha]
}

fn save(strip: &RgbaImage, path: &Path) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let encoder = PngEncoder::new_with_quality(
        BufWriter::new(file),
        CompressionType::Best,
        FilterType::Adaptive,
    );
    let (width, height) = strip.dimensions();
    let is_opaque = strip.pixels().all(|pixel| pixel.0[3] == 255);
    if is_opaque {
        let rgb: Vec<_> = strip
            .pixels()
            .flat_map(|pixel| [pixel.0[0], pixel.0[1], pixel.0[2]])
            .collect();
        encoder.write_image(&rgb, width, height, ExtendedColorType::Rgb8)?;
    } else {
        encoder.write_image(strip, width, height, ExtendedColorType::Rgba8)?;
    }
    Ok(())
}

/// Why the stored picture is not `strip`.
fn compare(strip: &RgbaImage, path: &Path) -> Result<()> {
    let stored = image::open(path)
        .with_context(|| format!("cannot read {}", path.display()))?
        .into_rgba8();
    ensure!(
        stored.dimensions() == strip.dimensions(),
        "it is of another size"
    );
    let pairs = stored.as_raw().iter().zip(strip.as_raw());
    let difference = pairs.map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    ensure!(
        difference <= TOLERANCE,
        "it differs by up to {difference} code values"
    );
    Ok(())
}
