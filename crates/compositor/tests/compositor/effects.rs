//! Effects in scenes against their formulas in f64.
//!
//! What is delivered is rounded, by half a code value, and dithered, by 0.36. Each surface of half
//! floats on the way adds up to 1/8, where a GPU cuts them off, and a blur a little more.

use framefence::Time;
use framefence_compositor::{
    Animated, BlendSpace, Color, Easing, Grade, Keyframe, MotionBlur, Shadow, Tilt,
};
use image::{RgbaImage, imageops};

use crate::downscaling::photograph;
use crate::light::{linear_from_srgb, srgb_from_linear};
use crate::render::{
    at, picture, render, render_at, rotated, scaled, solid, transparent_scene, with,
};

const SIZE: (u32, u32) = (160, 112);

/// Values of a row or a column, from pixel 0 on; nothing lies beyond them.
type Line = Vec<f64>;

/// How much of each pixel lies between `start` and `end`.
fn covered(pixels: u32, start: f64, end: f64) -> Line {
    (0..pixels)
        .map(|pixel| {
            (end.min(f64::from(pixel) + 1.0) - start.max(f64::from(pixel))).clamp(0.0, 1.0)
        })
        .collect()
}

/// The sum over the whole Gaussian, whose weights come to 1.
fn gaussian(line: &[f64], sigma: f64) -> Line {
    let radius = (7.0 * sigma).ceil() as i64;
    let weight = |distance: i64| (-0.5 * (distance as f64 / sigma).powi(2)).exp();
    let total: f64 = (-radius..=radius).map(weight).sum();
    (0..line.len() as i64)
        .map(|at| {
            let values = (0..).zip(line);
            values
                .map(|(from, value)| weight(from - at) / total * value)
                .sum()
        })
        .collect()
}

/// The same along rows and then along columns.
fn gaussian_of_picture(rows: &[Line], sigma: f64) -> Vec<Line> {
    let rows: Vec<_> = rows.iter().map(|row| gaussian(row, sigma)).collect();
    transposed(
        &transposed(&rows)
            .iter()
            .map(|column| gaussian(column, sigma))
            .collect::<Vec<_>>(),
    )
}

fn transposed(lines: &[Line]) -> Vec<Line> {
    (0..lines[0].len())
        .map(|index| lines.iter().map(|line| line[index]).collect())
        .collect()
}

/// The largest difference from what is expected at a pixel, in code values.
pub(crate) fn worst(drawn: &RgbaImage, expected: impl Fn(usize, usize) -> [f64; 4]) -> f64 {
    let apart = drawn.enumerate_pixels().flat_map(|(x, y, pixel)| {
        let expected = expected(x as usize, y as usize);
        pixel
            .0
            .into_iter()
            .zip(expected)
            .map(|(code, expected)| (f64::from(code) - expected).abs())
    });
    apart.fold(0.0, f64::max)
}

#[test]
fn a_blurred_picture_is_the_gaussian_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let part = imageops::crop_imm(&photograph(), 130, 60, 90, 60).to_image();
    part.save(folder.path().join("part.png")).unwrap();
    let mut canvas = RgbaImage::new(SIZE.0, SIZE.1);
    imageops::replace(&mut canvas, &part, 35, 26);
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        let channels: Vec<Vec<Line>> = (0..4)
            .map(|channel| {
                let value = |pixel: &image::Rgba<u8>| {
                    let encoded = f64::from(pixel[channel]) / 255.0;
                    match space {
                        BlendSpace::Linear if channel < 3 => linear_from_srgb(encoded),
                        _ => encoded,
                    }
                };
                canvas.rows().map(|row| row.map(value).collect()).collect()
            })
            .collect();
        for sigma in [1.0, 3.0, 10.0, 40.0] {
            let layer = with(at(80.0, 56.0, picture("part.png")), |layer| {
                layer.blur = sigma.into();
            });
            let mut scene = transparent_scene(SIZE.0, SIZE.1, vec![layer]);
            scene.blend_space = space;
            let drawn = render_at(&scene, folder.path(), Time::ZERO);
            let blurred: Vec<_> = channels
                .iter()
                .map(|channel| gaussian_of_picture(channel, sigma))
                .collect();
            let apart = worst(&drawn, |x, y| {
                let alpha = blurred[3][y][x];
                std::array::from_fn(|channel| {
                    let value = blurred[channel][y][x];
                    match space {
                        BlendSpace::Linear if channel < 3 => {
                            srgb_from_linear(value / alpha.max(1e-9)) * alpha * 255.0
                        }
                        _ => value * 255.0,
                    }
                })
            });
            assert!(apart <= 1.25, "σ {sigma} in {space:?}: {apart}");
        }
    }
}

#[test]
fn a_shadow_is_the_silhouette_blurred_and_moved() {
    let (width, height) = (70.5, 41.25);
    let (left, top) = (38.25, 31.0);
    for (offset, sigma, spread) in [
        ([0.0, 0.0], 6.0, 0.0),
        ([9.0, -5.0], 0.0, 0.0),
        ([9.0, -5.0], 0.0, 4.0),
        ([9.0, -5.0], 3.0, -6.0),
        ([-7.5, 6.25], 9.0, 5.0),
        ([4.0, 12.0], 25.0, 0.0),
    ] {
        let color = Color::rgba(40, 10, 90, 153);
        let layer = with(
            solid(width, height, Color::rgba(250, 200, 60, 204)),
            |layer| {
                layer.anchor = [0.0, 0.0].into();
                layer.shadow = Some(Shadow {
                    color: color.into(),
                    offset: offset.into(),
                    blur: sigma.into(),
                    spread: spread.into(),
                });
            },
        );
        let layer = at(left, top, layer);
        let drawn = render(&transparent_scene(SIZE.0, SIZE.1, vec![layer]));
        let lines = [
            covered(SIZE.0, left, left + width),
            covered(SIZE.1, top, top + height),
        ];
        let silhouettes: [Line; 2] = std::array::from_fn(|axis| {
            let silhouette = moved(&grown(&lines[axis], spread), offset[axis]);
            match sigma {
                0.0 => silhouette,
                sigma => gaussian(&silhouette, sigma),
            }
        });
        let apart = worst(&drawn, |x, y| {
            // The layer's own opacity is part of its silhouette.
            let shadow = silhouettes[0][x] * silhouettes[1][y] * 0.8 * 0.6;
            let layer = lines[0][x] * lines[1][y] * 0.8;
            let channel = |front: u8, behind: u8| {
                f64::from(front) * layer + f64::from(behind) * shadow * (1.0 - layer)
            };
            [
                channel(250, color.red),
                channel(200, color.green),
                channel(60, color.blue),
                channel(255, 255),
            ]
        });
        assert!(
            apart <= 1.25,
            "σ {sigma}, grown by {spread}, moved by {offset:?}: {apart}"
        );
    }
}

/// The largest, or smallest, value that is not farther than `by`.
fn grown(line: &[f64], by: f64) -> Line {
    let reach = by.abs() as usize;
    (0..line.len())
        .map(|at| {
            let near = &line[at.saturating_sub(reach)..(at + reach + 1).min(line.len())];
            near.iter().copied().reduce(match by < 0.0 {
                true => f64::min,
                false => f64::max,
            })
        })
        .map(Option::unwrap)
        .collect()
}

/// Mixed from the two nearest values.
fn moved(line: &[f64], by: f64) -> Line {
    let value = |at: i64| {
        usize::try_from(at)
            .ok()
            .and_then(|at| line.get(at))
            .copied()
            .unwrap_or(0.0)
    };
    (0..line.len() as i64)
        .map(|at| {
            let from = at as f64 - by;
            let part = from - from.floor();
            value(from.floor() as i64) * (1.0 - part) + value(from.floor() as i64 + 1) * part
        })
        .collect()
}

/// The formulas of each setting alone; the tests of the effect itself hold all settings together.
#[test]
fn a_graded_colour_is_what_the_formulas_say() {
    let color = Color::rgb(90, 150, 40);
    let codes = [color.red, color.green, color.blue].map(f64::from);
    let luma = 0.2126 * codes[0] + 0.7152 * codes[1] + 0.0722 * codes[2];
    let light = |code: f64, stops: f64| {
        srgb_from_linear((linear_from_srgb(code / 255.0) * stops.exp2()).min(1.0)) * 255.0
    };
    let cases: [(&str, Grade, [f64; 3]); 7] = [
        (
            "exposure +1",
            Grade {
                exposure: 1.0.into(),
                ..Grade::default()
            },
            codes.map(|code| light(code, 1.0)),
        ),
        (
            "exposure -2.5",
            Grade {
                exposure: (-2.5).into(),
                ..Grade::default()
            },
            codes.map(|code| light(code, -2.5)),
        ),
        (
            "contrast 0",
            Grade {
                contrast: 0.0.into(),
                ..Grade::default()
            },
            [127.5; 3],
        ),
        (
            "contrast 1.4",
            Grade {
                contrast: 1.4.into(),
                ..Grade::default()
            },
            codes.map(|code| (127.5 + (code - 127.5) * 1.4).clamp(0.0, 255.0)),
        ),
        (
            "saturation 0",
            Grade {
                saturation: 0.0.into(),
                ..Grade::default()
            },
            [luma; 3],
        ),
        (
            "saturation 1.2",
            Grade {
                saturation: 1.2.into(),
                ..Grade::default()
            },
            codes.map(|code| (luma + (code - luma) * 1.2).clamp(0.0, 255.0)),
        ),
        (
            "daylight",
            Grade {
                temperature: 6504.0.into(),
                ..Grade::default()
            },
            codes,
        ),
    ];
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        for (name, grade, expected) in &cases {
            let layer = with(solid(8.0, 8.0, color), |layer| {
                layer.grade = Some(grade.clone());
            });
            let mut scene = transparent_scene(8, 8, vec![layer]);
            scene.blend_space = space;
            let [red, green, blue] = *expected;
            let apart = worst(&render(&scene), |_, _| [red, green, blue, 255.0]);
            assert!(apart <= 1.0, "{name} in {space:?}: {apart}");
        }
    }
}

/// A box that moves at constant speed: in the mean over the shutter's time a pixel is covered as
/// the moments say, and as the movement itself says up to half of a step.
#[test]
fn a_moving_box_is_its_average_over_the_shutters_time() {
    let (width, height) = (30.0, 40.0);
    // 25 frames a second.
    let pixels_per_frame = 48.0;
    for (shutter, samples) in [(180.0, 16), (360.0, 16), (360.0, 64), (90.0, 3)] {
        let keyframe = |seconds, x: f64| Keyframe {
            time: Time::from_ratio(seconds, 1),
            value: [x, 50.0],
            easing: Easing::Linear,
        };
        let layer = with(solid(width, height, Color::WHITE), |layer| {
            layer.position = Some(Animated::Keyframes(vec![
                keyframe(0, 80.0 - pixels_per_frame * 12.5),
                keyframe(1, 80.0 + pixels_per_frame * 12.5),
            ]));
            layer.motion_blur = Some(MotionBlur {
                shutter: shutter.into(),
                samples,
            });
        });
        let scene = transparent_scene(SIZE.0, SIZE.1, vec![layer]);
        let drawn = render_at(&scene, "".as_ref(), Time::from_ratio(1, 2));
        let way = pixels_per_frame * shutter / 360.0;
        let at_part = |part: f64| {
            let middle = 80.0 + way * (part - 0.5);
            covered(SIZE.0, middle - width / 2.0, middle + width / 2.0)
        };
        let mean = |count: u32| -> Line {
            let moments: Vec<_> = (0..count)
                .map(|index| at_part((f64::from(index) + 0.5) / f64::from(count)))
                .collect();
            transposed(&moments)
                .iter()
                .map(|values| values.iter().sum::<f64>() / f64::from(count))
                .collect()
        };
        let down = covered(SIZE.1, 30.0, 70.0);
        let of_moments = mean(samples);
        let of_all_time = mean(20_000);
        let apart = worst(&drawn, |x, y| [of_moments[x] * down[y] * 255.0; 4]);
        let apart_from_all = worst(&drawn, |x, y| [of_all_time[x] * down[y] * 255.0; 4]);
        assert!(apart <= 1.1, "{samples} moments of {shutter}°: {apart}");
        assert!(
            apart_from_all <= 255.0 / (2.0 * f64::from(samples)) + 1.0,
            "{samples} moments of {shutter}°: {apart_from_all}"
        );
    }
}

/// A point at `offset` from the layer's position, turned in space and seen from in front.
fn seen(offset: [f64; 2], degrees: f64, tilt: [f64; 2], eye: f64) -> [f64; 2] {
    let turned = |[a, b]: [f64; 2], degrees: f64| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        [a * cos - b * sin, a * sin + b * cos]
    };
    let [x, y] = turned(offset, degrees);
    // About the horizontal axis the top, where y is negative, moves away; about the vertical one the
    // right side does.
    let [y, z] = turned([y, 0.0], -tilt[0]);
    let [x, z] = turned([x, z], tilt[1]);
    [x, y].map(|along| along * eye / (eye + z))
}

/// Edges are exact but for rounding and the 1/128 that samples may miss. At a corner, coverage is the
/// product of what two slanting edges cover, off by up to 16 code values.
#[test]
fn a_tilted_box_lies_between_its_corners_in_perspective() {
    const SAMPLES: u32 = 64;
    let (width, height) = (80.0, 50.0);
    let center = [81.3, 55.8];
    for (degrees, tilt, eye) in [
        (0.0, [40.0, 0.0], 200.0),
        (0.0, [0.0, 55.0], 200.0),
        (0.0, [-35.0, 30.0], 300.0),
        (27.0, [35.0, -50.0], 150.0),
        (-110.0, [140.0, 20.0], 250.0),
    ] {
        let layer = scaled(
            1.1,
            0.9,
            rotated(degrees, solid(width, height, Color::WHITE)),
        );
        let layer = with(at(center[0], center[1], layer), |layer| {
            layer.tilt = Some(Tilt {
                x: tilt[0].into(),
                y: tilt[1].into(),
                distance: eye.into(),
            });
        });
        let drawn = render(&transparent_scene(SIZE.0, SIZE.1, vec![layer]));
        let (x, y) = (width * 1.1 / 2.0, height * 0.9 / 2.0);
        let corners = [[-x, -y], [x, -y], [x, y], [-x, y]].map(|corner| {
            let [x, y] = seen(corner, degrees, tilt, eye);
            [x + center[0], y + center[1]]
        });
        let area = |x: f64, y: f64| {
            let is_at_edge = (0..9).any(|near| {
                let [dx, dy] = [near % 3 - 1, near / 3 - 1].map(f64::from);
                contains(&corners, [x + 0.5 + dx, y + 0.5 + dy])
                    != contains(&corners, [x + 0.5, y + 0.5])
            });
            if !is_at_edge {
                return f64::from(u8::from(contains(&corners, [x + 0.5, y + 0.5])));
            }
            let samples = (0..SAMPLES * SAMPLES).filter(|sample| {
                let part = |index: u32| (f64::from(index) + 0.5) / f64::from(SAMPLES);
                let point = [x + part(sample % SAMPLES), y + part(sample / SAMPLES)];
                contains(&corners, point)
            });
            samples.count() as f64 / f64::from(SAMPLES * SAMPLES)
        };
        let (mut at_edges, mut at_corners) = (0.0_f64, 0.0_f64);
        for (x, y, pixel) in drawn.enumerate_pixels() {
            let (x, y) = (f64::from(x), f64::from(y));
            let apart = (f64::from(pixel[3]) - area(x, y) * 255.0).abs();
            let is_at_corner = corners.iter().any(|corner| {
                (corner[0] - x - 0.5).abs() < 1.5 && (corner[1] - y - 0.5).abs() < 1.5
            });
            match is_at_corner {
                true => at_corners = at_corners.max(apart),
                false => at_edges = at_edges.max(apart),
            }
        }
        assert!(
            at_edges <= 2.5 && at_corners <= 16.0,
            "{degrees}°, tilted by {tilt:?}, seen from {eye}: {at_edges}, {at_corners} at corners"
        );
    }
}

/// Whether a point lies in a convex polygon: on the same side of all edges.
fn contains(corners: &[[f64; 2]; 4], [x, y]: [f64; 2]) -> bool {
    let is_on_right = |index: usize| {
        let ([ax, ay], [bx, by]) = (corners[index], corners[(index + 1) % 4]);
        (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0
    };
    (1..4).all(|index| is_on_right(index) == is_on_right(0))
}
