//! What a colour becomes in a lookup table, on the CPU: the measure for shaders.

use crate::cube::{CubeLut, LutKind};

impl CubeLut {
    /// The colour that `rgb` becomes: interpolated linearly between the entries of a curve, and
    /// tetrahedrally in a lattice. Colours beyond the domain are taken to its edge.
    pub(crate) fn apply(&self, rgb: [f32; 3]) -> [f64; 3] {
        let in_domain: [f64; 3] = std::array::from_fn(|channel| {
            let [value, minimum, maximum] = [
                rgb[channel],
                self.domain_min[channel],
                self.domain_max[channel],
            ]
            .map(f64::from);
            ((value - minimum) / (maximum - minimum)).clamp(0.0, 1.0)
        });
        match &self.kind {
            LutKind::OneD(entries) => std::array::from_fn(|channel| {
                let (index, fraction) = cell(in_domain[channel], entries.len());
                let [below, above] =
                    [index, index + 1].map(|index| f64::from(entries[index][channel]));
                below + (above - below) * fraction
            }),
            LutKind::ThreeD { size, rgb } => tetrahedral(rgb, *size as usize, in_domain),
        }
    }
}

/// The entry at or below a place from 0 to 1, never the last one, and the part of the way to the
/// next.
fn cell(place: f64, size: usize) -> (usize, f64) {
    let scaled = place * (size - 1) as f64;
    let index = (scaled as usize).min(size - 2);
    (index, scaled - index as f64)
}

/// The cell's corners are walked from the nearest to the farthest, along the axis with the largest
/// fraction first; each step weighs with what its fraction exceeds the next by.
fn tetrahedral(lattice: &[[f32; 3]], size: usize, place: [f64; 3]) -> [f64; 3] {
    let strides = [1, size, size * size];
    let cells = place.map(|place| cell(place, size));
    let fractions = cells.map(|(_, fraction)| fraction);
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| fractions[b].total_cmp(&fractions[a]));

    let mut index: usize = (0..3).map(|axis| cells[axis].0 * strides[axis]).sum();
    let mut weight = 1.0 - fractions[axes[0]];
    let mut sum = [0.0; 3];
    for step in 0..4 {
        for (sum, entry) in sum.iter_mut().zip(lattice[index]) {
            *sum += weight * f64::from(entry);
        }
        if let Some(&axis) = axes.get(step) {
            index += strides[axis];
            let next = axes.get(step + 1).map_or(0.0, |&axis| fractions[axis]);
            weight = fractions[axis] - next;
        }
    }
    sum
}

mod tests {
    use std::fmt::Write;
    use std::fs;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// Numbers from 0 to 1 without an order.
    fn noise(index: usize) -> f32 {
        (index * 7919 % 10_007) as f32 / 10_006.0
    }

    /// A table of noise from -0.25 to 1.25, as the lines of its entries.
    fn noise_entries(count: usize) -> String {
        (0..count * 3).fold(String::new(), |mut text, index| {
            let end = if index % 3 == 2 { '\n' } else { ' ' };
            write!(text, "{}{end}", noise(index) * 1.5 - 0.25).unwrap();
            text
        })
    }

    /// What ffmpeg's filter makes of the colours, as 32-bit floats.
    fn filtered_by_ffmpeg(cube: &str, filter: &str, colors: &[[f32; 3]]) -> Vec<[f32; 3]> {
        // Its planes are green, blue and red.
        const PLANES: [usize; 3] = [1, 2, 0];
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("table.cube"), cube).unwrap();
        let planes: Vec<u8> = PLANES
            .iter()
            .flat_map(|&channel| {
                colors
                    .iter()
                    .flat_map(move |rgb| rgb[channel].to_le_bytes())
            })
            .collect();
        fs::write(folder.path().join("in.raw"), planes).unwrap();
        let size = format!("{}x1", colors.len());
        let raw = ["-f", "rawvideo", "-pix_fmt", "gbrpf32le"];
        let run = Command::new("ffmpeg")
            .current_dir(folder.path())
            .args(["-v", "error"])
            .args(raw)
            .args(["-s", &size, "-i", "in.raw", "-vf", filter])
            .args(raw)
            .arg("out.raw")
            .output()
            .unwrap();
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
        let out = fs::read(folder.path().join("out.raw")).unwrap();
        let values: Vec<_> = out
            .as_chunks()
            .0
            .iter()
            .map(|&bytes| f32::from_le_bytes(bytes))
            .collect();
        let mut filtered = vec![[0.0; 3]; colors.len()];
        for (plane, channel) in values.chunks(colors.len()).zip(PLANES) {
            for (rgb, &value) in filtered.iter_mut().zip(plane) {
                rgb[channel] = value;
            }
        }
        filtered
    }

    #[track_caller]
    fn assert_as_ffmpeg(cube: &str, filter: &str) {
        let mut colors: Vec<_> = (0..4000)
            .map(|index| [noise(index), noise(index * 3 + 1), noise(index * 5 + 2)])
            .collect();
        colors.extend([
            [0.0; 3],
            [1.0; 3],
            [-0.5, 0.5, 1.5],
            [0.5; 3],
            [1.0, 0.5, 0.5],
        ]);
        let lut = CubeLut::parse(cube.as_bytes()).unwrap();
        for (&rgb, expected) in colors.iter().zip(filtered_by_ffmpeg(cube, filter, &colors)) {
            for (given, expected) in lut.apply(rgb).iter().zip(expected) {
                let error = (given - f64::from(expected)).abs();
                // Its arithmetic has 24 bits, of which a place in 65 entries takes six.
                assert!(error < 2e-5, "{rgb:?} becomes {given}, not {expected}");
            }
        }
    }

    #[test]
    fn lattices_are_interpolated_as_ffmpeg_does() {
        for size in [2, 3, 17, 33] {
            let cube = format!("LUT_3D_SIZE {size}\n{}", noise_entries(size * size * size));
            assert_as_ffmpeg(&cube, "lut3d=table.cube:interp=tetrahedral");
        }
    }

    #[test]
    fn curves_are_interpolated_as_ffmpeg_does() {
        for size in [2, 5, 65] {
            let cube = format!("LUT_1D_SIZE {size}\n{}", noise_entries(size));
            assert_as_ffmpeg(&cube, "lut1d=table.cube:interp=linear");
        }
    }

    /// ffmpeg takes every domain to start at 0.
    #[test]
    fn the_domain_is_what_the_table_stands_for() {
        let domain = "DOMAIN_MIN -1 0 0.5\nDOMAIN_MAX 1 4 1\n";
        let curve = "LUT_1D_SIZE 3\n0 0 0\n0.5 0.5 0.5\n1 1 1\n";
        let lattice = "LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n";
        for table in [curve, lattice] {
            let lut = CubeLut::parse(format!("{domain}{table}").as_bytes()).unwrap();
            assert_eq!(lut.apply([0.0, 1.0, 0.625]), [0.5, 0.25, 0.25]);
            assert_eq!(lut.apply([-9.0, 9.0, 0.5]), [0.0, 1.0, 0.0]);
        }
    }

    proptest! {
        #[test]
        fn a_lattice_of_its_own_places_changes_nothing(
            rgb in prop::array::uniform3(0.0_f32..=1.0), size in 2_u32..20,
        ) {
            let count = size as usize;
            let place = |index| index as f32 / (size - 1) as f32;
            let entries = (0..count.pow(3)).map(|index| {
                [index % count, index / count % count, index / count / count].map(place)
            });
            let lut = CubeLut {
                kind: LutKind::ThreeD { size, rgb: entries.collect() },
                domain_min: [0.0; 3],
                domain_max: [1.0; 3],
            };
            for (given, expected) in lut.apply(rgb).into_iter().zip(rgb) {
                prop_assert!((given - f64::from(expected)).abs() < 1e-6);
            }
        }
    }
}
