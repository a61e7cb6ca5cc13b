//! Goes through all layers of a scene, those in groups and clips included.

use crate::content::Content;
use crate::layer::Layer;
use crate::place::Place;
use crate::scene::Scene;

/// A layer on the way.
pub(crate) struct Visit<'a> {
    pub(crate) layer: &'a Layer,
    /// The list that it is in.
    pub(crate) siblings: &'a [Layer],
    /// The number of layers around it.
    pub(crate) depth: usize,
}

/// Calls `visit` for every layer, those around others first, until it fails.
///
/// How deep it goes is up to `visit`, which fails where layers lie too deep in each other.
pub(crate) fn layers<'a, E>(
    scene: &'a Scene,
    visit: &mut impl FnMut(Visit<'a>, &Place) -> Result<(), E>,
) -> Result<(), E> {
    list(&scene.layers, &Place::root().field("layers"), 0, visit)
}

fn list<'a, E>(
    siblings: &'a [Layer],
    place: &Place,
    depth: usize,
    visit: &mut impl FnMut(Visit<'a>, &Place) -> Result<(), E>,
) -> Result<(), E> {
    for (index, layer) in siblings.iter().enumerate() {
        let place = place.index(index);
        visit(
            Visit {
                layer,
                siblings,
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
