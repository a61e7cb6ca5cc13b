//! Every shader in the repository is valid WGSL.

use std::fs;
use std::path::Path;

use naga::valid::{Capabilities, ValidationFlags, Validator};

/// What stands in for the function of a scene's author.
const AUTHOR: &str = "
    struct Paint { draw: Custom }
    fn begin() {}
    struct author_Place {
        position: vec2<f32>, uv: vec2<f32>, size: vec2<f32>, pixel: f32, time: f32
    }
    fn author_shade(place: author_Place) -> vec4<f32> { return vec4<f32>(place.pixel); }
";

#[test]
fn every_shader_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shaders");
    let shared = |name| fs::read_to_string(folder.join(name)).unwrap();
    let (layer, surface) = (shared("layer.wgsl"), shared("surface.wgsl"));
    let mut validated = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let own = fs::read_to_string(&path).unwrap();
        let source = if name == "layer_custom.wgsl" {
            AUTHOR.to_owned() + &layer + &own
        } else if name.starts_with("layer_") {
            layer.clone() + &own
        } else if name.starts_with("effect_") {
            surface.clone() + &own
        } else {
            own
        };
        let module = naga::front::wgsl::parse_str(&source)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(&source, &name)));
        Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(&source, &name)));
        validated += 1;
    }
    assert!(validated >= 4, "only {validated} shaders found");
}
