//! `docs/scene.md`, its scenes and its pictures.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use framefence_compositor::{
    LUT_1D_SIZES, LUT_3D_SIZES, MAX_ANIMATION_FRAMES, MAX_BLUR, MAX_CANVAS_SIDE, MAX_DECODED_BYTES,
    MAX_DURATION_SECONDS, MAX_FONT_FAMILIES, MAX_GRADIENT_STOPS, MAX_GROUP_DEPTH,
    MAX_LAYERS_IN_FRAME, MAX_LUT_FILE_BYTES, MAX_MASK_CHAIN, MAX_MOTION_SAMPLES,
    MAX_OPERATIONS_IN_LOOPS, MAX_SCENE_BYTES, MAX_SHADER_BYTES, MAX_SHADER_OPERATIONS,
    MAX_TEXT_BYTES, MAX_UNIFORMS, MAX_VARIABLE_BYTES, Scene,
};
use serde_json::Value;

use crate::pictures::Pictures;
use crate::{files, in_repository, read};

/// A whole scene is one of those in `docs/scenes`; a piece of one has fields that some object in
/// them has, with the same values.
#[test]
fn every_piece_of_json_is_from_a_scene() {
    let scenes: Vec<Value> = files("docs/scenes", "json")
        .iter()
        .map(|path| serde_json::from_str(&read(path)).unwrap())
        .collect();
    let guide = guide();
    let blocks: Vec<_> = guide
        .split("```json\n")
        .skip(1)
        .map(|rest| rest.split_once("```").unwrap().0)
        .collect();
    assert!(blocks.len() > 30, "the guide shows {} pieces", blocks.len());
    for block in blocks {
        let piece: Value =
            serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}:\n{block}"));
        let found = match piece.get("version") {
            Some(_) => scenes.contains(&piece),
            None => scenes.iter().any(|scene| has_piece(scene, &piece)),
        };
        assert!(found, "no scene in docs/scenes has this:\n{block}");
    }
}

fn has_piece(value: &Value, piece: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            let is_it = piece.as_object().is_some_and(|piece| {
                piece
                    .iter()
                    .all(|(name, value)| fields.get(name) == Some(value))
            });
            is_it || fields.values().any(|value| has_piece(value, piece))
        }
        Value::Array(values) => values.iter().any(|value| has_piece(value, piece)),
        _ => false,
    }
}

#[test]
fn every_scene_has_a_picture_that_is_shown() {
    let guide = guide();
    let scenes = names(&files("docs/scenes", "json"));
    assert_eq!(names(&files("docs/images", "png")), scenes);
    for name in scenes {
        let shown = format!("](images/{name}.png)");
        assert!(guide.contains(&shown), "{name}.png is not shown");
    }
}

#[test]
fn pictures_are_small() {
    const MAX_BYTES: u64 = 3_000_000;
    let bytes: u64 = files("docs/images", "png")
        .iter()
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    assert!(bytes <= MAX_BYTES, "the pictures have {bytes} bytes");
}

/// `cargo xtask docs-images` draws those that are named here anew.
#[test]
fn pictures_show_their_scenes() {
    let pictures = Pictures::open().unwrap();
    let names = pictures.names();
    let compare = |name: &String| pictures.compare(name).unwrap();
    let stale: Vec<_> = names.iter().filter_map(compare).collect();
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn every_field_is_explained_and_shown() {
    let guide = guide();
    let scenes: String = files("docs/scenes", "json")
        .iter()
        .map(|path| read(path))
        .collect();
    let mut names = BTreeSet::new();
    collect_names(&Scene::json_schema(), &mut names);
    assert!(names.len() > 100, "{names:?}");
    let is_unexplained = |name: &&String| {
        let forms = [
            format!("`{name}`"),
            format!("`\"{name}\"`"),
            format!("`{{\"{name}\""),
        ];
        !forms.iter().any(|form| guide.contains(form))
    };
    let unexplained: Vec<_> = names.iter().filter(is_unexplained).collect();
    assert!(unexplained.is_empty(), "not explained: {unexplained:?}");
    let is_unseen = |name: &&String| !scenes.contains(&format!("\"{name}\""));
    let unseen: Vec<_> = names.iter().filter(is_unseen).collect();
    assert!(unseen.is_empty(), "not shown: {unseen:?}");
}

/// The names of fields and the words that may be values.
fn collect_names(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                names.extend(properties.keys().cloned());
            }
            let words = fields.get("enum").and_then(Value::as_array);
            let words = words.into_iter().flatten().chain(fields.get("const"));
            names.extend(words.filter_map(Value::as_str).map(str::to_owned));
            for value in fields.values() {
                collect_names(value, names);
            }
        }
        Value::Array(values) => {
            for value in values {
                collect_names(value, names);
            }
        }
        _ => {}
    }
}

#[test]
fn the_limits_are_those_of_the_code() {
    let guide = guide();
    let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
    let kibibytes = |bytes: u64| format!("{} KiB", bytes >> 10);
    let grouped = |number: u64| {
        let digits = number.to_string();
        let groups = digits.as_bytes().rchunks(3).rev();
        let groups: Vec<_> = groups.map(|group| str::from_utf8(group).unwrap()).collect();
        groups.join(",")
    };
    for (what, most) in [
        ("a scene file", mebibytes(MAX_SCENE_BYTES)),
        (
            "a canvas",
            grouped(MAX_CANVAS_SIDE.into()) + " pixels a side",
        ),
        ("a time", grouped(MAX_DURATION_SECONDS as u64) + " s"),
        (
            "groups and sequences that a layer lies in",
            MAX_GROUP_DEPTH.to_string(),
        ),
        (
            "layers seen in a frame, masks and the moments of motion blurs counted",
            grouped(MAX_LAYERS_IN_FRAME.into()),
        ),
        ("masks in turn", MAX_MASK_CHAIN.to_string()),
        ("stops of a gradient", MAX_GRADIENT_STOPS.to_string()),
        ("moments of a motion blur", MAX_MOTION_SAMPLES.to_string()),
        (
            "the standard deviation of a blur",
            format!("{MAX_BLUR} pixels"),
        ),
        (
            "a text",
            format!(
                "{} of UTF-8, {MAX_FONT_FAMILIES} fonts",
                mebibytes(MAX_TEXT_BYTES as u64)
            ),
        ),
        (
            "an image, or all frames of an animated one, decoded",
            mebibytes(MAX_DECODED_BYTES),
        ),
        (
            "frames of an animated image",
            grouped(MAX_ANIMATION_FRAMES as u64),
        ),
        (
            "a `.cube` file",
            format!(
                "{}; {} entries in one dimension, {} a side in three",
                mebibytes(MAX_LUT_FILE_BYTES),
                grouped((*LUT_1D_SIZES.end()).into()),
                LUT_3D_SIZES.end()
            ),
        ),
        (
            "a shader",
            format!(
                "{} of source, {MAX_UNIFORMS} uniforms, variables of {}",
                kibibytes(MAX_SHADER_BYTES),
                kibibytes(MAX_VARIABLE_BYTES.into())
            ),
        ),
        (
            "operations of a shader, loops counted once",
            grouped(MAX_SHADER_OPERATIONS),
        ),
        (
            "operations of a shader in loops, for a pixel",
            grouped(MAX_OPERATIONS_IN_LOOPS.into())
                + "; a function that would do more returns zero",
        ),
    ] {
        let row = format!("| {what} | {most} |");
        assert!(guide.contains(&row), "the guide's table lacks {row}");
    }
}

#[test]
fn links_lead_somewhere() {
    let guide = guide();
    let headings: BTreeSet<String> = guide
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .collect();
    for link in guide.split("](").skip(1) {
        let target = link.split_once(')').unwrap().0;
        let leads = match target.strip_prefix('#') {
            Some(heading) => headings.contains(heading),
            None => target.starts_with("https://") || in_repository("docs").join(target).exists(),
        };
        assert!(leads, "{target}");
    }
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ => character
                .is_alphanumeric()
                .then(|| character.to_ascii_lowercase()),
        })
        .collect()
}

fn guide() -> String {
    read(&in_repository("docs/scene.md"))
}

fn names(paths: &[impl AsRef<Path>]) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.as_ref().file_stem().unwrap())
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}
