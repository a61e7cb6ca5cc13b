//! What of a text is drawn, and what only says how.

use unicode_segmentation::UnicodeSegmentation;

/// Cuts a text where its lines end: at the mandatory breaks of UAX #14.
pub(super) fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((at, separator)) = text.char_indices().find(|&(_, c)| is_line_break(c)) else {
            rest = None;
            return Some(text);
        };
        let after = &text[at + separator.len_utf8()..];
        rest = Some(match separator {
            '\r' => after.strip_prefix('\n').unwrap_or(after),
            _ => after,
        });
        Some(&text[..at])
    })
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// What a reader takes for one character each, in order, without control characters: the clusters
/// that must come from one font.
pub(super) fn clusters(paragraph: &str) -> impl Iterator<Item = &str> {
    paragraph
        .graphemes(true)
        .filter(|cluster| !cluster.chars().all(|c| c.is_control() && c != '\t'))
}

/// Whether a font needs a glyph for `c`. Spaces are made up where a font has none, and characters
/// that are ignorable by default are not seen.
pub(super) fn needs_glyph(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !is_default_ignorable(c)
}

/// Whether the cluster asks for its picture in colour, by U+FE0F VARIATION SELECTOR-16.
pub(super) fn asks_for_color(cluster: &str) -> bool {
    cluster.contains('\u{fe0f}')
}

/// The property `Default_Ignorable_Code_Point` of Unicode's DerivedCoreProperties.txt.
fn is_default_ignorable(c: char) -> bool {
    matches!(
        u32::from(c),
        0xad | 0x34f
            | 0x61c
            | 0x115f..=0x1160
            | 0x17b4..=0x17b5
            | 0x180b..=0x180f
            | 0x200b..=0x200f
            | 0x202a..=0x202e
            | 0x2060..=0x206f
            | 0x3164
            | 0xfe00..=0xfe0f
            | 0xfeff
            | 0xffa0
            | 0xfff0..=0xfff8
            | 0x1bca0..=0x1bca3
            | 0x1d173..=0x1d17a
            | 0xe0000..=0xe0fff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_break_ends_a_line_once() {
        let lines: Vec<_> = paragraphs("a\r\nb\rc\nd\u{2028}e\u{85}\u{2029}f\n").collect();
        assert_eq!(lines, ["a", "b", "c", "d", "e", "", "f", ""]);
        assert_eq!(paragraphs("").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn clusters_are_whole_and_without_controls() {
        let text = "a\0e\u{301}\t\u{1b}👍🏽👩\u{200d}🚀";
        let seen: Vec<_> = clusters(text).collect();
        assert_eq!(seen, ["a", "e\u{301}", "\t", "👍🏽", "👩\u{200d}🚀"]);
    }
}
