//! What is not a scene is refused with its place, what was given, and what is allowed.

use std::fs;

use framefence::{FrameRate, Time};
use framefence_compositor::{
    Animated, Color, Content, Easing, Keyframe, Layer, LoadSceneError, MAX_SCENE_BYTES, Scene,
    SceneError, Solid,
};

/// The messages of an error and its sources, as a program prints them.
pub(crate) fn message(error: impl std::error::Error + Send + Sync + 'static) -> String {
    format!("{:#}", anyhow::Error::new(error))
}

/// A scene whose one layer has the given properties.
fn with_layer(properties: &str) -> String {
    format!(
        r##"{{"version": 1, "canvas": {{"width": 8, "height": 8}}, "frame_rate": 25, "duration": 1,
            "layers": [{{"content": {{"solid": {{"color": "#ff0000"}}}}, {properties}}}]}}"##
    )
}

/// A scene whose one layer has the given content.
fn with_content(content: &str) -> String {
    format!(
        r#"{{"version": 1, "canvas": {{"width": 8, "height": 8}}, "frame_rate": 25, "duration": 1,
            "layers": [{{"content": {content}}}]}}"#
    )
}

fn with_canvas(canvas: &str) -> String {
    format!(r#"{{"version": 1, "canvas": {canvas}, "frame_rate": 25, "duration": 1}}"#)
}

fn with_timing(timing: &str) -> String {
    format!(r#"{{"version": 1, "canvas": {{"width": 8, "height": 8}}, {timing}}}"#)
}

#[track_caller]
fn assert_refused(json: &str, expected: &str) {
    let error = Scene::from_json(json).expect_err(json);
    let message = message(error);
    assert!(
        message.starts_with(expected),
        "{json}\n    gave: {message}\nexpected: {expected}"
    );
}

#[test]
fn a_content_is_of_one_kind() {
    for content in [
        "{}",
        r##"{"solid": {"color": "#ffffff"}, "rectangle": {}}"##,
    ] {
        let text = format!(
            r#"{{"version": 1, "canvas": {{"width": 8, "height": 8}}, "frame_rate": 25, "duration": 1,
            "layers": [{{"content": {content}}}]}}"#
        );
        match Scene::from_json(&text) {
            Err(SceneError::Field { path, source }) => {
                assert_eq!(path, "layers[0].content");
                let said = source.to_string();
                assert!(
                    said.starts_with("expected exactly one kind at line 2"),
                    "{said}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_is_not_json_is_refused_with_its_line() {
    for (json, expected) in [
        (
            "",
            "the scene is not valid JSON: EOF while parsing a value at line 1 column 0",
        ),
        (
            "hello",
            "the scene is not valid JSON: expected value at line 1 column 1",
        ),
        (
            "{\"version\": 1,",
            "the scene is not valid JSON: EOF while parsing",
        ),
        (
            "\u{0}\u{1}PNG",
            "the scene is not valid JSON: expected value at line 1 column 1",
        ),
        (
            &(with_canvas(r#"{"width": 8, "height": 8}"#) + "]"),
            "the scene is not valid JSON: trailing characters at line 1 column",
        ),
        (
            &with_layer("\"opacity\": NaN"),
            "the scene is not valid JSON: expected value at line 2",
        ),
        (
            &with_layer("\"opacity\": Infinity"),
            "the scene is not valid JSON: expected value at line 2",
        ),
    ] {
        assert_refused(json, expected);
    }
}

#[test]
fn what_is_not_a_scene_is_refused_with_its_path() {
    let cases = [
        ("[]".to_owned(), "the scene: "),
        ("3".to_owned(), "the scene: invalid type: integer `3`"),
        ("{}".to_owned(), "the scene: missing field `version`"),
        (
            r#"{"version": 2, "space": "linear"}"#.to_owned(),
            "the scene is of version 2; this program reads version 1",
        ),
        (
            with_timing(r#""frame_rate": 25, "duration": 1, "fps": 25"#),
            "fps: unknown field `fps`, expected one of `$schema`, `version`, `canvas`",
        ),
        (
            with_canvas(r#"{"width": 8, "height": 8, "depth": 8}"#),
            "canvas.depth: unknown field `depth`, expected one of `width`, `height`, `background`",
        ),
        (
            with_layer(r#""opactiy": 1"#),
            "layers[0].opactiy: unknown field `opactiy`, expected one of `name`, `content`",
        ),
        (
            with_layer(r#""opacity": {"keyframes": [{"time": 0, "value": 1, "ease": 1}]}"#),
            "layers[0].opacity.keyframes[0].ease: unknown field `ease`",
        ),
        (
            with_layer(r#""opacity": {"frames": []}"#),
            "layers[0].opacity.frames: unknown field `frames`, expected `keyframes`",
        ),
        (
            with_layer(r#""opacity": "full""#),
            "layers[0].opacity: invalid value: string \"full\", expected a number or {\"keyframes\": [...]}",
        ),
        (
            with_layer(r#""opacity": null"#),
            "layers[0].opacity: invalid type: null, expected a number or {\"keyframes\": [...]}",
        ),
        (
            with_layer(r#""opacity": 1e999"#),
            "layers[0].opacity: number out of range at line 2",
        ),
        (
            with_layer(r#""position": [1, "a"]"#),
            "layers[0].position[1]: invalid type: string \"a\"",
        ),
        (
            with_layer(r#""position": [1]"#),
            "layers[0].position: invalid length 1",
        ),
        (
            with_layer(r#""position": [1, 2, 3]"#),
            "layers[0].position: too many values, expected a pair of numbers [x, y]",
        ),
        (
            with_layer(r#""position": 4"#),
            "layers[0].position: invalid value: integer `4`, expected a pair of numbers [x, y] or {\"keyframes\": [...]}",
        ),
        (
            with_layer(r#""in_point": "soon""#),
            "layers[0].in_point: invalid value: string \"soon\", expected seconds as a number with at most 9 decimals or as a ratio",
        ),
        (
            with_layer(
                r#""rotation": {"keyframes": [{"time": 0, "value": 1, "easing": "bounce"}]}"#,
            ),
            "layers[0].rotation.keyframes[0].easing: unknown variant `bounce`, expected one of `hold`, `linear`",
        ),
        (
            with_layer(
                r#""rotation": {"keyframes": [{"time": 0, "value": 1, "easing": {"cubic_bezier": [0, 0, 1, 1, 1]}}]}"#,
            ),
            "layers[0].rotation.keyframes[0].easing.cubic_bezier: trailing characters at line 2",
        ),
        (
            with_content(r##"{"solid": {"color": "red"}}"##),
            "layers[0].content.solid.color: invalid value: string \"red\", expected a colour such as \"#ff8000\" or \"#ff800080\"",
        ),
        (
            with_content(r##"{"solid": {}}"##),
            "layers[0].content.solid: missing field `color`",
        ),
        (
            with_content(r##"{"video": {}}"##),
            "layers[0].content: unknown variant `video`, expected one of `solid`, `linear_gradient`, `radial_gradient`, `conic_gradient`, `rectangle`, `ellipse`, `image`, `text`, `shader`, `group`, `sequence`",
        ),
        (
            with_canvas(r#"{"width": -8, "height": 8}"#),
            "canvas.width: invalid value: integer `-8`, expected a number of pixels from 1 to 65536",
        ),
        (
            with_canvas(r#"{"width": 8.5, "height": 8}"#),
            "canvas.width: invalid type: floating point `8.5`, expected a number of pixels from 1 to 65536",
        ),
        (
            with_timing(r#""frame_rate": 0, "duration": 1"#),
            "frame_rate: invalid value: integer `0`, expected frames per second as a whole number from 1 up or as a ratio",
        ),
        (
            with_timing(r#""frame_rate": 29.97, "duration": 1"#),
            "frame_rate: invalid type: floating point `29.97`, expected frames per second as a whole number",
        ),
        (
            with_timing(r#""frame_rate": "30/0", "duration": 1"#),
            "frame_rate: invalid value: string \"30/0\"",
        ),
    ];
    for (json, expected) in &cases {
        assert_refused(json, expected);
    }
}

#[test]
fn values_out_of_range_are_refused_with_what_is_allowed() {
    let keyframes = |list: &str| with_layer(&format!(r#""opacity": {{"keyframes": [{list}]}}"#));
    let cases = [
        (
            with_canvas(r#"{"width": 0, "height": 8}"#),
            "canvas.width is 0; it must be a number of pixels from 1 to 65536",
        ),
        (
            with_canvas(r#"{"width": 8, "height": 65537}"#),
            "canvas.height is 65537; it must be a number of pixels from 1 to 65536",
        ),
        (
            with_timing(r#""frame_rate": 25, "duration": 0"#),
            "duration is 0 s; it must be more than 0 and at most 1000000 s",
        ),
        (
            with_timing(r#""frame_rate": 25, "duration": -1"#),
            "duration is -1 s; it must be more than 0 and at most 1000000 s",
        ),
        (
            with_timing(r#""frame_rate": 25, "duration": 1000000.5"#),
            "duration is 2000001/2 s; it must be",
        ),
        (
            with_layer(r#""opacity": -0.5"#),
            "layers[0].opacity is -0.5; it must be a number from 0 to 1",
        ),
        (
            with_layer(r#""scale": [1, 10001]"#),
            "layers[0].scale[1] is 10001; it must be a number from -10000 to 10000",
        ),
        (
            with_layer(r#""position": [1e7, 0]"#),
            "layers[0].position[0] is 10000000; it must be a number from -1000000 to 1000000",
        ),
        (
            with_layer(r#""in_point": -1"#),
            "layers[0].in_point is -1 s; it must be from 0 to 1000000 s",
        ),
        (
            with_layer(r#""in_point": 2, "out_point": 2"#),
            "layers[0].out_point is 2 s; it must be later than in_point, which is 2 s",
        ),
        (
            keyframes(""),
            "layers[0].opacity.keyframes is empty; it must be a list of at least one keyframe",
        ),
        (
            keyframes(r#"{"time": 1, "value": 1}, {"time": 1, "value": 0}"#),
            "layers[0].opacity.keyframes[1].time is 1 s; it must be later than the keyframe before it, which is at 1 s",
        ),
        (
            keyframes(r#"{"time": 1, "value": 2}"#),
            "layers[0].opacity.keyframes[0].value is 2; it must be a number from 0 to 1",
        ),
        (
            keyframes(r#"{"time": 1, "value": 1, "easing": {"cubic_bezier": [0, 0, 1.5, 1]}}"#),
            "layers[0].opacity.keyframes[0].easing.cubic_bezier[2] is 1.5; it must be a number from 0 to 1",
        ),
        (
            keyframes(r#"{"time": 1, "value": 1, "easing": {"spring": {"mass": 0}}}"#),
            "layers[0].opacity.keyframes[0].easing.spring.mass is 0; it must be a number from 0.001 to 1000",
        ),
        (
            keyframes(r#"{"time": 1, "value": 1, "easing": {"spring": {"stiffness": 1e7}}}"#),
            "layers[0].opacity.keyframes[0].easing.spring.stiffness is 10000000; it must be a number from 0.001 to 1000000",
        ),
        (
            keyframes(r#"{"time": 1, "value": 1, "easing": {"spring": {"damping": -1}}}"#),
            "layers[0].opacity.keyframes[0].easing.spring.damping is -1; it must be a number from 0 to 1000000",
        ),
        (
            keyframes(r#"{"time": 1, "value": 1, "easing": {"spring": {"velocity": 101}}}"#),
            "layers[0].opacity.keyframes[0].easing.spring.velocity is 101; it must be a number from -100 to 100",
        ),
        (
            with_content(r##"{"solid": {"color": "#ff0000", "size": [0, 1]}}"##),
            "layers[0].content.solid.size[0] is 0; it must be a number above 0 to 1000000",
        ),
        (
            with_content(
                r##"{"linear_gradient": {"stops": [{"offset": 0, "color": "#ff0000"}]}}"##,
            ),
            "layers[0].content.linear_gradient.stops is a list of 1; it must be a list of 2 to 16 stops",
        ),
        (
            with_content(
                r##"{"linear_gradient": {"stops": [{"offset": 0, "color": "#ff0000"}, {"offset": 1.1, "color": "#ff0000"}]}}"##,
            ),
            "layers[0].content.linear_gradient.stops[1].offset is 1.1; it must be a number from 0 to 1",
        ),
        (
            with_content(r#"{"image": {"path": ""}}"#),
            "layers[0].content.image.path is empty; it must be the path of a PNG, JPEG, WebP or GIF file",
        ),
    ];
    for (json, expected) in &cases {
        assert_refused(json, expected);
    }
}

#[test]
fn a_scene_made_in_code_is_checked_too() {
    let solid = Content::Solid(Solid {
        size: None,
        color: Color::WHITE.into(),
    });
    let mut scene = Scene::new(8, 8, FrameRate::new(25, 1).unwrap(), Time::from_ratio(1, 1));
    scene.layers.push(Layer::new(solid));
    assert_eq!(scene.validate(), Ok(()));

    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        scene.layers[0].rotation = Animated::Keyframes(vec![Keyframe {
            time: Time::ZERO,
            value,
            easing: Easing::Linear,
        }]);
        assert_eq!(
            scene.validate().unwrap_err().to_string(),
            format!(
                "layers[0].rotation.keyframes[0].value is {value}; it must be a number from -1000000 to 1000000"
            )
        );
    }
}

#[test]
fn a_scene_reads_as_it_was_written() {
    let json = include_str!("../../../../examples/assets/demo.json");
    let scene = Scene::from_json(json).unwrap();
    let written = serde_json::to_string(&scene).unwrap();
    assert_eq!(Scene::from_json(&written).unwrap(), scene);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.json");
    let error = Scene::load(&missing).unwrap_err();
    assert!(matches!(error, LoadSceneError::Read { .. }));
    let text = message(error);
    assert!(text.contains("missing.json: No such file"), "{text}");

    let error = Scene::load(folder.path()).unwrap_err();
    assert!(matches!(error, LoadSceneError::NotAFile { .. }), "{error}");
    assert!(message(error).contains(folder.path().to_str().unwrap()));

    #[cfg(unix)]
    {
        let error = Scene::load("/dev/zero").unwrap_err();
        assert!(matches!(error, LoadSceneError::NotAFile { .. }), "{error}");
    }

    // Sparse: it takes no room on the disk.
    let large = folder.path().join("large.json");
    let file = fs::File::create(&large).unwrap();
    file.set_len(MAX_SCENE_BYTES + 1).unwrap();
    let error = Scene::load(&large).unwrap_err();
    assert!(matches!(error, LoadSceneError::TooLarge { .. }), "{error}");
    assert!(
        message(error).ends_with("large.json has 67108865 bytes; at most 67108864 are allowed")
    );

    let binary = folder.path().join("binary.json");
    fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    let error = Scene::load(&binary).unwrap_err();
    assert!(message(error).contains("UTF-8"));

    let empty = folder.path().join("empty.json");
    fs::write(&empty, "").unwrap();
    let error = Scene::load(&empty).unwrap_err();
    assert!(matches!(
        error,
        LoadSceneError::Scene {
            source: SceneError::Syntax(_),
            ..
        }
    ));
    assert!(message(error).contains("empty.json: the scene is not valid JSON"));
}
