//! File names with a place for the frame number.

use std::path::{Path, PathBuf};

/// The path of each file of a numbered sequence.
///
/// In the file name, `%d` stands for the frame number, `%05d` for the frame number padded with
/// zeros to five digits (or up to 20), and `%%` for a percent sign. The folders before it are
/// taken as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    folder: PathBuf,
    before: String,
    digits: usize,
    after: String,
}

impl NamePattern {
    /// The pattern in the last part of `path`.
    ///
    /// # Errors
    ///
    /// If the file name is not Unicode, or has no place for the number, several, or anything else
    /// behind a percent sign.
    pub fn parse(path: &Path) -> Result<Self, NamePatternError> {
        let error = || NamePatternError {
            path: path.to_owned(),
        };
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .ok_or_else(error)?;

        let mut before = None;
        let mut text = String::new();
        let mut rest = name;
        while let Some((literal, directive)) = rest.split_once('%') {
            text.push_str(literal);
            if let Some(behind) = directive.strip_prefix('%') {
                text.push('%');
                rest = behind;
            } else {
                let (flags, behind) = directive.split_once('d').ok_or_else(error)?;
                let digits = parse_digits(flags).ok_or_else(error)?;
                if before
                    .replace((std::mem::take(&mut text), digits))
                    .is_some()
                {
                    return Err(error());
                }
                rest = behind;
            }
        }
        text.push_str(rest);

        let (before, digits) = before.ok_or_else(error)?;
        Ok(Self {
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            before,
            digits,
            after: text,
        })
    }

    /// The path of the file of frame `number`.
    #[must_use]
    pub fn path_of(&self, number: u64) -> PathBuf {
        let Self {
            folder,
            before,
            digits,
            after,
        } = self;
        folder.join(format!("{before}{number:0digits$}{after}"))
    }
}

/// The least number of digits that the text between `%` and `d` asks for.
fn parse_digits(flags: &str) -> Option<usize> {
    /// Digits of the largest frame number.
    const MAX: usize = 20;
    if flags.is_empty() {
        return Some(1);
    }
    let is_padded = flags.starts_with('0') && flags.bytes().all(|byte| byte.is_ascii_digit());
    let digits = flags.parse().ok().filter(|_| is_padded)?;
    (1..=MAX).contains(&digits).then_some(digits)
}

/// A file name that does not say where the frame number goes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the file name of a sequence has one place for the frame number, %d or with leading zeros \
     %05d (at most %020d), and %% for each percent sign, unlike {}", path.display()
)]
pub struct NamePatternError {
    /// The path whose last part is no pattern.
    pub path: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_name(pattern: &str, number: u64, expected: &str) {
        let parsed = NamePattern::parse(Path::new(pattern)).expect(pattern);
        assert_eq!(parsed.path_of(number), Path::new(expected));
    }

    #[test]
    fn numbers_take_the_place_of_the_directive() {
        assert_name("%d.png", 7, "7.png");
        assert_name("a%d", 0, "a0");
        assert_name("out/frame_%05d.png", 42, "out/frame_00042.png");
        assert_name("f%03d.png", 12_345, "f12345.png");
        assert_name("f%020d.png", u64::MAX, "f18446744073709551615.png");
        assert_name("%01d.png", 10, "10.png");
    }

    #[test]
    fn doubled_percent_signs_are_percent_signs() {
        assert_name("%%%d%%.png", 5, "%5%.png");
        assert_name("100%%d_%d.png", 5, "100%d_5.png");
    }

    #[test]
    fn folders_are_taken_as_they_are() {
        assert_name("50%/%s/%d.png", 1, "50%/%s/1.png");
        assert_name("/%d.png", 1, "/1.png");
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for pattern in [
            "frame.png",
            "50%%.png",
            "%d_%d.png",
            "%",
            "%5d.png",
            "%0d.png",
            "%00d.png",
            "%021d.png",
            "%099999999999999999999d.png",
            "%+05d.png",
            "%-5d.png",
            "%i.png",
            "%s.png",
            "%05x.png",
            "%1.5d.png",
            "%d%.png",
            "% d.png",
            "%é d.png",
            "%d/..",
            "",
        ] {
            let error = NamePattern::parse(Path::new(pattern)).expect_err(pattern);
            assert!(
                error.to_string().ends_with(&format!("unlike {pattern}")),
                "{error}"
            );
        }
    }
}
