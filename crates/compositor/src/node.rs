//! A scene at one time: all values known, all places in pixels of the frame.

use std::sync::Arc;

use glam::{DMat2, DMat3, DVec2, DVec4};

use crate::assets::LutAsset;
use crate::custom::CheckedShader;
use crate::effects::Grade;
use crate::layer::BlendMode;
use crate::pipelines::{GradientKind, MaskKind};
use crate::placement::{PixelMap, Placement, Rect};
use crate::rect::IntRect;
use crate::text::TextLayout;
use crate::texture::ImageTexture;
use crate::uniforms::{Corner, Outline};

/// A layer that is seen.
#[derive(Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) body: Body,
    /// The pixels that the layer can change, effects included; may reach beyond the frame.
    pub(crate) bounds: IntRect,
    /// More than 0, at most 1.
    pub(crate) opacity: f64,
    pub(crate) blend: BlendMode,
    pub(crate) grade: Option<GradeNode>,
    /// Standard deviations in pixels of the frame; 0 for none.
    pub(crate) blur: f64,
    pub(crate) background_blur: f64,
    pub(crate) mask: Option<Box<MaskNode>>,
    pub(crate) shadow: Option<ShadowNode>,
}

/// What is seen of a layer before anything is done to it.
#[derive(Debug, PartialEq)]
pub(crate) struct Body {
    pub(crate) appearance: Appearance,
    pub(crate) placement: Placement,
    pub(crate) map: PixelMap,
    pub(crate) corner: Corner,
    /// The pixels that it can change.
    pub(crate) bounds: IntRect,
}

/// What a layer shows, colours in the scene's blending space with alpha multiplied in.
#[derive(Debug, PartialEq)]
pub(crate) enum Appearance {
    Solid(DVec4),
    Shape {
        fill: DVec4,
        stroke: DVec4,
        /// How far the stroke reaches beyond the edge and into the shape, in layer pixels.
        outwards: f64,
        inwards: f64,
    },
    Gradient {
        kind: GradientKind,
        stops: Vec<(f64, DVec4)>,
        /// The gradient's own position of the layer's pixel p is `matrix (p - center)`.
        matrix: DMat2,
        center: DVec2,
    },
    Image {
        texture: ImageTexture,
        /// Texture coordinates of the layer's pixel p are `scale p + offset`.
        scale: DVec2,
        offset: DVec2,
    },
    /// Colours that a function of the author's finds.
    Custom {
        shader: Arc<CheckedShader>,
        uniforms: Vec<u8>,
        /// Width and height of the box in the content's pixels.
        content_size: DVec2,
        seconds: f64,
    },
    Text {
        layout: TextLayout,
        /// From pixels of the text's block.
        frame_from_block: DMat3,
        is_clipped: bool,
    },
    /// Composited together, within the box or beyond it.
    Group {
        nodes: Vec<Node>,
        is_clipped: bool,
    },
    /// Two groups, of which one takes the place of the other.
    Mix {
        old: Vec<Node>,
        new: Vec<Node>,
        progress: Progress,
    },
    /// The sum of several moments, each at the same weight; those at which nothing is seen are left
    /// out.
    Average {
        moments: Vec<Body>,
        weight: f64,
    },
}

/// How far one group has taken the other's place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Progress {
    /// Everywhere the same, 0 to 1.
    Even(f64),
    /// 1 where the ramp `slope · p + start` over the layer's pixels p is 1 or more, 0 where it is 0
    /// or less.
    Ramp { slope: DVec2, start: f64 },
    /// The same, where both groups end at the ramp by themselves, if they reach no further: in the
    /// pixels of the ramp each is seen as far as it covers them.
    Edge { slope: DVec2, start: f64 },
}

/// Changes to colours.
#[derive(Debug, PartialEq)]
pub(crate) struct GradeNode {
    pub(crate) settings: Grade,
    pub(crate) lut: Option<LutAsset>,
}

/// Where a layer is seen.
#[derive(Debug, PartialEq)]
pub(crate) struct MaskNode {
    /// Nothing, if the mask is not seen at this time.
    pub(crate) node: Option<Node>,
    pub(crate) kind: MaskKind,
}

/// A shadow, in pixels of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShadowNode {
    pub(crate) color: DVec4,
    pub(crate) offset: DVec2,
    pub(crate) blur: f64,
    pub(crate) spread: f64,
}

impl Body {
    /// The box that the layer covers.
    pub(crate) fn outline(&self) -> Outline {
        Outline {
            map: self.map,
            rect: self.placement.visible,
            corner: self.corner,
        }
    }

    /// Whether it is drawn by one draw that takes an opacity.
    pub(crate) fn is_single_draw(&self) -> bool {
        match &self.appearance {
            Appearance::Solid(_)
            | Appearance::Shape { .. }
            | Appearance::Gradient { .. }
            | Appearance::Image { .. }
            | Appearance::Custom { .. } => true,
            Appearance::Text {
                layout, is_clipped, ..
            } => !is_clipped && layout.is_single_part(),
            Appearance::Group { .. } | Appearance::Mix { .. } | Appearance::Average { .. } => false,
        }
    }

    /// Whether drawing its parts onto what is behind it comes to the same as compositing them first.
    pub(crate) fn passes_through(&self) -> bool {
        match &self.appearance {
            Appearance::Group { nodes, is_clipped } => {
                !is_clipped && nodes.iter().all(Node::passes_through)
            }
            _ => self.is_single_draw(),
        }
    }

    /// Whether every pixel that it covers wholly is opaque.
    pub(crate) fn is_opaque(&self) -> bool {
        match &self.appearance {
            Appearance::Solid(color) => color.w >= 1.0,
            Appearance::Gradient { stops, .. } => stops.iter().all(|(_, color)| color.w >= 1.0),
            Appearance::Image { texture, .. } => texture.is_opaque,
            _ => false,
        }
    }
}

impl Node {
    fn passes_through(&self) -> bool {
        self.blend == BlendMode::Normal && self.background_blur == 0.0
    }

    /// Whether nothing is done to the layer but to fade it.
    pub(crate) fn is_plain(&self) -> bool {
        self.blend == BlendMode::Normal && self.is_bare()
    }

    /// Whether one draw shows it, but for how it is blended with what is behind it.
    pub(crate) fn is_single_draw(&self) -> bool {
        self.is_bare() && self.body.is_single_draw()
    }

    /// Whether it is without effects of its own.
    fn is_bare(&self) -> bool {
        self.grade.is_none() && self.blur == 0.0 && self.mask.is_none() && self.shadow.is_none()
    }

    /// Whether it hides what is behind the pixels that its body covers wholly.
    pub(crate) fn hides(&self) -> bool {
        self.opacity == 1.0
            && self.blend == BlendMode::Normal
            && self.blur == 0.0
            && self.mask.is_none()
            && self.body.is_opaque()
    }
}

impl Outline {
    /// Whether every pixel of `bounds` lies wholly within.
    pub(crate) fn covers(&self, bounds: IntRect) -> bool {
        let Self { map, rect, corner } = self;
        if corner.extent == DVec2::ZERO {
            return map.covers(*rect, bounds);
        }
        let inset = |by: DVec2| Rect {
            min: rect.min + by,
            max: rect.max - by,
        };
        map.covers(inset(corner.extent.with_y(0.0)), bounds)
            || map.covers(inset(corner.extent.with_x(0.0)), bounds)
    }
}
