//! What is said when a text is not drawn in the font that it asks for.

use std::fmt;

/// A font or a character that could not be had, and what was drawn instead.
///
/// It is logged once, as a warning; the text is drawn all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FontNotice {
    /// The font's name or path as the scene has it, or the characters that no font has.
    pub asked: String,
    /// The name of the font that is used instead, or what is drawn for the characters.
    pub used: String,
    /// Why.
    pub reason: FontProblem,
}

/// Why a font or a character could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FontProblem {
    /// Neither the bundled nor an installed family has that name.
    #[error("no font of that name is installed")]
    NotInstalled,
    /// The file could not be read.
    #[error("the file cannot be read: {problem}")]
    Unreadable {
        /// What the system said.
        problem: String,
    },
    /// The path is that of a folder, a pipe or a device.
    #[error("it is a folder, a pipe or a device, not a file")]
    NotAFile,
    /// The file is larger than any font.
    #[error("the file has {file_bytes} bytes; at most {max_bytes} are read")]
    TooLarge {
        /// Its size.
        file_bytes: u64,
        /// The limit.
        max_bytes: u64,
    },
    /// The file is damaged, or something else than a font.
    #[error("the file is not a TrueType or OpenType font, or it is damaged")]
    NotAFont,
    /// No font, of those named, bundled and installed, has the characters.
    #[error("no font has these characters")]
    NoGlyph,
}

impl fmt::Display for FontNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            asked,
            used,
            reason,
        } = self;
        write!(f, "text: {asked}: {reason}; {used} is used instead")
    }
}
