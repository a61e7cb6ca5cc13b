//! Layers that a shader of the scene's author draws.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use framefence::Time;
use framefence_compositor::{
    BlendSpace, Color, Compositor, CompositorError, Content, Layer, MAX_SHADER_OPERATIONS, Scene,
    Shader, ShaderProblem, ShaderSource, Uniform,
};
use image::{Rgba, RgbaImage};

use crate::render::{gpu, render, render_at, solid, transparent_scene};

const SIZE: u32 = 16;

fn shader(wgsl: &str, uniforms: &[(&str, Uniform)]) -> Layer {
    Layer::new(Content::Shader(Box::new(Shader {
        size: None,
        source: ShaderSource::Wgsl(wgsl.to_owned()),
        uniforms: uniforms
            .iter()
            .map(|(name, uniform)| ((*name).to_owned(), uniform.clone()))
            .collect(),
    })))
}

fn scene_of(layers: Vec<Layer>) -> Scene {
    transparent_scene(SIZE, SIZE, layers)
}

fn drawn(wgsl: &str) -> RgbaImage {
    render(&scene_of(vec![shader(wgsl, &[])]))
}

#[track_caller]
fn problem(wgsl: &str, uniforms: &[(&str, Uniform)]) -> ShaderProblem {
    let scene = scene_of(vec![shader(wgsl, uniforms)]);
    match Compositor::new(gpu(), scene, "") {
        Err(CompositorError::Shader { place, source }) => {
            assert_eq!(place, "layers[0].content.shader.source");
            source.problem
        }
        other => panic!("{other:?}"),
    }
}

const WHITE: &str = "fn shade(place: Place) -> vec4<f32> { return vec4<f32>(1.0); }";

#[test]
fn colours_are_what_the_function_returns() {
    let wgsl = "
        fn shade(place: Place) -> vec4<f32> {
            let is_right = place.position.x > 0.5 * place.size.x;
            let blue = select(0.0, 1.0, is_right);
            return vec4<f32>(place.uv, blue, uniforms.tint.a) * uniforms.light + uniforms.more.xyxy * 0.0;
        }";
    let uniforms = [
        ("light", Uniform::Number(1.0.into())),
        ("more", Uniform::Pair([1.0, 2.0].into())),
        ("tint", Uniform::Color(Color::rgba(1, 2, 3, 255).into())),
    ];
    let image = render(&scene_of(vec![shader(wgsl, &uniforms)]));
    for (x, y, pixel) in image.enumerate_pixels() {
        let part = |at: u32| ((f64::from(at) + 0.5) / f64::from(SIZE) * 255.0).round() as u8;
        let expected = [part(x), part(y), if x < SIZE / 2 { 0 } else { 255 }, 255];
        let apart = pixel.0.iter().zip(expected).map(|(a, b)| a.abs_diff(b));
        // Dithered: a value between two code values may become either.
        assert!(apart.max() <= Some(1), "{x},{y}: {pixel:?}, {expected:?}");
    }
}

#[test]
fn time_is_counted_from_the_in_point() {
    let wgsl = "
        fn shade(place: Place) -> vec4<f32> {
            return vec4<f32>(place.time, place.pixel, 0.0, 1.0);
        }";
    let mut layer = shader(wgsl, &[]);
    layer.in_point = Time::from_ratio(1, 5);
    layer.scale = [2.0, 2.0].into();
    let image = render_at(
        &scene_of(vec![layer]),
        Path::new(""),
        Time::from_ratio(4, 5),
    );
    let [red, green, ..] = image.get_pixel(3, 3).0;
    assert_eq!(red, 153);
    assert!((127..=128).contains(&green), "{green}");
}

#[test]
fn what_is_no_colour_is_cut_off_and_what_is_no_number_is_zero() {
    let wgsl = "
        fn shade(place: Place) -> vec4<f32> {
            let nothing = place.time;
            return vec4<f32>(nothing / nothing, 7.0, -1.0, 1.0 / nothing);
        }";
    assert_eq!(drawn(wgsl).get_pixel(5, 5).0, [0, 255, 0, 255]);
}

#[test]
fn light_is_mixed_as_light() {
    let wgsl = "
        fn shade(place: Place) -> vec4<f32> {
            return vec4<f32>(1.0, 1.0, 1.0, 0.5);
        }";
    let mut scene = scene_of(vec![solid(16.0, 16.0, Color::BLACK), shader(wgsl, &[])]);
    scene.blend_space = BlendSpace::Linear;
    // Half of the light is 187.5 when it is encoded.
    let [red, ..] = render(&scene).get_pixel(5, 5).0;
    assert!((187..=188).contains(&red), "{red}");
}

#[test]
fn names_of_ours_are_the_authors_to_use() {
    let wgsl = "
        struct Layer { coverage: f32 }
        const paint: f32 = 0.25;
        var<private> layer: Layer;
        fn coverage(place: Place) -> f32 { return layer.coverage; }
        fn fragment() -> f32 { return paint; }
        fn begin() { layer.coverage = 0.5; }
        fn decode(draw: f32) -> f32 { return draw; }
        fn shade(place: Place) -> vec4<f32> {
            begin();
            return vec4<f32>(decode(coverage(place)), fragment() * 4.0, 0.0, 1.0);
        }";
    let [red, ..] = drawn(wgsl).get_pixel(0, 0).0;
    assert!((127..=128).contains(&red));
}

#[test]
fn loops_without_end_are_ended() {
    let endless = "
        var<private> count: u32;
        fn spin() -> u32 {
            loop {
                for (var index = 0u; true; index++) {
                    count += 1u;
                }
            }
            return 7u;
        }
        fn shade(place: Place) -> vec4<f32> {
            let first = spin();
            let second = spin();
            return vec4<f32>(f32(first + second), 1.0, f32(count > 1000u), 1.0);
        }";
    assert_eq!(drawn(endless).get_pixel(7, 7).0, [0, 255, 255, 255]);
    let in_shade = "
        fn shade(place: Place) -> vec4<f32> {
            while true {}
            return vec4<f32>(1.0);
        }";
    assert_eq!(drawn(in_shade).get_pixel(7, 7), &Rgba([0; 4]));
    let between_rounds = "
        var<private> count: u32;
        fn shade(place: Place) -> vec4<f32> {
            loop {
                continuing {
                    while true { count += 1u; }
                }
            }
            return vec4<f32>(1.0);
        }";
    assert_eq!(drawn(between_rounds).get_pixel(7, 7), &Rgba([0; 4]));
    // The device is still there.
    assert_eq!(drawn(WHITE).get_pixel(7, 7).0, [255; 4]);
}

#[test]
fn loops_that_end_are_left_alone() {
    let wgsl = "
        fn shade(place: Place) -> vec4<f32> {
            var sum = 0.0;
            for (var x = 0; x < 50; x++) {
                for (var y = 0; y < 50; y++) {
                    sum += 0.0004;
                }
            }
            return vec4<f32>(sum, 0.0, 0.0, 1.0);
        }";
    assert_eq!(drawn(wgsl).get_pixel(0, 0).0, [255, 0, 0, 255]);
}

#[test]
fn errors_name_the_place_in_the_authors_source() {
    let cases = [
        (
            "\nfn shade(place: Place) -> vec4<f32> {\n  return colour;\n}",
            3,
            10,
        ),
        (
            "fn shade(place: Place) -> vec4<f32> {\n  return 1.0;\n}",
            2,
            10,
        ),
        ("/* ä */ fn shade(", 1, 18),
        ("struct Place { x: f32 }", 1, 8),
        ("fn a() { b(); }\nfn b() { a(); }", 2, 4),
    ];
    for (wgsl, at_line, at_column) in cases {
        match problem(wgsl, &[]) {
            ShaderProblem::Invalid {
                line,
                column,
                message,
            } => {
                assert_eq!((line, column), (at_line, at_column), "{wgsl}: {message}");
                assert!(!message.is_empty());
            }
            other => panic!("{wgsl}: {other}"),
        }
    }
}

#[test]
fn only_colours_can_be_found() {
    let with = |line: &str| format!("{line}\n{WHITE}");
    let unavailable = [
        (with("@fragment fn main() { let a = 1; }"), "an entry point"),
        (with("override a: f32 = 1.0;"), "an override"),
        (
            with("@group(0) @binding(0) var a: texture_2d<f32>;"),
            "a binding or shared memory",
        ),
        (with("var<workgroup> a: f32;"), "a binding or shared memory"),
        (
            with("fn a(b: f32) -> f32 { return fwidth(b); }"),
            "a derivative",
        ),
        (
            with("fn a(b: f32) -> f32 { return modf(b).fract; }"),
            "`modf`",
        ),
        (
            with("fn a(b: f32) -> f32 { return frexp(b).fract; }"),
            "`frexp`",
        ),
        (
            with(
                "fn a(b: ptr<function, f32>) {} fn c() { var d: array<f32, 2>; loop { a(&d[1]); } }",
            ),
            "a pointer to a part of a variable, as an argument,",
        ),
    ];
    for (wgsl, expected) in unavailable {
        match problem(&wgsl, &[]) {
            ShaderProblem::Unavailable { line: 1, what, .. } => assert_eq!(what, expected),
            other => panic!("{wgsl}: {other}"),
        }
    }
    for wgsl in [
        "",
        "fn shade() -> vec4<f32> { return vec4<f32>(); }",
        "fn shade(place: Place) -> vec3<f32> { return vec3<f32>(); }",
        "fn shade(place: vec2<f32>) -> vec4<f32> { return vec4<f32>(); }",
    ] {
        assert!(
            matches!(problem(wgsl, &[]), ShaderProblem::NoShade),
            "{wgsl}"
        );
    }
    let barrier = "fn shade(place: Place) -> vec4<f32> { workgroupBarrier(); return vec4<f32>(); }";
    assert!(matches!(
        problem(barrier, &[]),
        ShaderProblem::NotCompiled { .. }
    ));
    let large = with("fn a() -> f32 { var b: array<f32, 100000>; return b[0]; }");
    match problem(&large, &[]) {
        ShaderProblem::TypeTooLarge {
            line: 1,
            type_bytes,
            ..
        } => assert_eq!(type_bytes, 400_000),
        other => panic!("{other}"),
    }
}

#[test]
fn a_shader_that_compilers_would_blow_up_on_is_refused() {
    let mut wgsl = "fn twice0(a: f32) -> f32 { return a + 1.0; }\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        let _ = writeln!(
            wgsl,
            "fn twice{level}(a: f32) -> f32 {{ return twice{below}(twice{below}(a)); }}"
        );
    }
    wgsl += "fn shade(place: Place) -> vec4<f32> { return vec4<f32>(twice39(1.0)); }";
    match problem(&wgsl, &[]) {
        ShaderProblem::TooManyOperations { operations } => {
            assert!(operations > MAX_SHADER_OPERATIONS);
        }
        other => panic!("{other}"),
    }
    let copies = "
        var<private> large: array<vec4<f32>, 64>;
        fn shade(place: Place) -> vec4<f32> {
            var first = large;
            var second = first;
            COPIES
            return second[3];
        }"
    .replace("COPIES", &"first = second; second = first;".repeat(100));
    assert!(matches!(
        problem(&copies, &[]),
        ShaderProblem::TooManyOperations { .. }
    ));
    let deep = format!(
        "fn shade(place: Place) -> vec4<f32> {{ return vec4<f32>({}1.0{}); }}",
        "(".repeat(50_000),
        ")".repeat(50_000)
    );
    assert!(matches!(problem(&deep, &[]), ShaderProblem::Invalid { .. }));
    let long = format!("{WHITE}{}", " ".repeat(1 << 20));
    assert!(matches!(problem(&long, &[]), ShaderProblem::TooLong { .. }));
}

#[test]
fn nesting_as_deep_as_the_compiler_allows_is_drawn_on_a_small_stack() {
    let brackets = 100;
    let wgsl = format!(
        "fn shade(place: Place) -> vec4<f32> {{ return vec4<f32>({}place.uv.x{}, 0.0, 0.0, 1.0); }}",
        "abs(".repeat(brackets),
        ")".repeat(brackets)
    );
    let draw = move || drawn(&wgsl).get_pixel(8, 0).0;
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(draw);
    let [red, ..] = thread.unwrap().join().unwrap();
    assert!((135..=136).contains(&red));
}

#[test]
fn uniforms_have_names_of_the_language() {
    for name in ["", "a b", "fn", "a: f32, b", "1a", "ä", "_"] {
        match problem(WHITE, &[(name, Uniform::Number(1.0.into()))]) {
            ShaderProblem::UniformName { name: refused } => assert_eq!(refused, name),
            other => panic!("{name:?}: {other}"),
        }
    }
    let many: Vec<_> = (0..65).map(|index| format!("a{index}")).collect();
    let many: Vec<_> = many
        .iter()
        .map(|name| (name.as_str(), Uniform::Number(1.0.into())))
        .collect();
    let scene = scene_of(vec![shader(WHITE, &many)]);
    assert!(
        scene
            .validate()
            .unwrap_err()
            .path
            .ends_with("shader.uniforms")
    );
}

#[test]
fn a_file_is_named_with_what_is_wrong_in_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("waves.wgsl"), "fn shade(\n").unwrap();
    for (file, expected) in [
        ("waves.wgsl", "line 2, column 1: "),
        ("missing.wgsl", "it cannot be read"),
        ("", "it is a folder, a pipe or a device, not a file"),
    ] {
        let mut layer = shader("", &[]);
        if let Content::Shader(shader) = &mut layer.content {
            shader.source = ShaderSource::Path(folder.path().join(file));
        }
        let error = Compositor::new(gpu(), scene_of(vec![layer]), "").unwrap_err();
        let file_error = error.source().unwrap();
        assert!(file_error.to_string().starts_with("cannot use the shader"));
        let problem = file_error.source().unwrap().to_string();
        assert!(problem.starts_with(expected), "{problem}");
    }
}

#[test]
fn another_scene_draws_another_shader() {
    let black = WHITE.replace("(1.0)", "(0.0, 0.0, 0.0, 1.0)");
    let mut compositor = Compositor::new(gpu(), scene_of(vec![shader(WHITE, &[])]), "").unwrap();
    let mut draw = |wgsl: &str| {
        compositor
            .set_scene(gpu(), scene_of(vec![shader(wgsl, &[])]))
            .unwrap();
        let size = framefence::Size::new(SIZE, SIZE);
        let region = framefence::Region::whole(size);
        let image = crate::render::render_region(&mut compositor, size, region, Time::ZERO);
        image.get_pixel(4, 4).0
    };
    assert_eq!(draw(&black), [0, 0, 0, 255]);
    assert_eq!(draw(WHITE), [255; 4]);
    assert_eq!(draw(&black), [0, 0, 0, 255]);
}
