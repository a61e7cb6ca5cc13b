//! Pixels at any transform.

use std::sync::Arc;

use glam::{DMat3, DVec2, DVec3};
use kurbo::Shape;

use super::*;
use crate::color::Color;
use crate::text::glyph::Art;
use crate::text::spec::TextOutline;

fn outlined(text: &str, size: f64, width: f64) -> Text {
    Text {
        outline: Some(TextOutline {
            width: width.into(),
            color: Color::BLACK.into(),
        }),
        ..text_in(EMOJI, text, size)
    }
}

fn turned() -> DMat3 {
    DMat3::from_translation(DVec2::new(40.3, 60.7))
        * DMat3::from_angle(0.3)
        * DMat3::from_scale(DVec2::new(1.7, 0.9))
}

fn in_perspective() -> DMat3 {
    let tilt = DMat3::from_cols(
        DVec3::new(1.0, 0.1, 0.002),
        DVec3::new(0.2, 1.0, 0.001),
        DVec3::new(20.0, 30.0, 1.0),
    );
    tilt * DMat3::from_translation(DVec2::new(3.3, 0.25))
}

/// A matrix that puts part of the text behind the viewer.
fn through_the_horizon() -> DMat3 {
    DMat3::from_cols(
        DVec3::new(1.0, 0.0, -0.01),
        DVec3::Y,
        DVec3::new(20.0, 30.0, 1.0),
    )
}

#[test]
fn tiles_are_equal_to_the_whole() {
    let mut library = library();
    let layout = library.layout(&outlined("Wide 😀\nffi &g👍🏽", 60.0, 3.0), Time::ZERO);
    let whole = rect([0, 0], [400, 300]);
    for matrix in [
        DMat3::IDENTITY,
        turned(),
        in_perspective(),
        through_the_horizon(),
    ] {
        let whole_masks = masks(&layout, matrix, whole);
        let whole_pictures = pictures(&layout, matrix, whole);
        assert_eq!([whole_masks.len(), whole_pictures.len()], [2, 1]);
        for tile_y in (0..300).step_by(100) {
            for tile_x in (0..400).step_by(80) {
                let tile = rect([tile_x, tile_y], [tile_x + 80, tile_y + 100]);
                let tile_masks = masks(&layout, matrix, tile);
                let tile_pictures = pictures(&layout, matrix, tile);
                for y in tile_y..tile_y + 100 {
                    for x in tile_x..tile_x + 80 {
                        let sum = |masks: &[TextMask]| {
                            masks
                                .iter()
                                .map(|mask| u32::from(coverage_at(mask, x, y)))
                                .sum::<u32>()
                        };
                        assert_eq!(sum(&tile_masks), sum(&whole_masks), "{x} {y}");
                        assert_eq!(
                            color_at(tile_pictures.first(), x, y),
                            color_at(whole_pictures.first(), x, y),
                            "{x} {y}"
                        );
                    }
                }
            }
        }
    }
}

fn color_at(picture: Option<&TextPicture>, x: i32, y: i32) -> [u8; 4] {
    let Some(picture) = picture else {
        return [0; 4];
    };
    let at = IVec2::new(x, y) - picture.origin;
    if at.cmplt(IVec2::ZERO).any() || at.cmpge(picture.size.as_ivec2()).any() {
        return [0; 4];
    }
    let index = at.y as usize * picture.size.x as usize + at.x as usize;
    picture.premultiplied_rgba.as_chunks().0[index]
}

#[test]
fn coverage_is_the_area_of_the_outlines_at_every_place_and_scale() {
    let layout = layout(&Text::new("Oxygen", 50.0));
    let block = &layout.block;
    let area: f64 = block
        .glyphs
        .iter()
        .map(|glyph| match &block.shapes[glyph.shape as usize].art {
            Art::Outline(path) => path.area() * block.em * block.em,
            _ => 0.0,
        })
        .sum();
    for matrix in [
        DMat3::IDENTITY,
        DMat3::from_translation(DVec2::new(0.37, 0.81)),
        turned(),
        DMat3::from_scale(DVec2::new(-1.3, 2.1)) * DMat3::from_translation(DVec2::new(-200.0, 0.0)),
    ] {
        let covered = total(&masks(&layout, matrix, FRAME)[0]);
        let expected = area * matrix.determinant().abs();
        // Contours of a variable font overlap, where they count once.
        let ratio = covered / expected;
        assert!((0.985..1.001).contains(&ratio), "{ratio}");
    }
}

#[test]
fn text_moves_by_less_than_a_pixel() {
    let layout = layout(&Text::new("l", 100.0));
    let bar = layout.block.ink;
    // A line within the bar, wherever it moves to.
    let line = bar.x1.floor() as i32 - 2;
    let right_of_line = |offset: f64| {
        let matrix = DMat3::from_translation(DVec2::new(offset, 0.0));
        let mask = &masks(&layout, matrix, FRAME)[0];
        let pixels = (0..200).flat_map(|y| (line..200).map(move |x| (x, y)));
        let covered: f64 = pixels
            .map(|(x, y)| f64::from(coverage_at(mask, x, y)))
            .sum();
        covered / 255.0 / bar.height()
    };
    let start = right_of_line(0.0);
    for step in 1..40 {
        let offset = f64::from(step) / 40.0;
        assert!((right_of_line(offset) - start - offset).abs() < 0.005);
    }
}

#[test]
fn the_outline_lies_around_the_glyphs() {
    let text = outlined("Rág & 8", 60.0, 4.0);
    let layout = layout(&text);
    let [outline, fill] = &masks(&layout, turned(), FRAME)[..] else {
        panic!("an outline and a fill");
    };
    assert_eq!(outline.color, Color::BLACK.premultiplied());
    for y in FRAME.min.y..FRAME.max.y {
        for x in FRAME.min.x..FRAME.max.x {
            assert!(
                coverage_at(outline, x, y) >= coverage_at(fill, x, y),
                "{x} {y}"
            );
        }
    }
    // A line of 4 along the edge of an l, from above and from the side.
    let bar = library().layout(&outlined("l", 100.0, 4.0), Time::ZERO);
    let [outline, fill] = &masks(&bar, DMat3::IDENTITY, FRAME)[..] else {
        panic!("an outline and a fill");
    };
    let box_ = bar.block.ink;
    let expected = box_.area() + 4.0 * box_.perimeter(0.0) + std::f64::consts::PI * 16.0;
    assert!((total(fill) - box_.area()).abs() < 1.0);
    assert!(
        (total(outline) - expected).abs() < 2.0,
        "{} {expected}",
        total(outline)
    );
}

#[test]
fn pixels_that_were_drawn_are_used_again() {
    let mut library = library();
    let text = outlined("Same 😀", 40.0, 2.0);
    let mut draw = |color: Color, matrix: DMat3| {
        let text = Text {
            color: color.into(),
            ..text.clone()
        };
        masks(&library.layout(&text, Time::ZERO), matrix, FRAME)
    };
    let first = draw(Color::WHITE, DMat3::IDENTITY);
    let again = draw(Color::BLACK, DMat3::IDENTITY);
    let moved = draw(Color::WHITE, turned());
    for index in 0..2 {
        assert_eq!(first[index].id, again[index].id);
        assert!(Arc::ptr_eq(&first[index].coverage, &again[index].coverage));
        assert_ne!(first[index].id, moved[index].id);
    }
    assert_ne!(first[1].color, again[1].color);
}

#[test]
fn what_lies_behind_the_viewer_is_not_drawn() {
    let layout = layout(&Text::new("MMMMMMMM", 50.0));
    let clip = rect([-2_000, -2_000], [2_000, 2_000]);
    let mask = &masks(&layout, through_the_horizon(), clip)[0];
    // The layer's x = 100 lies on the horizon: only what is left of it is seen, and all of that
    // lies right of x = 20, where x = 0 is.
    assert!((0..20).all(|x| (0..100).all(|y| coverage_at(mask, x, y) == 0)));
    assert!(total(mask) > 1_000.0);
    let behind = DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::new(0.0, 0.0, -1.0));
    assert!(layout.raster(behind, clip).is_empty());
    for flat in [
        DMat3::ZERO,
        DMat3::from_scale(DVec2::X),
        DMat3::from_scale(DVec2::NAN),
    ] {
        assert!(layout.raster(flat, clip).is_empty());
    }
}

#[test]
fn layouts_go_from_thread_to_thread() {
    fn is_shared<T: Send + Sync>() {}
    fn is_sent<T: Send>() {}
    is_shared::<TextLayout>();
    is_sent::<FontLibrary>();
}
