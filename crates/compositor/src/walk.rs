//! Goes through all layers of a scene, those in groups and clips included.

use std::collections::HashMap;

use crate::content::Content;
use crate::layer::Layer;
use crate::place::Place;
use crate::scene::Scene;

/// A layer on the way.
pub(crate) struct Visit<'list, 'a> {
    pub(crate) layer: &'a Layer,
    /// The layers of the list that it is in.
    pub(crate) siblings: &'list Names<'a>,
    /// The number of layers around it.
    pub(crate) depth: usize,
}

/// The layers of a list by their names; of a name that several have, none.
pub(crate) type Names<'a> = HashMap<&'a str, Option<&'a Layer>>;

/// Calls `visit` for every layer, those around others first, until it fails.
///
/// How deep it goes is up to `visit`, which fails where layers lie too deep in each other.
pub(crate) fn layers<'a, E>(
    scene: &'a Scene,
    visit: &mut impl FnMut(Visit<'_, 'a>, &Place) -> Result<(), E>,
) -> Result<(), E> {
    list(&scene.layers, &Place::root().field("layers"), 0, visit)
}

fn list<'a, E>(
    layers: &'a [Layer],
    place: &Place,
    depth: usize,
    visit: &mut impl FnMut(Visit<'_, 'a>, &Place) -> Result<(), E>,
) -> Result<(), E> {
    let siblings = names(layers);
    for (index, layer) in layers.iter().enumerate() {
        let place = place.index(index);
        visit(
            Visit {
                layer,
                siblings: &siblings,
                depth,
            },
            &place,
        )?;
        let content = place.field("content");
        match &layer.content {
            Content::Group(group) => {
                let place = content.field("group").field("layers");
                list(&group.layers, &place, depth + 1, visit)?;
            }
            Content::Sequence(sequence) => {
                let clips = content.field("sequence").field("clips");
                for (index, clip) in sequence.clips.iter().enumerate() {
                    let place = clips.index(index).field("layers");
                    list(&clip.layers, &place, depth + 1, visit)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// In one go, as a list may have hundreds of thousands of layers.
fn names(layers: &[Layer]) -> Names<'_> {
    let mut names = Names::new();
    for layer in layers.iter().filter(|layer| !layer.name.is_empty()) {
        names
            .entry(&layer.name)
            .and_modify(|named| *named = None)
            .or_insert(Some(layer));
    }
    names
}
