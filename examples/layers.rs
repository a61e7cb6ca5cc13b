//! What each kind of layer and each effect costs, and how the frame's time grows with the layers.
//!
//! ```text
//! cargo run --release -p framefence-examples --example layers
//! ```
//!
//! Each row is a scene of its own whose layer covers the whole frame. In one column the layer grows
//! a little from frame to frame, so that everything is drawn anew; in the other it stays as it is.
//! All scenes take turns, one frame each, so that whatever else the machine does hits all alike. A
//! frame's time runs from the painter's call until the CPU can read the pixels; that of an empty
//! scene, which is the readback's for the most part, is taken off.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use framefence::{
    AdapterChoice, FrameRate, FrameRequest, Gpu, GpuOptions, Renderer, RendererOptions, Size,
};
use framefence_compositor::{Compositor, FrameCost, Scene};
use framefence_examples::args;
use framefence_examples::latency::Latencies;
use framefence_examples::report::{self, JsonFile};
use serde::Serialize;
use serde_json::{Value, json};

/// What each kind of layer and each effect costs, and how the frame's time grows with the layers
#[derive(Parser)]
struct Args {
    /// Size of the frames in pixels
    #[arg(long, value_name = "WxH", default_value = "1920x1080", value_parser = args::size)]
    size: Size,
    /// Frames to time of each scene
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=250))]
    frames: u32,
    /// The adapter: part of its name, or `software`; the best there is unless given
    #[arg(long, value_name = "NAME", value_parser = args::adapter)]
    adapter: Option<AdapterChoice>,
    /// Write the results to this file as well
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Frames that each scene draws first, untimed: pipelines are compiled, and what stays the same is
/// known from the third on.
const WARMUP: u32 = 4;

const COUNTS: [usize; 8] = [1, 2, 5, 10, 20, 50, 100, 200];

fn main() -> ExitCode {
    report::exit_code(run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let json = args.json.as_deref().map(JsonFile::create).transpose()?;
    let choice = args.adapter.clone().unwrap_or_default();
    let gpu = Gpu::open(&GpuOptions::default().with_adapter(choice))?;
    println!("adapter  {} ({})", gpu.info().name, gpu.info().backend);
    println!("driver   {}\n", gpu.info().driver);
    let folder = tempfile::tempdir()?;
    let lut = folder.path().join("identity.cube");
    std::fs::write(&lut, identity_lut())?;

    let kinds = kinds(args, &gpu, &lut)?;
    print_kinds(&kinds, args.size);
    let growth = [
        growth(args, &gpu, "solids with round corners", &json!({}))?,
        growth(
            args,
            &gpu,
            "the same, with a shadow of σ 4",
            &json!({"shadow": {"blur": 4, "offset": [0, 3]}}),
        )?,
    ];
    for growth in &growth {
        growth.print();
    }
    if let Some(json) = json {
        json.write(&Report {
            adapter: gpu.info().name.clone(),
            driver: gpu.info().driver.clone(),
            command: report::command(),
            size: args.size.to_string(),
            kinds,
            growth: growth.into(),
        })?;
    }
    Ok(())
}

/// A scene that takes its turns.
struct Run {
    compositor: Compositor,
    times: Latencies,
}

impl Run {
    fn new(gpu: &Gpu, size: Size, layers: &[Value]) -> Result<Self> {
        let scene = json!({
            "version": 1,
            "canvas": {"width": size.width, "height": size.height, "background": "#203040"},
            "frame_rate": 25,
            "duration": 10,
            "layers": layers,
        });
        let scene = Scene::from_json(&scene.to_string())
            .with_context(|| format!("in the scene of {layers:?}"))?;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        Ok(Self {
            compositor: Compositor::new(gpu, scene, folder)?,
            times: Latencies::new(),
        })
    }

    fn p50_ms(&self) -> f64 {
        self.times.percentiles().p50_ms
    }
}

/// Draws the same frames of every scene, in turn.
fn take_turns(gpu: &Gpu, args: &Args, runs: &mut [Run]) -> Result<()> {
    let renderer = Renderer::new(gpu, RendererOptions::default().with_depth(1))?;
    let rate = FrameRate::new(25, 1).context("25 frames a second")?;
    for number in 0..WARMUP + args.frames {
        let number = u64::from(number);
        let time = rate.time_of(number).context("a frame beyond all times")?;
        let request = FrameRequest::new(number, time, args.size);
        for run in &mut *runs {
            let frame = renderer.submit_now(&mut run.compositor, &request)?.wait()?;
            if number >= u64::from(WARMUP) {
                run.times.record(frame.timings().render_readback());
            }
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Kind {
    name: &'static str,
    drawn_anew_ms: f64,
    at_rest_ms: f64,
    passes: u32,
    draws: u32,
    surface_pixels: u64,
}

fn kinds(args: &Args, gpu: &Gpu, lut: &Path) -> Result<Vec<Kind>> {
    let rows = rows(args.size, lut);
    let mut runs = vec![Run::new(gpu, args.size, &[])?];
    for (_, layers) in &rows {
        runs.push(Run::new(gpu, args.size, &growing(layers))?);
        runs.push(Run::new(gpu, args.size, layers)?);
    }
    take_turns(gpu, args, &mut runs)?;
    let empty_ms = runs[0].p50_ms();
    println!("empty scene: {empty_ms:.2} ms\n");
    let pairs = runs[1..].chunks_exact(2);
    Ok(rows
        .into_iter()
        .zip(pairs)
        .map(|((name, _), pair)| {
            let FrameCost {
                passes,
                draws,
                surface_pixels,
                ..
            } = pair[0].compositor.last_cost();
            Kind {
                name,
                drawn_anew_ms: pair[0].p50_ms() - empty_ms,
                at_rest_ms: pair[1].p50_ms() - empty_ms,
                passes,
                draws,
                surface_pixels,
            }
        })
        .collect())
}

fn print_kinds(kinds: &[Kind], size: Size) {
    let frame_pixels = f64::from(size.width) * f64::from(size.height);
    println!(
        "| layer | drawn anew, ms | ns per pixel | passes | draws | surfaces ÷ frame | at rest, ms |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for kind in kinds {
        println!(
            "| {} | {:.1} | {:.1} | {} | {} | {:.1} | {:.1} |",
            kind.name,
            kind.drawn_anew_ms,
            kind.drawn_anew_ms * 1e6 / frame_pixels,
            kind.passes,
            kind.draws,
            kind.surface_pixels as f64 / frame_pixels,
            kind.at_rest_ms,
        );
    }
    println!();
}

/// The layers, growing from frame to frame.
fn growing(layers: &[Value]) -> Vec<Value> {
    let mut layers = layers.to_vec();
    for layer in &mut layers {
        layer["scale"] = json!({"keyframes": [
            {"time": 0, "value": [1, 1], "easing": "linear"},
            {"time": 10, "value": [1.05, 1.05]},
        ]});
    }
    layers
}

fn rows(size: Size, lut: &Path) -> Vec<(&'static str, Vec<Value>)> {
    let whole = json!([size.width, size.height]);
    let stops = json!([{"offset": 0, "color": "#ff8040"}, {"offset": 1, "color": "#2040c0"}]);
    let solid = json!({"content": {"solid": {"color": "#c06030"}}});
    let photo = json!({"content": {"image": {"path": "astronaut.png"}}, "fit": {"mode": "cover", "size": whole}});
    let with = |layer: &Value, properties: Value| {
        let mut layer = layer.clone();
        if let (Some(layer), Value::Object(properties)) = (layer.as_object_mut(), properties) {
            layer.extend(properties);
        }
        vec![layer]
    };
    let clip = |layer: &Value, transition: Value| json!({"duration": 20, "transition": transition, "layers": [layer]});
    let sequence = |kind: Value| {
        let transition = json!({"kind": kind, "duration": 19});
        let clips = [clip(&photo, Value::Null), clip(&solid, transition)];
        vec![json!({"content": {"sequence": {"clips": clips}}})]
    };
    let half = json!([f64::from(size.width) / 2.0, f64::from(size.height) / 2.0]);
    let lorem = "The quick brown fox jumps over the lazy dog. ".repeat(12);
    vec![
        ("solid", vec![solid.clone()]),
        (
            "linear gradient",
            vec![json!({"content": {"linear_gradient": {"stops": stops}}})],
        ),
        (
            "radial gradient",
            vec![json!({"content": {"radial_gradient": {"stops": stops}}})],
        ),
        (
            "conic gradient",
            vec![json!({"content": {"conic_gradient": {"stops": stops}}})],
        ),
        (
            "rectangle, round corners, stroke",
            vec![json!({
                "content": {"rectangle": {"fill": "#c06030", "stroke": {"color": "#ffffff", "width": 20}}},
                "corner_radius": 100,
            })],
        ),
        (
            "ellipse",
            vec![json!({"content": {"ellipse": {"fill": "#c06030"}}})],
        ),
        ("image", vec![photo.clone()]),
        ("image, turned by 5°", with(&photo, json!({"rotation": 5}))),
        (
            "image, tilted by 30°",
            with(&photo, json!({"tilt": {"y": 30}})),
        ),
        (
            "text, 540 characters",
            vec![json!({"content": {"text": {
                "text": lorem, "size": 60, "width": size.width,
            }}})],
        ),
        (
            "shader, a gradient",
            vec![json!({"content": {"shader": {"source": {
                "wgsl": "fn shade(place: Place) -> vec4<f32> { return vec4<f32>(place.uv, 0.5, 1.0); }",
            }}}})],
        ),
        (
            "group at half opacity",
            vec![json!({"content": {"group": {"layers": [solid]}}, "opacity": 0.5})],
        ),
        (
            "blend: multiply",
            with(&solid, json!({"blend": "multiply"})),
        ),
        (
            "blend: soft light",
            with(&solid, json!({"blend": "soft_light"})),
        ),
        (
            "mask",
            vec![
                with(&solid, json!({"mask": {"layer": "mask"}}))[0].clone(),
                json!({"name": "mask", "hidden": true, "content": {"ellipse": {"fill": "#ffffff"}}}),
            ],
        ),
        (
            "grade",
            with(
                &photo,
                json!({"grade": {"exposure": 0.5, "contrast": 1.2, "saturation": 0.8, "temperature": 5000}}),
            ),
        ),
        (
            "grade, 33³ look-up table",
            with(&photo, json!({"grade": {"lut": {"path": lut}}})),
        ),
        ("blur, σ 2", with(&solid, json!({"blur": 2}))),
        ("blur, σ 8", with(&solid, json!({"blur": 8}))),
        ("blur, σ 32", with(&solid, json!({"blur": 32}))),
        ("blur, σ 128", with(&solid, json!({"blur": 128}))),
        (
            "background blur, σ 16",
            vec![
                photo.clone(),
                json!({"content": {"solid": {"color": "#ffffff40"}}, "background_blur": 16}),
            ],
        ),
        (
            "shadow, σ 16, of half the frame",
            vec![json!({
                "content": {"rectangle": {"size": half, "fill": "#c06030"}},
                "shadow": {"blur": 16, "offset": [0, 12]},
            })],
        ),
        (
            "motion blur, 16 samples",
            with(&solid, json!({"motion_blur": {"samples": 16}})),
        ),
        ("cross-fade", sequence(json!("cross_fade"))),
        ("wipe", sequence(json!({"wipe": {"to": "right"}}))),
    ]
}

/// The frame's time over the number of layers.
#[derive(Serialize)]
struct Growth {
    name: &'static str,
    layers: Vec<usize>,
    p50_ms: Vec<f64>,
    slope_ms_per_layer: f64,
    /// How much of the variation a straight line explains, at most 1.
    r_squared: f64,
}

/// Small layers side by side, all of them growing.
fn growth(args: &Args, gpu: &Gpu, name: &'static str, properties: &Value) -> Result<Growth> {
    let Size { width, height } = args.size;
    let card = |index: usize| {
        let [column, row] = [index % 20, index / 20 % 10].map(|part| part as f64 + 0.5);
        let mut layer = json!({
            "content": {"solid": {"size": [f64::from(width) / 24.0, f64::from(height) / 14.0], "color": "#e0a030"}},
            "position": [column / 20.0 * f64::from(width), row / 10.0 * f64::from(height)],
            "corner_radius": 12,
        });
        if let (Some(layer), Value::Object(properties)) = (layer.as_object_mut(), properties) {
            layer.extend(properties.clone());
        }
        layer
    };
    let mut runs = COUNTS
        .iter()
        .map(|&count| {
            let cards: Vec<_> = (0..count).map(card).collect();
            Run::new(gpu, args.size, &growing(&cards))
        })
        .collect::<Result<Vec<_>>>()?;
    take_turns(gpu, args, &mut runs)?;
    let p50_ms: Vec<_> = runs.iter().map(Run::p50_ms).collect();
    let counts = COUNTS.map(|count| count as f64);
    let (slope_ms_per_layer, r_squared) = line(&counts, &p50_ms);
    Ok(Growth {
        name,
        layers: COUNTS.to_vec(),
        p50_ms,
        slope_ms_per_layer,
        r_squared,
    })
}

impl Growth {
    fn print(&self) {
        let cells = |cells: Vec<String>| cells.join(" | ");
        println!("{}:\n", self.name);
        println!(
            "| layers | {} |",
            cells(self.layers.iter().map(usize::to_string).collect())
        );
        println!("| --- |{}", " --- |".repeat(self.layers.len()));
        println!(
            "| ms | {} |",
            cells(self.p50_ms.iter().map(|ms| format!("{ms:.2}")).collect())
        );
        println!(
            "\n{:.3} ms a layer, R² {:.4}\n",
            self.slope_ms_per_layer, self.r_squared
        );
    }
}

/// The slope of the straight line with the least squares, and its coefficient of determination.
fn line(x: &[f64], y: &[f64]) -> (f64, f64) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(x), mean(y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| {
        x.iter()
            .zip(y)
            .map(|(&x, &y)| f(x - x_mean, y - y_mean))
            .sum::<f64>()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    (xy / xx, xy * xy / (xx * yy))
}

fn identity_lut() -> String {
    const SIDE: u32 = 33;
    let mut lut = format!("LUT_3D_SIZE {SIDE}\n");
    let part = |index: u32| f64::from(index) / f64::from(SIDE - 1);
    for blue in 0..SIDE {
        for green in 0..SIDE {
            for red in 0..SIDE {
                lut += &format!("{:.6} {:.6} {:.6}\n", part(red), part(green), part(blue));
            }
        }
    }
    lut
}

#[derive(Serialize)]
struct Report {
    adapter: String,
    driver: String,
    command: String,
    size: String,
    kinds: Vec<Kind>,
    growth: Vec<Growth>,
}
