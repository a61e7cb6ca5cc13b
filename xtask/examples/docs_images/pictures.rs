//! `docs/images/NAME.png`, drawn from `docs/scenes/NAME.json`.
//!
//! A picture shows the scene's first frame, or the moments that `docs/scenes/moments.toml` lists, side
//! by side.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use framefence::{
    AdapterChoice, FrameRequest, Gpu, GpuOptions, Renderer, RendererOptions, Size, Time,
};
use framefence_compositor::{Compositor, Scene};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, RgbaImage};

/// Between the moments of a strip, in pixels.
const GAP: u32 = 6;

/// By how many code values a picture may differ from the stored one, as for the compositor's golden
/// frames: one for the rounding of each of two blended layers, which the GPU is free in.
const TOLERANCE: u8 = 2;

/// The scenes of the guide, and what draws them.
pub(crate) struct Pictures {
    docs: PathBuf,
    /// The times at which each scene is shown.
    moments: BTreeMap<String, Vec<Time>>,
    gpu: Gpu,
    renderer: Renderer,
}

impl Pictures {
    /// Finds the scenes. They are drawn on a software driver if there is one: the stored pictures are
    /// its, and drivers round differently.
    pub(crate) fn open() -> Result<Self> {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs");
        let moments = moments(&docs.join("scenes"))?;
        let software = GpuOptions::default().with_adapter(AdapterChoice::Software);
        let gpu = Gpu::open(&software).or_else(|_| Gpu::open(&GpuOptions::default()))?;
        let renderer = Renderer::new(&gpu, RendererOptions::default())?;
        Ok(Self {
            docs,
            moments,
            gpu,
            renderer,
        })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.moments.keys().cloned().collect()
    }

    /// Draws a picture and stores it.
    pub(crate) fn save(&self, name: &str) -> Result<()> {
        let drawn = self.draw(name)?;
        let is_opaque = drawn.pixels().all(|pixel| pixel.0[3] == 255);
        let drawn = DynamicImage::from(drawn);
        let drawn = match is_opaque {
            true => drawn.into_rgb8().into(),
            false => drawn,
        };
        let path = self.stored(name);
        let file =
            File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        drawn.write_with_encoder(PngEncoder::new_with_quality(
            BufWriter::new(file),
            CompressionType::Best,
            FilterType::Adaptive,
        ))?;
        Ok(())
    }

    /// How the stored picture differs from what its scene shows, if it does.
    pub(crate) fn compare(&self, name: &str) -> Result<Option<String>> {
        let drawn = self.draw(name)?;
        let path = self.stored(name);
        let stored = image::open(&path)
            .with_context(|| format!("cannot read {}", path.display()))?
            .into_rgba8();
        if stored.dimensions() != drawn.dimensions() {
            return Ok(Some(format!("{name} is of another size")));
        }
        let pairs = stored.as_raw().iter().zip(drawn.as_raw());
        let difference = pairs.map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
        Ok((difference > TOLERANCE)
            .then(|| format!("{name} differs by up to {difference} code values")))
    }

    fn stored(&self, name: &str) -> PathBuf {
        self.docs.join("images").join(name).with_extension("png")
    }

    /// The scene's moments from left to right, with nothing between them.
    fn draw(&self, name: &str) -> Result<RgbaImage> {
        let times = self
            .moments
            .get(name)
            .with_context(|| format!("there is no scene {name}"))?;
        let folder = self.docs.join("scenes");
        let scene = Scene::load(folder.join(name).with_extension("json"))?;
        let size = Size::new(scene.canvas.width, scene.canvas.height);
        let mut compositor = Compositor::new(&self.gpu, scene, folder)?;
        let count = times.len() as u32;
        let width = size.width * count + GAP * (count - 1);
        let mut strip = RgbaImage::new(width, size.height);
        for (index, &time) in (0..).zip(times) {
            let request = FrameRequest::new(index.into(), time, size);
            let frame = self
                .renderer
                .submit_now(&mut compositor, &request)?
                .wait()?;
            let left = index * (size.width + GAP);
            for (y, row) in (0..).zip(frame.image().plane().rows()) {
                for (x, &pixel) in (left..).zip(row.as_chunks::<4>().0) {
                    strip.put_pixel(x, y, image::Rgba(straight(pixel)));
                }
            }
        }
        Ok(strip)
    }
}

/// The scenes in `folder` and the times that their pictures show.
fn moments(folder: &Path) -> Result<BTreeMap<String, Vec<Time>>> {
    let path = folder.join("moments.toml");
    let text = fs::read_to_string(&path)?;
    let mut listed: BTreeMap<String, Vec<f64>> =
        toml::from_str(&text).with_context(|| format!("cannot use {}", path.display()))?;
    let mut moments = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.file_stem().context("a scene has a name")?;
        let name = name.to_string_lossy().into_owned();
        let seconds = listed.remove(&name).unwrap_or_else(|| vec![0.0]);
        ensure!(!seconds.is_empty(), "moments.toml lists no time of {name}");
        let millis = seconds.iter().map(|seconds| (seconds * 1e3).round() as i64);
        let times = millis.map(|millis| Time::from_ratio(millis, 1000));
        moments.insert(name, times.collect());
    }
    let unknown: Vec<_> = listed.keys().collect();
    ensure!(
        unknown.is_empty(),
        "moments.toml lists scenes that are not there: {unknown:?}"
    );
    Ok(moments)
}

/// A pixel with its alpha divided out, as PNG files hold it.
fn straight([red, green, blue, alpha]: [u8; 4]) -> [u8; 4] {
    let channel = |value: u8| match u32::from(alpha) {
        0 => 0,
        alpha => ((u32::from(value) * 255 + alpha / 2) / alpha).min(255) as u8,
    };
    [channel(red), channel(green), channel(blue), alpha]
}
