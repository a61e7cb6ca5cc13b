// Where a layer lies, shared by all `layer_*.wgsl`, which are compiled with this file before them.
//
// Everything is derived from whole pixel positions in the full frame, never from interpolated
// values: a pixel comes out the same whichever tile it is drawn in.
//
// "Box space" has the layer's own axes and the frame's pixels; its origin is the box's corner.

// Whether the box covers every pixel of the bounds wholly, so that coverage need not be computed.
override COVERS_BOUNDS: bool = false;

struct Layer {
    // Turns frame axes to the box's.
    box_from_frame: mat2x2<f32>,
    // From the origin to the box's left and top edges, and to its right and bottom ones; negative
    // where the origin lies outside.
    near_edges: vec2<f32>,
    far_edges: vec2<f32>,
    // The pixel of the full frame that offsets are counted from.
    origin: vec2<i32>,
    // The position of the target's first pixel in the full frame.
    tile_origin: vec2<i32>,
    // The target's pixels to draw: first column and row, and those after the last.
    bounds: vec4<i32>,
    target_size: vec2<f32>,
}

@group(0) @binding(0) var<uniform> layer: Layer;

// Covers the bounds with a strip of two triangles.
@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let x = select(layer.bounds.x, layer.bounds.z, (index & 1u) != 0u);
    let y = select(layer.bounds.y, layer.bounds.w, (index & 2u) != 0u);
    let part = vec2<f32>(vec2<i32>(x, y)) / layer.target_size;
    return vec4<f32>(part.x * 2.0 - 1.0, 1.0 - part.y * 2.0, 0.0, 1.0);
}

// How far a pixel's centre lies from the layer's origin, in box space.
fn offset_from_origin(position: vec4<f32>) -> vec2<f32> {
    let pixel = vec2<i32>(position.xy) + layer.tile_origin - layer.origin;
    return layer.box_from_frame * (vec2<f32>(pixel) + 0.5);
}

// How much of the pixel at `offset` the box covers, 0 to 1.
//
// Along each axis this is the exact area of the pixel's square between two parallel edges, so that
// a box thinner than a pixel keeps its weight. The product of both is exact for an upright box and
// differs from the true area only in the pixels at the corners of a rotated one.
fn coverage(offset: vec2<f32>) -> f32 {
    if COVERS_BOUNDS {
        return 1.0;
    }
    let near = layer.near_edges + offset;
    let far = layer.far_edges - offset;
    let between = saturate(area_inside(near) + area_inside(far) - 1.0);
    return between.x * between.y;
}

// The area of a pixel's square on the inner side of an edge, for an edge along each axis; negative
// distances are of centres outside. Across an edge the square's extent has the density of a
// trapezoid, as wide as |cos| + |sin| at its foot and |cos| - |sin| at its top; this is its
// integral.
fn area_inside(distance: vec2<f32>) -> vec2<f32> {
    let cos_sin = abs(layer.box_from_frame[0]);
    let major = max(cos_sin.x, cos_sin.y);
    let minor = min(cos_sin.x, cos_sin.y);
    let foot = (major + minor) * 0.5;
    let top = (major - minor) * 0.5;
    let depth = min(abs(distance), vec2<f32>(foot));
    let rest = foot - depth;
    let on_top = depth * (1.0 / major);
    let on_slope = 0.5 - rest * rest * (0.5 / max(major * minor, 1e-12));
    let beyond_middle = select(on_slope, on_top, depth <= vec2<f32>(top));
    return 0.5 + select(-beyond_middle, beyond_middle, distance > vec2<f32>(0.0));
}
