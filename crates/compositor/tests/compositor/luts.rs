//! Look-up tables in scenes: against ffmpeg, and what is said of files that are none.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use framefence::Time;
use framefence_compositor::{
    BlendSpace, Compositor, CompositorError, Grade, Layer, Lut, LutProblem, MAX_LUT_FILE_BYTES,
};
use image::{Rgb, RgbImage, RgbaImage, imageops};

use crate::render::{gpu, picture, render_at, scene, with};
use crate::scene_errors::message;

/// A part of a photograph, whose colours lie between a table's.
fn photograph() -> RgbaImage {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/assets/coffee.png");
    let whole = image::open(path).unwrap().into_rgba8();
    imageops::crop_imm(&whole, 120, 60, 256, 160).to_image()
}

fn graded(lut: &str, strength: f64) -> Layer {
    with(picture("photo.png"), |layer| {
        layer.grade = Some(Grade {
            lut: Some(Lut {
                path: lut.into(),
                strength: strength.into(),
            }),
            ..Grade::default()
        });
    })
}

/// A look that bends and mixes all channels.
fn cube(size: u32) -> String {
    let mut file = format!("TITLE \"look\"\nLUT_3D_SIZE {size}\n");
    let part = |index: u32| f64::from(index) / f64::from(size - 1);
    for index in 0..size.pow(3) {
        let [r, g, b] = [index % size, index / size % size, index / size / size].map(part);
        let look = [
            (r * r * 0.8 + g * 0.3).min(1.0),
            (g.sqrt() * 0.7 + b * b * 0.3).min(1.0),
            ((1.0 - r) * 0.4 + b * 0.5).min(1.0),
        ];
        let [r, g, b] = look;
        writeln!(file, "{r:.6} {g:.6} {b:.6}").unwrap();
    }
    file
}

fn curves(size: u32) -> String {
    let mut file = format!("LUT_1D_SIZE {size}\n");
    for index in 0..size {
        let part = f64::from(index) / f64::from(size - 1);
        let [r, g, b] = [part.sqrt(), part * part, 1.0 - part];
        writeln!(file, "{r:.6} {g:.6} {b:.6}").unwrap();
    }
    file
}

/// What ffmpeg makes of the picture in code values, from 16 bits a channel to 16 bits, so that it
/// neither converts nor rounds to 8.
fn filtered_by_ffmpeg(folder: &Path, picture: &RgbaImage, filter: &str) -> Vec<[f64; 3]> {
    let (width, height) = picture.dimensions();
    let codes = picture
        .pixels()
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]);
    let bytes: Vec<u8> = codes
        .flat_map(|code| (u16::from(code) * 257).to_le_bytes())
        .collect();
    fs::write(folder.join("photo.raw"), bytes).unwrap();
    let raw = ["-f", "rawvideo", "-pix_fmt", "rgb48le"];
    let output = Command::new("ffmpeg")
        .current_dir(folder)
        .args(["-v", "error"])
        .args(raw)
        .args(["-s", &format!("{width}x{height}"), "-i", "photo.raw"])
        .args(["-vf", filter])
        .args(raw)
        .arg("-")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let values: Vec<_> = output
        .stdout
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| f64::from(u16::from_le_bytes(bytes)) / 257.0)
        .collect();
    assert_eq!(values.len(), (width * height * 3) as usize);
    values.as_chunks().0.to_vec()
}

/// Off by half a code value for rounding, 0.36 for the dither, 1/8 for the half floats of each of
/// the two surfaces, and 1/16 for those of the table. In linear light the GPU decodes the picture,
/// which it may do wrong by part of a code value, and the table makes more of that.
#[test]
fn a_table_in_a_scene_is_looked_up_as_ffmpeg_does() {
    let folder = tempfile::tempdir().unwrap();
    let photograph = photograph();
    photograph.save(folder.path().join("photo.png")).unwrap();
    let (width, height) = photograph.dimensions();
    for (file, text, filter) in [
        ("small.cube", cube(5), "lut3d=small.cube:interp=tetrahedral"),
        (
            "large.cube",
            cube(33),
            "lut3d=large.cube:interp=tetrahedral",
        ),
        ("curves.cube", curves(17), "lut1d=curves.cube:interp=linear"),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
        let expected = filtered_by_ffmpeg(folder.path(), &photograph, filter);
        for space in [BlendSpace::Srgb, BlendSpace::Linear] {
            for strength in [1.0, 0.4] {
                let mut scene = scene(width, height, vec![graded(file, strength)]);
                scene.blend_space = space;
                let drawn = render_at(&scene, folder.path(), Time::ZERO);
                let tolerance = match space {
                    BlendSpace::Srgb => 1.2,
                    _ => 1.5,
                };
                let pixels = drawn.pixels().zip(photograph.pixels()).zip(&expected);
                for ((drawn, before), after) in pixels {
                    for (channel, after) in after.iter().enumerate() {
                        let original = f64::from(before[channel]);
                        let expected = original + (after - original) * strength;
                        assert!(
                            (f64::from(drawn[channel]) - expected).abs() <= tolerance,
                            "{file} at {strength} in {space:?}: {before:?} became {drawn:?}, and in ffmpeg {after}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_look_is_named_with_what_is_wrong_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let photo = RgbImage::from_pixel(2, 2, Rgb([1, 2, 3]));
    photo.save(folder.path().join("photo.png")).unwrap();
    let refused = |text: &str| {
        fs::write(folder.path().join("look.cube"), text).unwrap();
        let layers = vec![picture("photo.png"), graded("look.cube", 1.0)];
        let error = Compositor::new(gpu(), scene(2, 2, layers), folder.path()).unwrap_err();
        let CompositorError::Lut { place, source } = &error else {
            panic!("{error}");
        };
        assert_eq!(place, "layers[1].grade.lut.path");
        assert_eq!(source.path, folder.path().join("look.cube"));
        message(error)
    };
    let bad_line = refused("TITLE \"a\"\nLUT_3D_SIZE 2\n0 0 0\n1 0 zero\n");
    assert!(
        bad_line.ends_with(
            "look.cube: line 4: \"zero\" is neither a number nor a keyword of .cube files"
        ),
        "{bad_line}"
    );
    let huge_size = refused("LUT_3D_SIZE 100000\n");
    assert!(
        huge_size
            .contains("line 1: LUT_3D_SIZE is \"100000\"; it must be a whole number from 2 to"),
        "{huge_size}"
    );
    let cut_off = refused("LUT_3D_SIZE 2\n0 0 0\n1 0 0\n");
    assert!(
        cut_off.ends_with("it has 2 entries; its size asks for 8"),
        "{cut_off}"
    );
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let photo = RgbImage::from_pixel(2, 2, Rgb([1, 2, 3]));
    photo.save(folder.path().join("photo.png")).unwrap();
    // Sparse: it takes no room on the disk.
    let file = fs::File::create(folder.path().join("huge.cube")).unwrap();
    file.set_len(MAX_LUT_FILE_BYTES * 1000).unwrap();
    let layers = vec![graded("huge.cube", 1.0)];
    let error = Compositor::new(gpu(), scene(2, 2, layers), folder.path()).unwrap_err();
    let CompositorError::Lut { source, .. } = error else {
        panic!("{error}");
    };
    assert!(
        matches!(source.problem, LutProblem::FileTooLarge { .. }),
        "{source}"
    );
}
