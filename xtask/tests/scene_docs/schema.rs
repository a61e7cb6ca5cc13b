//! `docs/scene.schema.json`.

use std::collections::BTreeSet;
use std::fs;

use framefence_compositor::{Scene, SceneError};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{files, in_repository, read, scenes};

/// `FRAMEFENCE_BLESS=1` writes it anew.
#[test]
fn the_schema_is_that_of_the_types() {
    let path = in_repository("docs/scene.schema.json");
    let schema = Scene::json_schema();
    if std::env::var_os("FRAMEFENCE_BLESS").is_some() {
        fs::write(&path, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
    }
    let stored: Value = serde_json::from_str(&read(&path)).unwrap();
    assert!(
        stored == schema,
        "the types have changed: FRAMEFENCE_BLESS=1 cargo test -p xtask writes {} anew",
        path.display()
    );
}

#[test]
fn the_schema_is_one_of_draft_2020_12() {
    let schema = Scene::json_schema();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert!(jsonschema::meta::is_valid(&schema));
}

#[test]
fn scenes_are_accepted() {
    let validator = validator();
    for path in scenes() {
        let text = read(&path);
        let wrong: Vec<_> = validator
            .iter_errors(&serde_json::from_str(&text).unwrap())
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", path.display());
        if let Err(error) = Scene::from_json(&text) {
            panic!("{}: {error}", path.display());
        }
    }
}

/// Each is a scene but for one value.
#[test]
fn wrong_scenes_are_refused_by_both() {
    let layer = |fields: Value| {
        let mut layer = json!({"content": {"solid": {"color": "#ffffff"}}});
        merge(&mut layer, fields);
        json!({"layers": [layer]})
    };
    let content = |content: Value| json!({"layers": [{"content": content}]});
    let text = |fields: Value| {
        let mut text = json!({"text": "a", "size": 10});
        merge(&mut text, fields);
        content(json!({"text": text}))
    };
    let stops = json!([{"offset": 0, "color": "#000000"}, {"offset": 1, "color": "#ffffff"}]);
    let validator = validator();
    for (wrong, change) in [
        ("unknown field", json!({"fps": 25})),
        ("unknown field of a layer", layer(json!({"colour": 1}))),
        (
            "unknown field of a content",
            content(json!({"solid": {"color": "#ffffff", "radius": 1}})),
        ),
        ("unknown content", content(json!({"video": {}}))),
        (
            "two contents",
            content(json!({
                "solid": {"color": "#ffffff"},
                "ellipse": {}
            })),
        ),
        ("no content", json!({"layers": [{"name": "a"}]})),
        ("no colour", content(json!({"solid": {}}))),
        ("no path", content(json!({"image": {}}))),
        ("empty path", content(json!({"image": {"path": ""}}))),
        ("no size", content(json!({"text": {"text": "a"}}))),
        ("no duration", json!({"duration": null})),
        ("another version", json!({"version": 2})),
        ("no frame rate", json!({"frame_rate": 0})),
        ("decimal frame rate", json!({"frame_rate": 29.97})),
        ("no ratio", json!({"frame_rate": "25/0"})),
        ("negative time", layer(json!({"in_point": -1}))),
        ("no time", layer(json!({"in_point": "soon"}))),
        ("no scene at all", json!({"duration": 0})),
        ("no canvas", json!({"canvas": {"width": 0}})),
        ("half a pixel", json!({"canvas": {"width": 1.5}})),
        (
            "a name for a colour",
            json!({"canvas": {"background": "red"}}),
        ),
        ("a short colour", json!({"canvas": {"background": "#fff"}})),
        ("text for a number", layer(json!({"opacity": "1"}))),
        ("beyond its range", layer(json!({"opacity": 1.1}))),
        ("one number of two", layer(json!({"position": [1]}))),
        ("three numbers", layer(json!({"scale": [1, 1, 1]}))),
        ("a number for two", layer(json!({"anchor": 0.5}))),
        ("no keyframes", layer(json!({"blur": {"keyframes": []}}))),
        (
            "a keyframe without a value",
            layer(json!({"blur": {"keyframes": [{"time": 0}]}})),
        ),
        (
            "keyframes and more",
            layer(json!({"blur": {"keyframes": [{"time": 0, "value": 0}], "loop": true}})),
        ),
        (
            "unknown easing",
            layer(json!({"blur": {"keyframes": [{"time": 0, "value": 0, "easing": "bounce"}]}})),
        ),
        (
            "a curve that goes back in time",
            layer(json!({"blur": {"keyframes": [
                {"time": 0, "value": 0, "easing": {"cubic_bezier": [1.2, 0, 0, 0]}}
            ]}})),
        ),
        (
            "a spring without mass",
            layer(json!({"blur": {"keyframes": [
                {"time": 0, "value": 0, "easing": {"spring": {"mass": 0}}}
            ]}})),
        ),
        ("unknown blend mode", layer(json!({"blend": "glow"}))),
        ("unknown fit", layer(json!({"fit": {"mode": "stretch"}}))),
        ("no fit mode", layer(json!({"fit": {"size": [1, 1]}}))),
        ("a nameless mask", layer(json!({"mask": {"layer": ""}}))),
        (
            "too many samples",
            layer(json!({"motion_blur": {"samples": 65}})),
        ),
        (
            "one stop",
            content(json!({"radial_gradient": {"stops": [stops[0]]}})),
        ),
        (
            "a box without width",
            content(json!({"conic_gradient": {"stops": stops, "size": [0, 1]}})),
        ),
        ("too bold", text(json!({"weight": 901}))),
        ("unknown alignment", text(json!({"align": "middle"}))),
        ("a number for a font", text(json!({"font": 3}))),
        ("a nameless font", text(json!({"font": " "}))),
        (
            "another file of a font",
            text(json!({"font": {"file": "a.ttf"}})),
        ),
        (
            "half of a word's time",
            text(json!({"highlight": {"words": [[1]]}})),
        ),
        (
            "a shader without source",
            content(json!({"shader": {"size": [1, 1]}})),
        ),
        (
            "a uniform of no kind",
            content(json!({"shader": {"source": {"wgsl": ""}, "uniforms": {"a": 1}}})),
        ),
        ("no clips", content(json!({"sequence": {"clips": []}}))),
        (
            "unknown field of a transition",
            content(json!({"sequence": {"clips": [
                {"duration": 1, "layers": []},
                {"duration": 1, "layers": [], "transition": {
                    "kind": {"wipe": {"to": "left", "soft": 1}}, "duration": 1
                }}
            ]}})),
        ),
        (
            "a clip without end",
            content(json!({"sequence": {"clips": [{"layers": []}]}})),
        ),
    ] {
        let mut scene = json!({
            "version": 1,
            "canvas": {"width": 32, "height": 18},
            "frame_rate": 25,
            "duration": 1
        });
        assert!(accepts_both(&validator, &scene));
        merge(&mut scene, change);
        assert!(!validator.is_valid(&scene), "{wrong}: {scene}");
        assert!(Scene::from_json(&scene.to_string()).is_err(), "{wrong}");
    }
}

/// Sets a number of each kind to one value after the other: the schema's ranges are those that
/// scenes are validated for.
#[test]
fn the_ranges_are_those_of_the_validation() {
    const VALUES: &[f64] = &[
        -1e10,
        -1e9,
        -1e6,
        -1e4,
        -1e3,
        -501.0,
        -500.0,
        -101.0,
        -100.0,
        -17.0,
        -16.0,
        -1.0,
        -0.1,
        0.0,
        1e-4,
        1e-3,
        0.5,
        1.0,
        1.5,
        2.0,
        10.0,
        10.5,
        16.5,
        64.0,
        65.0,
        100.0,
        100.5,
        360.0,
        361.0,
        500.5,
        900.0,
        901.0,
        1e3,
        1001.0,
        3999.0,
        4e3,
        1e4,
        10_001.0,
        25e3,
        25_001.0,
        65_536.0,
        65_537.0,
        1e6,
        1_000_001.0,
        1e9,
        1e10,
    ];
    let validator = validator();
    let mut seen = BTreeSet::new();
    for path in files("docs/scenes", "json") {
        let scene: Value = serde_json::from_str(&read(&path)).unwrap();
        for number in numbers(&scene) {
            if !seen.insert(kind(&number)) {
                continue;
            }
            for &value in VALUES {
                let mut changed = scene.clone();
                *changed.pointer_mut(&number).unwrap() = match value.fract() == 0.0 {
                    true => json!(value as i64),
                    false => json!(value),
                };
                let read = Scene::from_json(&changed.to_string());
                let accepted = validator.is_valid(&changed);
                let agree = match &read {
                    Ok(_) => accepted,
                    Err(error) => !accepted || depends_on_others(error),
                };
                assert!(
                    agree,
                    "{number} of {} set to {value}: the schema accepts it: {accepted}; {read:?}",
                    path.display()
                );
            }
        }
    }
}

/// A JSON pointer from the last list of layers on, whichever entries of lists it leads through.
fn kind(pointer: &str) -> String {
    let from_layer = pointer.rfind("/layers/").unwrap_or(0);
    let segments = pointer[from_layer..].split('/').map(|segment| {
        let is_index = segment.bytes().all(|byte| byte.is_ascii_digit());
        if is_index { "" } else { segment }
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Whether a value is wrong only with what stands around it, of which a schema knows nothing.
fn depends_on_others(error: &SceneError) -> bool {
    let SceneError::Invalid(invalid) = error else {
        return false;
    };
    [
        "later than ",
        "not before ",
        "which is what the clips before and after it have for it",
    ]
    .iter()
    .any(|rule| invalid.allowed.contains(rule))
}

/// The JSON pointers of all numbers in `value`.
fn numbers(value: &Value) -> Vec<String> {
    fn visit(value: &Value, pointer: &str, found: &mut Vec<String>) {
        match value {
            Value::Number(_) => found.push(pointer.to_owned()),
            Value::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    visit(value, &format!("{pointer}/{index}"), found);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    visit(value, &format!("{pointer}/{name}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    visit(value, "", &mut found);
    found
}

fn validator() -> Validator {
    jsonschema::validator_for(&Scene::json_schema()).unwrap()
}

fn accepts_both(validator: &Validator, scene: &Value) -> bool {
    validator.is_valid(scene) && Scene::from_json(&scene.to_string()).is_ok()
}

/// Puts the fields of one object into another, object by object; null takes a field away.
fn merge(into: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else {
        *into = fields;
        return;
    };
    for (name, value) in fields {
        match value {
            Value::Null => {
                into.as_object_mut().unwrap().remove(&name);
            }
            value => merge(&mut into[name], value),
        }
    }
}
