//! Lookup tables in `.cube` files (Adobe, "Cube LUT Specification", version 1.0).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::effects::{Lut, LutTable};

/// The most bytes that a `.cube` file may have: a table of 129³ entries with 60 characters each.
pub const MAX_LUT_FILE_BYTES: u64 = 128 << 20;

/// The sizes that a one-dimensional table may have, as in the specification.
pub const LUT_1D_SIZES: RangeInclusive<u32> = 2..=65_536;

/// The sizes that a side of a three-dimensional table may have.
///
/// The specification goes up to 256. Programs write 17, 33, 65 or, seldom, 129; the last takes 34
/// MB of GPU memory as 32-bit floats, and 256 would take 268.
pub const LUT_3D_SIZES: RangeInclusive<u32> = 2..=129;

/// Far more than the 250 bytes that the specification allows, for titles and comments.
const MAX_LINE_BYTES: u64 = 4096;

/// A lookup table for colours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CubeLut {
    pub(crate) kind: LutKind,
    /// The colour, channel by channel, that the first entry stands for.
    pub(crate) domain_min: [f32; 3],
    /// The colour that the last entry stands for; above the minimum in each channel.
    pub(crate) domain_max: [f32; 3],
}

impl CubeLut {
    /// The table as the GPU takes it.
    pub(crate) fn as_lut(&self) -> Lut<'_> {
        Lut {
            table: match &self.kind {
                LutKind::OneD(rgb) => LutTable::Curves(rgb),
                LutKind::ThreeD { size, rgb } => LutTable::Cube { size: *size, rgb },
            },
            domain_min: self.domain_min,
            domain_max: self.domain_max,
        }
    }
}

/// The entries of a table. They are finite; values outside of 0 to 1 are allowed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LutKind {
    /// A curve for each channel: red, green and blue of an entry are looked up independently.
    OneD(Vec<[f32; 3]>),
    /// A lattice of `size`³ colours, of which red changes fastest and blue slowest.
    ThreeD { size: u32, rgb: Vec<[f32; 3]> },
}

/// A LUT file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the LUT {}", path.display())]
pub struct LoadLutError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: LutProblem,
}

/// What is wrong with a LUT file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LutProblem {
    /// It is not there or cannot be read.
    #[error("it cannot be read")]
    Read(#[from] io::Error),
    /// It is a directory, a pipe or a device.
    #[error("it is not a file")]
    NotAFile,
    /// The file is larger than any table that would be allowed.
    #[error("its file has {file_bytes} bytes; at most {MAX_LUT_FILE_BYTES} are allowed")]
    FileTooLarge {
        /// The size of the file.
        file_bytes: u64,
    },
    /// A line is wrong.
    #[error("line {line}: {problem}")]
    Line {
        /// The number of the line; the first is 1.
        line: u64,
        /// What is wrong with it.
        problem: LutLineProblem,
    },
    /// The minimum of its domain is not below the maximum in each channel, or so near or far that
    /// 32-bit floats cannot tell the difference.
    #[error("its domain from {minimum:?} to {maximum:?} has no extent")]
    EmptyDomain {
        /// The minimum of each channel.
        minimum: [f32; 3],
        /// The maximum of each channel.
        maximum: [f32; 3],
    },
    /// It says nowhere how many entries it has.
    #[error("it has neither LUT_1D_SIZE nor LUT_3D_SIZE")]
    NoSize,
    /// The GPU has no memory left for it.
    #[error("the GPU has no memory left for the {bytes} bytes of its table")]
    OutOfGpuMemory {
        /// What the table takes.
        bytes: u64,
    },
    /// It ends too early.
    #[error("it has {entries} entries; its size asks for {expected}")]
    TooFewEntries {
        /// The number of entries.
        entries: usize,
        /// The number that it must be.
        expected: usize,
    },
}

/// What is wrong with a line of a LUT file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LutLineProblem {
    /// The line has more bytes than any that means something.
    #[error("it has more than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// A word that the format does not have.
    #[error("{word:?} is neither a number nor a keyword of .cube files")]
    UnknownWord {
        /// The word.
        word: String,
    },
    /// A number is missing or there are too many.
    #[error("{given} numbers where there must be {expected}")]
    NumberCount {
        /// How many there are.
        given: usize,
        /// How many there must be.
        expected: usize,
    },
    /// A number is infinite, none at all, or too large for 32-bit floats.
    #[error("{given} is not a finite number")]
    NotFinite {
        /// The number as it is written.
        given: String,
    },
    /// The size is no whole number, too small or too large.
    #[error("{keyword} is {given:?}; it must be a whole number from {minimum} to {maximum}")]
    Size {
        /// The keyword of the size.
        keyword: &'static str,
        /// What is given.
        given: String,
        /// The smallest size that is allowed.
        minimum: u32,
        /// The largest.
        maximum: u32,
    },
    /// There is a size already. Files with a table of each kind are not supported.
    #[error("a second size; there must be one table in a file")]
    SecondSize,
    /// An entry comes before the size.
    #[error("an entry before LUT_1D_SIZE or LUT_3D_SIZE")]
    EntryBeforeSize,
    /// There are more entries than the size says.
    #[error("an entry more than the {expected} that the size asks for")]
    TooManyEntries {
        /// The number of entries that there must be.
        expected: usize,
    },
}

impl CubeLut {
    /// Reads a file line by line, so that one that is too long or not what it seems takes no more
    /// memory than the table it states.
    pub(crate) fn load(path: &Path) -> Result<Self, LoadLutError> {
        let load = || {
            // Looked at before it is opened: opening a pipe waits for somebody to write to it.
            let metadata = path.metadata()?;
            if !metadata.is_file() {
                return Err(LutProblem::NotAFile);
            }
            if metadata.len() > MAX_LUT_FILE_BYTES {
                return Err(LutProblem::FileTooLarge {
                    file_bytes: metadata.len(),
                });
            }
            Self::parse(BufReader::new(File::open(path)?))
        };
        load().map_err(|problem| LoadLutError {
            path: path.to_owned(),
            problem,
        })
    }

    pub(crate) fn parse(mut reader: impl BufRead) -> Result<Self, LutProblem> {
        let mut parser = Parser::default();
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let mut limited = (&mut reader).take(MAX_LINE_BYTES + 1);
            if limited.read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            let parsed = if bytes.len() as u64 > MAX_LINE_BYTES {
                Err(LutLineProblem::TooLong)
            } else {
                // Titles and comments of old programs are in any encoding.
                parser.line(&String::from_utf8_lossy(&bytes))
            };
            parsed.map_err(|problem| LutProblem::Line { line, problem })?;
        }
        parser.finish()
    }
}

/// What the lines so far say.
#[derive(Default)]
struct Parser {
    table: Option<Table>,
    domain: Domain,
}

/// A table that is being filled.
struct Table {
    dimensions: Dimensions,
    size: u32,
    expected: usize,
    entries: Vec<[f32; 3]>,
}

#[derive(Clone, Copy)]
enum Dimensions {
    One,
    Three,
}

/// The colours that the first and the last entry stand for.
struct Domain {
    minimum: [f32; 3],
    maximum: [f32; 3],
}

impl Default for Domain {
    fn default() -> Self {
        Self {
            minimum: [0.0; 3],
            maximum: [1.0; 3],
        }
    }
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), LutLineProblem> {
        const BYTE_ORDER_MARK: char = '\u{feff}';
        let line = line.trim_start_matches(BYTE_ORDER_MARK).trim();
        let mut words = line.split_whitespace();
        let Some(first) = words.next().filter(|word| !word.starts_with('#')) else {
            return Ok(());
        };
        match first.to_ascii_uppercase().as_str() {
            "TITLE" => Ok(()),
            "LUT_1D_SIZE" => self.size(Dimensions::One, words),
            "LUT_3D_SIZE" => self.size(Dimensions::Three, words),
            "DOMAIN_MIN" => {
                self.domain.minimum = numbers(words)?;
                Ok(())
            }
            "DOMAIN_MAX" => {
                self.domain.maximum = numbers(words)?;
                Ok(())
            }
            // Not in the specification; DaVinci Resolve writes one range for all channels.
            "LUT_1D_INPUT_RANGE" | "LUT_3D_INPUT_RANGE" => {
                let [minimum, maximum] = numbers(words)?;
                self.domain = Domain {
                    minimum: [minimum; 3],
                    maximum: [maximum; 3],
                };
                Ok(())
            }
            _ => self.entry(numbers(line.split_whitespace())?),
        }
    }

    fn size<'a>(
        &mut self,
        dimensions: Dimensions,
        words: impl Iterator<Item = &'a str>,
    ) -> Result<(), LutLineProblem> {
        if self.table.is_some() {
            return Err(LutLineProblem::SecondSize);
        }
        let (keyword, allowed) = match dimensions {
            Dimensions::One => ("LUT_1D_SIZE", LUT_1D_SIZES),
            Dimensions::Three => ("LUT_3D_SIZE", LUT_3D_SIZES),
        };
        let given = words.collect::<Vec<_>>().join(" ");
        let size = match given.parse() {
            Ok(size) if allowed.contains(&size) => size,
            _ => {
                return Err(LutLineProblem::Size {
                    keyword,
                    given,
                    minimum: *allowed.start(),
                    maximum: *allowed.end(),
                });
            }
        };
        self.table = Some(Table {
            dimensions,
            size,
            expected: match dimensions {
                Dimensions::One => size as usize,
                Dimensions::Three => (size as usize).pow(3),
            },
            entries: Vec::new(),
        });
        Ok(())
    }

    fn entry(&mut self, entry: [f32; 3]) -> Result<(), LutLineProblem> {
        let table = self.table.as_mut().ok_or(LutLineProblem::EntryBeforeSize)?;
        if table.entries.len() == table.expected {
            return Err(LutLineProblem::TooManyEntries {
                expected: table.expected,
            });
        }
        table.entries.push(entry);
        Ok(())
    }

    fn finish(self) -> Result<CubeLut, LutProblem> {
        let Table {
            dimensions,
            size,
            expected,
            entries,
        } = self.table.ok_or(LutProblem::NoSize)?;
        if entries.len() < expected {
            return Err(LutProblem::TooFewEntries {
                entries: entries.len(),
                expected,
            });
        }
        let Domain { minimum, maximum } = self.domain;
        let has_extent = |(minimum, maximum)| {
            let extent: f32 = maximum - minimum;
            extent > 0.0 && extent.is_normal()
        };
        if !minimum.into_iter().zip(maximum).all(has_extent) {
            return Err(LutProblem::EmptyDomain { minimum, maximum });
        }
        Ok(CubeLut {
            kind: match dimensions {
                Dimensions::One => LutKind::OneD(entries),
                Dimensions::Three => LutKind::ThreeD { size, rgb: entries },
            },
            domain_min: minimum,
            domain_max: maximum,
        })
    }
}

fn numbers<'a, const N: usize>(
    words: impl Iterator<Item = &'a str>,
) -> Result<[f32; N], LutLineProblem> {
    let numbers: Vec<_> = words.map(number).collect::<Result<_, _>>()?;
    let given = numbers.len();
    <[f32; N]>::try_from(numbers).map_err(|_| LutLineProblem::NumberCount { given, expected: N })
}

fn number(word: &str) -> Result<f32, LutLineProblem> {
    match word.parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(LutLineProblem::NotFinite {
            given: word.to_owned(),
        }),
        Err(_) => Err(LutLineProblem::UnknownWord {
            word: word.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    const IDENTITY_CURVE: &str = "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n";

    fn parse(text: &str) -> CubeLut {
        CubeLut::parse(text.as_bytes()).unwrap()
    }

    #[track_caller]
    fn assert_refused(text: impl AsRef<[u8]>, expected: &str) {
        let problem = CubeLut::parse(text.as_ref()).unwrap_err();
        assert_eq!(problem.to_string(), expected);
    }

    #[test]
    fn a_file_as_the_specification_has_it() {
        let lut = parse(
            "#comment\nTITLE \"Two # by two\"\n\nDOMAIN_MIN -1 0 0.5\nDOMAIN_MAX 1 2 4\n\
             LUT_3D_SIZE 2\n# table\n0 0 0\n1 0 0\n0 .75 0\n1 .75 0\n\
             0 0.25 1\n1 0.25 1\n0 1 1\n1 1 1\n",
        );
        assert_eq!(lut.domain_min, [-1.0, 0.0, 0.5]);
        assert_eq!(lut.domain_max, [1.0, 2.0, 4.0]);
        let LutKind::ThreeD { size: 2, rgb } = lut.kind else {
            panic!("{:?}", lut.kind);
        };
        assert_eq!(rgb[1], [1.0, 0.0, 0.0]);
        assert_eq!(rgb[2], [0.0, 0.75, 0.0]);
        assert_eq!(rgb[4], [0.0, 0.25, 1.0]);
        assert_eq!(rgb.len(), 8);
    }

    #[test]
    fn files_as_programs_write_them() {
        let expected = parse(IDENTITY_CURVE);
        for text in [
            "LUT_1D_SIZE 2\r\n0 0 0\r\n1 1 1\r\n",
            "\u{feff}LUT_1D_SIZE 2\n0 0 0\n1 1 1",
            "lut_1d_size 2\nLut_1D_Input_Range 0.0 1.0\n0 0 0\n1 1 1\n\n\n# end",
            "Title no quotes\n  LUT_1D_SIZE\t2  \n\t+0.0e+00 -0 0E5\n 1e0 10.0E-1 1.\n",
        ] {
            assert_eq!(parse(text), expected, "{text:?}");
        }
        let latin = [b"TITLE \"caf\xe9\"\n", IDENTITY_CURVE.as_bytes()].concat();
        assert_eq!(CubeLut::parse(&latin[..]).unwrap(), expected);

        let resolve = parse("LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE -0.5 16\n0 0 0\n1 1 1\n");
        assert_eq!(resolve.domain_min, [-0.5; 3]);
        assert_eq!(resolve.domain_max, [16.0; 3]);
    }

    #[test]
    fn entries_may_lie_outside_of_zero_to_one() {
        let lut = parse("LUT_1D_SIZE 2\n-0.5 1e-20 -3e4\n1.5 65504 3e38\n");
        let entries = vec![[-0.5, 1e-20, -3e4], [1.5, 65504.0, 3e38]];
        assert_eq!(lut.kind, LutKind::OneD(entries));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, expected) in [
            ("", "it has neither LUT_1D_SIZE nor LUT_3D_SIZE"),
            (
                "TITLE \"a\"\n# b\n",
                "it has neither LUT_1D_SIZE nor LUT_3D_SIZE",
            ),
            (
                "LUT_1D_SIZE 1\n",
                "line 1: LUT_1D_SIZE is \"1\"; it must be a whole number from 2 to 65536",
            ),
            (
                "LUT_1D_SIZE 65537\n",
                "line 1: LUT_1D_SIZE is \"65537\"; it must be a whole number from 2 to 65536",
            ),
            (
                "\nLUT_3D_SIZE 130\n",
                "line 2: LUT_3D_SIZE is \"130\"; it must be a whole number from 2 to 129",
            ),
            (
                "LUT_3D_SIZE 99999999999999999999\n",
                "line 1: LUT_3D_SIZE is \"99999999999999999999\"; it must be a whole number from 2 to 129",
            ),
            (
                "LUT_3D_SIZE 4 4\n",
                "line 1: LUT_3D_SIZE is \"4 4\"; it must be a whole number from 2 to 129",
            ),
            (
                "LUT_3D_SIZE\n",
                "line 1: LUT_3D_SIZE is \"\"; it must be a whole number from 2 to 129",
            ),
            (
                "LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n",
                "line 2: a second size; there must be one table in a file",
            ),
            (
                "0 0 0\n",
                "line 1: an entry before LUT_1D_SIZE or LUT_3D_SIZE",
            ),
            (
                "LUT_1D_SIZE 2\n0 0 0\n",
                "it has 1 entries; its size asks for 2",
            ),
            (
                "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n2 2 2\n",
                "line 4: an entry more than the 2 that the size asks for",
            ),
            (
                "LUT_1D_SIZE 2\n0 0\n",
                "line 2: 2 numbers where there must be 3",
            ),
            (
                "LUT_1D_SIZE 2\n0 0 0 0\n",
                "line 2: 4 numbers where there must be 3",
            ),
            ("DOMAIN_MIN 0\n", "line 1: 1 numbers where there must be 3"),
            (
                "LUT_3D_INPUT_RANGE 0 1 2\n",
                "line 1: 3 numbers where there must be 2",
            ),
            (
                "LUT_1D_SIZE 2\n0 nan 0\n",
                "line 2: nan is not a finite number",
            ),
            (
                "LUT_1D_SIZE 2\ninf 0 0\n",
                "line 2: inf is not a finite number",
            ),
            (
                "LUT_1D_SIZE 2\n0 0 1e39\n",
                "line 2: 1e39 is not a finite number",
            ),
            (
                "LUT_1D_SIZE 2\n0,5 0 0\n",
                "line 2: \"0,5\" is neither a number nor a keyword of .cube files",
            ),
            (
                "LUT_4D_SIZE 2\n",
                "line 1: \"LUT_4D_SIZE\" is neither a number nor a keyword of .cube files",
            ),
            (
                "LUT_1D_SIZE 2\nDOMAIN_MAX 1 0 1\n0 0 0\n1 1 1\n",
                "its domain from [0.0, 0.0, 0.0] to [1.0, 0.0, 1.0] has no extent",
            ),
            (
                "LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE -3e38 3e38\n0 0 0\n1 1 1\n",
                "its domain from [-3e38, -3e38, -3e38] to [3e38, 3e38, 3e38] has no extent",
            ),
        ] {
            assert_refused(text, expected);
        }
        let long = format!("# {}\n{IDENTITY_CURVE}", "a".repeat(4096));
        assert_refused(long, "line 1: it has more than 4096 bytes");
    }

    /// An endless line and an endless file end with an error, not with the memory.
    #[test]
    fn endless_input_is_refused() {
        let zeros = BufReader::new(io::repeat(0));
        let problem = CubeLut::parse(zeros).unwrap_err();
        assert_eq!(problem.to_string(), "line 1: it has more than 4096 bytes");

        let entries = BufReader::new(io::repeat(b'\n').take(1 << 20).chain(&b"7"[..]));
        let problem = CubeLut::parse(entries).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "line 1048577: 1 numbers where there must be 3"
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let message =
            |path: &Path| format!("{:#}", anyhow::Error::new(CubeLut::load(path).unwrap_err()));
        let folder_message = message(folder.path());
        assert!(
            folder_message.ends_with(": it is not a file"),
            "{folder_message}"
        );
        let missing = message(&folder.path().join("none.cube"));
        assert!(
            missing.contains("none.cube: it cannot be read: No such"),
            "{missing}"
        );

        // Sparse: it takes no room on the disk.
        let large = folder.path().join("large.cube");
        let file = File::create(&large).unwrap();
        file.set_len(MAX_LUT_FILE_BYTES + 1).unwrap();
        assert!(message(&large).ends_with("has 134217729 bytes; at most 134217728 are allowed"));

        let good = folder.path().join("good.cube");
        fs::write(&good, IDENTITY_CURVE).unwrap();
        assert_eq!(CubeLut::load(&good).unwrap(), parse(IDENTITY_CURVE));
    }

    #[test]
    fn a_large_lattice_is_read_whole() {
        let mut text = "LUT_3D_SIZE 129\n".to_owned();
        for index in 0..129 * 129 * 129 {
            writeln!(text, "{index} 0 0").unwrap();
        }
        let LutKind::ThreeD { size: 129, rgb } = parse(&text).kind else {
            panic!("a lattice");
        };
        assert_eq!(rgb[129 * 129 * 129 - 1], [2_146_688.0, 0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn whatever_the_bytes_are_an_answer_comes(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
            let _ = CubeLut::parse(&bytes[..]);
        }

        #[test]
        fn lines_in_any_order_give_a_finite_table_or_an_error(
            lines in prop::collection::vec(
                prop::sample::select(vec![
                    "LUT_1D_SIZE 2", "LUT_3D_SIZE 2", "DOMAIN_MIN 0 0 0", "DOMAIN_MAX 1 1 1e-40",
                    "DOMAIN_MAX 2 2 2", "0 0 0", "1e38 -1e38 0", "NaN 0 0", "TITLE", "#", "LUT_3D_INPUT_RANGE 1 0",
                ]),
                0..12,
            ),
        ) {
            if let Ok(lut) = CubeLut::parse(lines.join("\n").as_bytes()) {
                let (LutKind::OneD(entries) | LutKind::ThreeD { rgb: entries, .. }) = &lut.kind;
                prop_assert!(entries.as_flattened().iter().all(|value| value.is_finite()));
                for channel in 0..3 {
                    prop_assert!(lut.domain_min[channel] < lut.domain_max[channel]);
                }
            }
        }
    }
}
