//! Against the shaper's own raster.

use std::ops::Range;

use cosmic_text::{
    Attrs, Buffer, CacheKeyFlags, Color, Family, FontSystem, Metrics, Shaping, SwashCache, Weight,
    fontdb,
};
use glam::{DMat3, DVec2};

use super::*;

const WIDTH: usize = 900;
const HEIGHT: usize = 100;

/// Coverage, 0 to 1, in rows.
struct Raster(Vec<f64>);

/// Glyphs that lie apart from each other, so that each can be found by the gaps beside it.
const TEXT: &str = "H x g S 8 & Ж θ ß j W";

#[test]
fn glyphs_lie_where_the_shaper_draws_them() {
    for (size, weight) in [(40.0, 400), (64.0, 700)] {
        let theirs = shapers(size, weight);
        let ours = ours(size, weight);
        let glyphs = theirs.glyphs();
        assert_eq!(glyphs.len(), TEXT.split(' ').count());
        assert_eq!(ours.glyphs().len(), glyphs.len());
        for (theirs_at, ours_at) in glyphs.into_iter().zip(ours.glyphs()) {
            let [their_area, their_middle] = theirs.area_and_middle(theirs_at);
            let [our_area, our_middle] = ours.area_and_middle(ours_at);
            // The shaper moves glyphs to quarters of a pixel.
            let distance = (their_middle - our_middle).abs();
            assert!(distance.max_element() < 0.3, "{distance}");
            let ratio = our_area.x / their_area.x;
            assert!((0.98..1.02).contains(&ratio), "{ratio}");
        }
    }
}

fn shapers(size: f32, weight: u16) -> Raster {
    let mut fonts = fontdb::Database::new();
    let inter = include_bytes!("../../../assets/fonts/InterVariable.ttf");
    fonts.load_font_data(inter.to_vec());
    let mut fonts = FontSystem::new_with_locale_and_db("en-US".to_owned(), fonts);
    let family = fonts.db().faces().next().unwrap().families[0].0.clone();
    let attributes = Attrs::new()
        .family(Family::Name(&family))
        .weight(Weight(weight))
        .cache_key_flags(CacheKeyFlags::DISABLE_HINTING);
    let mut buffer = Buffer::new(&mut fonts, Metrics::new(size, size * 1.2));
    buffer.set_text(TEXT, &attributes, Shaping::Advanced, None);
    buffer.shape_until_scroll(&mut fonts, false);
    let mut raster = Raster(vec![0.0; WIDTH * HEIGHT]);
    let black = Color::rgb(0, 0, 0);
    buffer.draw(
        &mut fonts,
        &mut SwashCache::new(),
        black,
        |x, y, _, _, color| {
            if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) {
                raster.0[y * WIDTH + x] += f64::from(color.a()) / 255.0;
            }
        },
    );
    raster
}

fn ours(size: f32, weight: u16) -> Raster {
    let text = Text {
        weight,
        ..Text::new(TEXT, f64::from(size))
    };
    let layout = layout(&text);
    // The shaper moves baselines to whole pixels.
    let baseline = layout.block.glyphs[0].origin.y;
    let matrix = DMat3::from_translation(DVec2::new(0.0, baseline.trunc() - baseline));
    let mask = &masks(&layout, matrix, FRAME)[0];
    let pixels =
        (0..HEIGHT * WIDTH).map(|index| [index % WIDTH, index / WIDTH].map(|at| at as i32));
    Raster(
        pixels
            .map(|[x, y]| f64::from(coverage_at(mask, x, y)) / 255.0)
            .collect(),
    )
}

impl Raster {
    /// The columns of each glyph.
    fn glyphs(&self) -> Vec<Range<usize>> {
        let is_inked = |x: &usize| (0..HEIGHT).any(|y| self.0[y * WIDTH + x] > 0.0);
        let inked: Vec<usize> = (0..WIDTH).filter(is_inked).collect();
        inked
            .chunk_by(|last, next| last + 1 == *next)
            .map(|run| run[0]..run[run.len() - 1] + 1)
            .collect()
    }

    fn area_and_middle(&self, columns: Range<usize>) -> [DVec2; 2] {
        let mut area = 0.0;
        let mut moment = DVec2::ZERO;
        for y in 0..HEIGHT {
            for x in columns.clone() {
                let covered = self.0[y * WIDTH + x];
                area += covered;
                moment += DVec2::new(x as f64, y as f64) * covered;
            }
        }
        [DVec2::splat(area), moment / area]
    }
}
