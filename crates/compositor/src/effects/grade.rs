//! Colour grade: exposure, temperature, contrast, saturation and a look-up table, in this order.
//!
//! Exposure and temperature work on linear light, where they are what a camera would have done.
//! Contrast, saturation and tables work on sRGB-encoded values, as those of CSS and of editors do.
//! Values between the stages are not cut off; the result is cut off at 0 and 1.

use bytemuck::{Pod, Zeroable};
use glam::{DMat3, DVec2, DVec3};

use super::lut::LutLayout;
use super::shader::EffectShader;
use super::{EffectUniforms, Step};
use crate::rect::IntRect;

/// A grade's settings. The default changes nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grade {
    /// In stops: light is multiplied by 2 to this power.
    pub(crate) exposure_stops: f64,
    /// What white turns into, as daylight of a correlated colour temperature in kelvin, from
    /// [`MIN_TEMPERATURE_KELVIN`] to [`MAX_TEMPERATURE_KELVIN`]: less is warmer than
    /// [`NEUTRAL_TEMPERATURE_KELVIN`], more is cooler. White keeps its luminance. What is beyond is
    /// taken as the nearest.
    pub(crate) temperature_kelvin: f64,
    /// How many times as far from the pivot values become; 1 for no change, 0 for all the same.
    pub(crate) contrast: f64,
    /// The sRGB-encoded value that contrast leaves as it is.
    pub(crate) contrast_pivot: f64,
    /// How many times as far from their luma (BT.709) colours become; 1 for no change, 0 for grey.
    pub(crate) saturation: f64,
    /// How much of the way to the table's values colours go, 0 to 1.
    pub(crate) lut_strength: f64,
}

/// That of D65, sRGB's white.
pub(crate) const NEUTRAL_TEMPERATURE_KELVIN: f64 = 6504.0;
/// Where the CIE's formula for daylight begins.
pub(crate) const MIN_TEMPERATURE_KELVIN: f64 = 4000.0;
/// Where the CIE's formula for daylight ends.
pub(crate) const MAX_TEMPERATURE_KELVIN: f64 = 25_000.0;

impl Default for Grade {
    fn default() -> Self {
        Self {
            exposure_stops: 0.0,
            temperature_kelvin: NEUTRAL_TEMPERATURE_KELVIN,
            contrast: 1.0,
            contrast_pivot: 0.5,
            saturation: 1.0,
            lut_strength: 1.0,
        }
    }
}

impl Grade {
    /// Whether no colour would change.
    pub(crate) fn is_neutral(&self) -> bool {
        let Self {
            exposure_stops,
            temperature_kelvin,
            contrast,
            saturation,
            lut_strength,
            ..
        } = *self;
        exposure_stops == 0.0
            && temperature_kelvin == NEUTRAL_TEMPERATURE_KELVIN
            && contrast == 1.0
            && saturation == 1.0
            && lut_strength == 0.0
    }
}

/// What a surface's colours are, before they are multiplied by alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SurfaceEncoding {
    /// sRGB-encoded values.
    Srgb,
    /// Linear light of sRGB's primaries.
    Linear,
}

/// The step that grades a surface; none if nothing would change. It reads no pixel but its own, and
/// the texture of `lut` if there is one and it has any strength.
///
/// `source` is where the source may be other than transparent. The step's region is `wanted`,
/// without what is transparent.
pub(crate) fn grade_steps(
    source: IntRect,
    wanted: IntRect,
    grade: &Grade,
    lut: Option<&LutLayout>,
    encoding: SurfaceEncoding,
) -> Vec<Step> {
    let lut = lut.filter(|_| grade.lut_strength > 0.0);
    let changes_light =
        grade.exposure_stops != 0.0 || grade.temperature_kelvin != NEUTRAL_TEMPERATURE_KELVIN;
    let changes_tone = grade.contrast != 1.0 || grade.saturation != 1.0;
    if !changes_light && !changes_tone && lut.is_none() {
        return Vec::new();
    }
    vec![Step {
        shader: EffectShader::Grade {
            encoding,
            changes_light,
            lut: lut.map(|lut| lut.kind),
        },
        region: wanted.intersect(source),
        uniforms: EffectUniforms::Grade(GradeUniforms::new(grade, lut)),
    }]
}

/// Exposure and temperature as a matrix for linear light.
fn light_matrix(grade: &Grade) -> DMat3 {
    adaptation(NEUTRAL_TEMPERATURE_KELVIN, grade.temperature_kelvin) * grade.exposure_stops.exp2()
}

/// Takes daylight of one temperature to that of another, in linear RGB, by the Bradford transform
/// (ICC.1:2022, annex E): the responses of the eye's cones are scaled, each on its own, so that the
/// one white gives what the other does.
fn adaptation(from_kelvin: f64, to_kelvin: f64) -> DMat3 {
    let cones_from_xyz = DMat3::from_cols_array(&[
        0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296,
    ])
    .transpose();
    let cones = |kelvin| cones_from_xyz * xyz_of(daylight(kelvin));
    let gains = cones(to_kelvin) / cones(from_kelvin);
    let cones_from_rgb = cones_from_xyz * xyz_from_rgb();
    cones_from_rgb.inverse() * DMat3::from_diagonal(gains) * cones_from_rgb
}

/// The chromaticity of daylight of a temperature, of the nearest if there is none: the polynomials
/// of CIE 015:2018 for its D illuminants.
fn daylight(kelvin: f64) -> DVec2 {
    let kelvin = kelvin.clamp(MIN_TEMPERATURE_KELVIN, MAX_TEMPERATURE_KELVIN);
    let inverse = 1e3 / kelvin;
    let polynomial = |[a, b, c, d]: [f64; 4]| ((a * inverse + b) * inverse + c) * inverse + d;
    let x = polynomial(if kelvin <= 7000.0 {
        [-4.6070, 2.9678, 0.099_11, 0.244_063]
    } else {
        [-2.0064, 1.9018, 0.247_48, 0.237_040]
    });
    DVec2::new(x, (-3.0 * x + 2.87) * x - 0.275)
}

/// The colour of a chromaticity with a luminance of 1.
fn xyz_of(chromaticity: DVec2) -> DVec3 {
    let DVec2 { x, y } = chromaticity;
    DVec3::new(x / y, 1.0, (1.0 - x - y) / y)
}

/// From the primaries and the white of sRGB: IEC 61966-2-1, table 1.
fn xyz_from_rgb() -> DMat3 {
    let [red, green, blue, white] = [(0.64, 0.33), (0.30, 0.60), (0.15, 0.06), (0.3127, 0.3290)]
        .map(|chromaticity| xyz_of(DVec2::from(chromaticity)));
    let primaries = DMat3::from_cols(red, green, blue);
    primaries * DMat3::from_diagonal(primaries.inverse() * white)
}

/// Contrast and saturation as a matrix for encoded values, and what is added to all three.
///
/// Both as the W3C's Filter Effects Module Level 1 defines `contrast()`, whose pivot is 0.5, and
/// `saturate()`, with the luma of BT.709 to four digits.
fn tone_matrix(grade: &Grade) -> (DMat3, f64) {
    let luma = DVec3::new(0.2126, 0.7152, 0.0722);
    let grey = DMat3::from_cols(
        DVec3::splat(luma.x),
        DVec3::splat(luma.y),
        DVec3::splat(luma.z),
    );
    let saturation = DMat3::IDENTITY * grade.saturation + grey * (1.0 - grade.saturation);
    // Saturation leaves the same offset of all channels as it is.
    let offset = grade.contrast_pivot * (1.0 - grade.contrast);
    (saturation * grade.contrast, offset)
}

/// `Grade` in `effect_grade.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct GradeUniforms {
    light: [[f32; 4]; 3],
    tone: [[f32; 4]; 3],
    tone_offset: f32,
    lut_strength: f32,
    padding: [u32; 2],
    lut_scale: [f32; 4],
    lut_offset: [f32; 3],
    lut_size: u32,
}

impl GradeUniforms {
    fn new(grade: &Grade, lut: Option<&LutLayout>) -> Self {
        let columns = |matrix: DMat3| {
            [matrix.x_axis, matrix.y_axis, matrix.z_axis]
                .map(|column| column.as_vec3().extend(0.0).to_array())
        };
        let (tone, tone_offset) = tone_matrix(grade);
        let mut uniforms = Self {
            light: columns(light_matrix(grade)),
            tone: columns(tone),
            tone_offset: tone_offset as f32,
            ..Self::zeroed()
        };
        if let Some(lut) = lut {
            let scale = (lut.domain_max - lut.domain_min).recip();
            uniforms.lut_strength = grade.lut_strength as f32;
            uniforms.lut_scale = scale.as_vec3().extend(0.0).to_array();
            uniforms.lut_offset = (-lut.domain_min * scale).as_vec3().to_array();
            uniforms.lut_size = lut.size;
        }
        uniforms
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::process::Command;

    use glam::IVec2;
    use half::f16;

    use super::*;
    use crate::effects::testing::{
        self, Surface, assert_same, max_difference, noise, photo, run, run_with_lut,
    };
    use crate::effects::{Lut, LutTable};

    const REGION: IntRect = IntRect::new(IVec2::new(-9, -4), IVec2::new(151, 96));

    fn grades() -> Vec<Grade> {
        let neutral = Grade::default();
        vec![
            Grade {
                exposure_stops: 1.3,
                ..neutral
            },
            Grade {
                exposure_stops: -2.0,
                saturation: 1.4,
                ..neutral
            },
            Grade {
                temperature_kelvin: 4200.0,
                ..neutral
            },
            Grade {
                temperature_kelvin: 15_000.0,
                contrast: 0.6,
                ..neutral
            },
            Grade {
                contrast: 1.8,
                contrast_pivot: 0.4,
                ..neutral
            },
            Grade {
                saturation: 0.0,
                ..neutral
            },
            Grade {
                exposure_stops: -0.4,
                temperature_kelvin: 5200.0,
                contrast: 1.15,
                contrast_pivot: 0.45,
                saturation: 0.8,
                lut_strength: 0.7,
            },
        ]
    }

    /// Along each axis another curve, and axes that change places.
    fn cube(size: u32) -> Vec<[f32; 3]> {
        let value = |index: u32| f64::from(index) / f64::from(size - 1);
        let mut rgb = Vec::new();
        for blue in 0..size {
            for green in 0..size {
                for red in 0..size {
                    let [red, green, blue] = [red, green, blue].map(value);
                    let color = [
                        (0.8 * green + 0.2 * blue * red).powf(1.4),
                        (0.7 * blue + 0.3 * red).sqrt(),
                        1.1 * red * (1.0 - 0.5 * green) - 0.05,
                    ];
                    rgb.push(color.map(|channel| channel as f32));
                }
            }
        }
        rgb
    }

    fn curves(size: usize) -> Vec<[f32; 3]> {
        let curve = |index| index as f32 / (size - 1) as f32;
        (0..size)
            .map(curve)
            .map(|value| [value.sqrt(), 1.0 - value * value, value * value * value])
            .collect()
    }

    fn graded(
        source: &Surface,
        grade: &Grade,
        lut: Option<&Lut<'_>>,
        encoding: SurfaceEncoding,
    ) -> Surface {
        let region = source.region;
        match lut.map(testing::upload_lut) {
            Some(lut) => {
                let steps = grade_steps(region, region, grade, Some(&lut.layout), encoding);
                run_with_lut(&steps, source, &lut)
            }
            None => run(&grade_steps(region, region, grade, None, encoding), source),
        }
    }

    /// IEC 61966-2-1.
    fn decode(encoded: f64) -> f64 {
        match encoded <= 0.040_45 {
            true => encoded / 12.92,
            false => ((encoded + 0.055) / 1.055).powf(2.4),
        }
    }

    /// IEC 61966-2-1.
    fn encode(linear: f64) -> f64 {
        match linear <= 0.003_130_8 {
            true => linear * 12.92,
            false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
        }
    }

    /// Stage by stage, for one premultiplied pixel.
    fn expected(
        pixel: [f64; 4],
        grade: &Grade,
        lut: Option<&Lut<'_>>,
        encoding: SurfaceEncoding,
    ) -> [f64; 4] {
        let [red, green, blue, alpha] = pixel;
        if alpha == 0.0 {
            return pixel;
        }
        let mut color = DVec3::new(red, green, blue) / alpha;
        if encoding == SurfaceEncoding::Srgb {
            color = color.map(decode);
        }
        color *= grade.exposure_stops.exp2();
        color = adaptation(NEUTRAL_TEMPERATURE_KELVIN, grade.temperature_kelvin) * color;
        color = color.map(encode);
        color = (color - grade.contrast_pivot) * grade.contrast + grade.contrast_pivot;
        let luma = 0.2126 * color.x + 0.7152 * color.y + 0.0722 * color.z;
        color = DVec3::splat(luma).lerp(color, grade.saturation);
        if let Some(lut) = lut {
            color = color.lerp(looked_up(color, lut), grade.lut_strength);
        }
        color = color.clamp(DVec3::ZERO, DVec3::ONE);
        if encoding == SurfaceEncoding::Linear {
            color = color.map(decode);
        }
        color *= alpha;
        [color.x, color.y, color.z, alpha]
    }

    fn looked_up(color: DVec3, lut: &Lut<'_>) -> DVec3 {
        let entry = |rgb: &[[f32; 3]], index: usize| DVec3::from(rgb[index].map(f64::from));
        let min = DVec3::from(lut.domain_min.map(f64::from));
        let max = DVec3::from(lut.domain_max.map(f64::from));
        let place = ((color - min) / (max - min)).clamp(DVec3::ZERO, DVec3::ONE);
        match lut.table {
            LutTable::Curves(rgb) => {
                let last = rgb.len() - 1;
                DVec3::from(std::array::from_fn(|channel| {
                    let place = place[channel] * last as f64;
                    let lower = (place as usize).min(last - 1);
                    let [before, after] =
                        [lower, lower + 1].map(|index| entry(rgb, index)[channel]);
                    before + (after - before) * (place - lower as f64)
                }))
            }
            LutTable::Cube { size, rgb } => {
                let place = place * f64::from(size - 1);
                let mut corner = place.floor().min(DVec3::splat(f64::from(size - 2)));
                let parts = place - corner;
                let value = |corner: DVec3| {
                    let [x, y, z] = corner.to_array().map(|index| index as usize);
                    let size = size as usize;
                    entry(rgb, (z * size + y) * size + x)
                };
                // From corner to corner, along the axis of the largest part first.
                let mut axes = [0, 1, 2];
                axes.sort_by(|&a, &b| parts[b].total_cmp(&parts[a]));
                let mut sum = value(corner);
                for axis in axes {
                    let before = value(corner);
                    corner[axis] += 1.0;
                    sum += (value(corner) - before) * parts[axis];
                }
                sum
            }
        }
    }

    #[test]
    fn a_grade_is_within_a_code_value_of_its_formulas() {
        let cube = cube(9);
        let curves = curves(2500);
        let lut = |table| Lut {
            table,
            domain_min: [-0.1, 0.0, 0.1],
            domain_max: [1.0, 0.8, 1.2],
        };
        let luts = [
            None,
            Some(lut(LutTable::Cube {
                size: 9,
                rgb: &cube,
            })),
            Some(lut(LutTable::Curves(&curves))),
        ];
        let mut worst: f64 = 0.0;
        for source in [photo("coffee.png", REGION), noise(REGION)] {
            for grade in grades() {
                for lut in &luts {
                    for encoding in [SurfaceEncoding::Srgb, SurfaceEncoding::Linear] {
                        let graded = graded(&source, &grade, lut.as_ref(), encoding);
                        let exact: Vec<_> = source
                            .pixels
                            .iter()
                            .map(|pixel| pixel.map(f64::from))
                            .map(|pixel| expected(pixel, &grade, lut.as_ref(), encoding))
                            .collect();
                        let error = max_difference(&graded, &exact);
                        assert!(error <= 0.5, "{error}: {grade:?} {lut:?} {encoding:?}");
                        worst = worst.max(error);
                    }
                }
            }
        }
        println!("worst: {worst:.3}");
    }

    #[test]
    fn a_neutral_grade_takes_no_steps() {
        let neutral = Grade::default();
        let unused = Grade {
            lut_strength: 0.0,
            ..neutral
        };
        let cube = cube(3);
        let lut = testing::upload_lut(&unit(LutTable::Cube {
            size: 3,
            rgb: &cube,
        }));
        for encoding in [SurfaceEncoding::Srgb, SurfaceEncoding::Linear] {
            assert!(grade_steps(REGION, REGION, &neutral, None, encoding).is_empty());
            let steps = grade_steps(REGION, REGION, &unused, Some(&lut.layout), encoding);
            assert!(steps.is_empty());
        }
    }

    /// What a stage does not change goes through it untouched.
    #[test]
    fn an_identity_table_keeps_every_byte() {
        let cube: Vec<_> = (0..8)
            .map(|i| [i & 1, i >> 1 & 1, i >> 2].map(|bit| bit as f32))
            .collect();
        let source = photo("coffee.png", REGION);
        let lut = unit(LutTable::Cube {
            size: 2,
            rgb: &cube,
        });
        let graded = graded(
            &source,
            &Grade::default(),
            Some(&lut),
            SurfaceEncoding::Srgb,
        );
        assert_same(&graded, &source, "identity");
    }

    #[test]
    fn what_is_transparent_stays_as_it_is() {
        let source = Surface::new(REGION, |x, _| match x % 2 {
            0 => [0.0; 4],
            _ => [0.25, 0.5, 0.125, 0.0],
        });
        let inverted = Grade {
            contrast: -1.0,
            ..Grade::default()
        };
        let graded = graded(&source, &inverted, None, SurfaceEncoding::Srgb);
        assert_same(&graded, &source, "transparent");
    }

    #[test]
    fn a_table_of_huge_values_gives_numbers() {
        let rgb = vec![[1e9, -1e30, 0.5]; 27];
        let source = noise(REGION);
        let lut = unit(LutTable::Cube { size: 3, rgb: &rgb });
        let graded = graded(
            &source,
            &Grade::default(),
            Some(&lut),
            SurfaceEncoding::Srgb,
        );
        let exact: Vec<_> = source
            .pixels
            .iter()
            .map(|pixel| f64::from(pixel[3]))
            .map(|alpha| [alpha, 0.0, 0.5 * alpha, alpha])
            .collect();
        assert!(max_difference(&graded, &exact) <= 0.1);
    }

    fn unit(table: LutTable<'_>) -> Lut<'_> {
        Lut {
            table,
            domain_min: [0.0; 3],
            domain_max: [1.0; 3],
        }
    }

    #[test]
    fn a_cube_is_looked_up_as_ffmpeg_does() {
        const SIZE: u32 = 17;
        let rgb = cube(SIZE);
        let mut file = format!("LUT_3D_SIZE {SIZE}\n");
        for [red, green, blue] in &rgb {
            writeln!(file, "{red} {green} {blue}").unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("look.cube"), file).unwrap();
        // Handed over as 16 bits, in planes and in their order, so that nothing is converted.
        let source = photo("coffee.png", REGION);
        let planes = [1, 2, 0].map(|channel: usize| {
            let code = |pixel: &[f16; 4]| (f32::from(pixel[channel]) * 65535.0).round() as u16;
            source.pixels.iter().map(code).collect::<Vec<_>>()
        });
        let bytes: Vec<_> = planes
            .iter()
            .flatten()
            .flat_map(|code| code.to_le_bytes())
            .collect();
        std::fs::write(folder.path().join("photo.raw"), bytes).unwrap();
        let size = REGION.size();
        let output = Command::new("ffmpeg")
            .current_dir(folder.path())
            .args(["-v", "error", "-f", "rawvideo", "-pix_fmt", "gbrp16le"])
            .args(["-s", &format!("{}x{}", size.x, size.y), "-i", "photo.raw"])
            .args(["-vf", "lut3d=look.cube:interp=tetrahedral"])
            .args(["-f", "rawvideo", "-pix_fmt", "gbrp16le", "-"])
            .output()
            .expect("this test needs ffmpeg");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{message}");

        let lut = unit(LutTable::Cube {
            size: SIZE,
            rgb: &rgb,
        });
        let graded = graded(
            &source,
            &Grade::default(),
            Some(&lut),
            SurfaceEncoding::Srgb,
        );
        let pixels = source.pixels.len();
        assert_eq!(output.stdout.len(), pixels * 6);
        let value = |plane: usize, index: usize| {
            let at = (plane * pixels + index) * 2;
            f64::from(u16::from_le_bytes([
                output.stdout[at],
                output.stdout[at + 1],
            ])) / 65535.0
        };
        let theirs: Vec<_> = (0..pixels)
            .map(|index| [value(2, index), value(0, index), value(1, index), 1.0])
            .collect();
        let difference = max_difference(&graded, &theirs);
        println!("{difference:.3}");
        assert!(difference <= 0.5, "{difference}");
    }

    #[test]
    fn daylight_has_the_chromaticities_of_the_standard_illuminants() {
        for (kelvin, x, y) in [
            (5003.0, 0.3457, 0.3585),
            (6504.0, 0.3127, 0.3290),
            (7504.0, 0.2990, 0.3149),
        ] {
            let difference = daylight(kelvin) - DVec2::new(x, y);
            assert!(
                difference.abs().max_element() < 2e-4,
                "{kelvin}: {difference}"
            );
        }
    }

    /// As published for the Bradford transform from D65 to D50, in XYZ.
    #[test]
    fn adaptation_to_d50_is_as_published() {
        let published = DMat3::from_cols_array(&[
            1.047_811, 0.022_887, -0.050_127, 0.029_542, 0.990_484, -0.017_049, -0.009_235,
            0.015_044, 0.752_132,
        ])
        .transpose();
        let ours = xyz_from_rgb() * adaptation(6504.0, 5003.0) * xyz_from_rgb().inverse();
        assert!(ours.abs_diff_eq(published, 1e-3), "{ours} {published}");
    }

    #[test]
    fn white_takes_the_colour_of_the_light_and_keeps_its_luminance() {
        for kelvin in [4000.0, 5000.0, 6504.0, 9000.0, 25_000.0] {
            let white = xyz_from_rgb() * adaptation(6504.0, kelvin) * DVec3::ONE;
            let chromaticity = DVec2::new(white.x, white.y) / white.element_sum();
            assert!((white.y - 1.0).abs() < 1e-3, "{kelvin}: {white}");
            assert!(chromaticity.abs_diff_eq(daylight(kelvin), 1e-3), "{kelvin}");
        }
        let warm = adaptation(6504.0, 4500.0) * DVec3::ONE;
        assert!(warm.x > 1.0 && warm.z < 1.0, "{warm}");
    }
}
