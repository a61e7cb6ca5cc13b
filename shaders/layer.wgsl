// Where a draw lies, shared by all `layer_*.wgsl`, which are compiled with this file before them.
//
// Everything is derived from whole pixel positions in the full frame, never from interpolated
// values: a pixel comes out the same whichever tile it is drawn in.
//
// "Local" positions lie in the layer, along its axes, counted from a point of it. Of affine layers
// their unit is the frame's pixel, measured across the box's edges; in perspective it is the layer's.

// How the pixels that the layer covers are told: 0 covers every pixel of the bounds wholly, so that
// nothing need be computed; 1 is a box; 2 is a box with round corners.
override COVERAGE: u32 = 1u;
override PERSPECTIVE: bool = false;

struct Layer {
    // From offsets of pixels to local positions, homogeneous.
    local_from_offset: mat3x3<f32>,
    // From the local origin to the box's left and top edges, and to its right and bottom ones;
    // negative where the origin lies outside.
    near_edges: vec2<f32>,
    far_edges: vec2<f32>,
    // How far round corners reach along the sides.
    corner: vec2<f32>,
    // 2 for ellipses, 3 for superellipses.
    corner_exponent: f32,
    // The greatest difference that dithering makes; 0 for none.
    dither: f32,
    // The pixel of the full frame that offsets are counted from.
    origin: vec2<i32>,
    // The position of the target's first pixel in the full frame.
    tile_origin: vec2<i32>,
    // The target's pixels to draw: first column and row, and those after the last.
    bounds: vec4<i32>,
    target_size: vec2<f32>,
}

// A pixel's place in the layer.
struct Place {
    local: vec2<f32>,
    // How the local position changes from pixel to pixel: one row for each of its coordinates.
    along_x: vec2<f32>,
    along_y: vec2<f32>,
    is_seen: bool,
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

// The pixel of the full frame.
fn frame_pixel(position: vec4<f32>) -> vec2<i32> {
    return vec2<i32>(position.xy) + layer.tile_origin;
}

fn place_of(position: vec4<f32>) -> Place {
    let offset = vec2<f32>(frame_pixel(position) - layer.origin) + 0.5;
    let matrix = layer.local_from_offset;
    let row_x = vec2<f32>(matrix[0].x, matrix[1].x);
    let row_y = vec2<f32>(matrix[0].y, matrix[1].y);
    if !PERSPECTIVE {
        return Place(vec2<f32>(dot(row_x, offset), dot(row_y, offset)), row_x, row_y, true);
    }
    // The inverse of the distance from the eye, as w of the map from the layer is that distance:
    // nearer than `NEAREST` nothing is drawn.
    const FARTHEST: f32 = 100.0;
    let row_w = vec2<f32>(matrix[0].z, matrix[1].z);
    let w = dot(row_w, offset) + matrix[2].z;
    let is_seen = w > 0.0 && w < FARTHEST;
    let per_w = 1.0 / select(1.0, w, is_seen);
    let local = (vec2<f32>(dot(row_x, offset), dot(row_y, offset)) + matrix[2].xy) * per_w;
    return Place(
        local,
        (row_x - row_w * local.x) * per_w,
        (row_y - row_w * local.y) * per_w,
        is_seen,
    );
}

// How much of the pixel the layer covers, 0 to 1.
fn coverage(place: Place) -> f32 {
    return box_coverage(place, layer.near_edges, layer.far_edges, layer.corner);
}

// How much of the pixel a box covers.
//
// Along each axis this is the exact area of the pixel's square between two parallel edges, so that
// a box thinner than a pixel keeps its weight. The product of both is exact for an upright box and
// differs from the true area only in the pixels at the corners of a turned one.
fn box_coverage(
    place: Place,
    near_edges: vec2<f32>,
    far_edges: vec2<f32>,
    corner: vec2<f32>,
) -> f32 {
    if COVERAGE == 0u {
        return 1.0;
    }
    if PERSPECTIVE && !place.is_seen {
        return 0.0;
    }
    let near = near_edges + place.local;
    let far = far_edges - place.local;
    let between_x = between(vec2<f32>(near.x, far.x), place.along_x);
    let between_y = between(vec2<f32>(near.y, far.y), place.along_y);
    let in_box = between_x * between_y;
    if COVERAGE == 1u {
        return in_box;
    }
    return min(in_box, corner_coverage(place, near, far, corner));
}

// The area between two parallel edges, given the distances from both and how they change from pixel
// to pixel.
fn between(distances: vec2<f32>, along: vec2<f32>) -> f32 {
    if !PERSPECTIVE {
        let areas = areas_inside(distances, along);
        return saturate(areas.x + areas.y - 1.0);
    }
    let per_pixel = inverseSqrt(max(dot(along, along), 1e-20));
    let areas = areas_inside(distances * per_pixel, along * per_pixel);
    return saturate(areas.x + areas.y - 1.0);
}

// The area of a pixel's square on the inner side of an edge whose normal is a unit vector; negative
// distances are of centres outside. Across an edge the square's extent has the density of a
// trapezoid, as wide as |x| + |y| of the normal at its foot and |x| - |y| at its top; this is its
// integral.
fn areas_inside(distances: vec2<f32>, normal: vec2<f32>) -> vec2<f32> {
    let extent = abs(normal);
    let major = max(extent.x, extent.y);
    let minor = min(extent.x, extent.y);
    let foot = (major + minor) * 0.5;
    let top = (major - minor) * 0.5;
    let depth = min(abs(distances), vec2<f32>(foot));
    let rest = foot - depth;
    let on_top = depth * (1.0 / major);
    let on_slope = 0.5 - rest * rest * (0.5 / max(major * minor, 1e-12));
    let beyond_middle = select(on_slope, on_top, depth <= vec2<f32>(top));
    return 0.5 + select(-beyond_middle, beyond_middle, distances > vec2<f32>(0.0));
}

// How much of the pixel lies within a corner's curve |x|^n + |y|^n = 1, as if the curve were its
// tangent there; 1 away from corners. The distance is that of the curve's implicit equation to first
// order (Taubin 1994).
fn corner_coverage(place: Place, near: vec2<f32>, far: vec2<f32>, corner: vec2<f32>) -> f32 {
    let to_edge = min(near, far);
    let into_corner = corner - to_edge;
    if any(into_corner <= vec2<f32>(0.0)) {
        return 1.0;
    }
    let part = into_corner / corner;
    let is_circular = layer.corner_exponent == 2.0;
    let slope = select(part * part, part, is_circular);
    let sum = dot(slope, part);
    let norm = select(pow(sum, 1.0 / 3.0), sqrt(sum), is_circular);
    let norm_slope = select(norm * norm, norm, is_circular);
    let gradient = slope / (norm_slope * corner);
    // Towards the nearer edges both coordinates grow.
    let outwards = select(vec2<f32>(1.0), vec2<f32>(-1.0), near < far);
    let along = place.along_x * (gradient.x * outwards.x) + place.along_y * (gradient.y * outwards.y);
    let per_pixel = inverseSqrt(max(dot(along, along), 1e-20));
    let distance = (1.0 - norm) * per_pixel;
    return areas_inside(vec2<f32>(distance), along * per_pixel).x;
}

// What is added to a colour before it is rounded to 8 bits, so that slow changes do not show as
// bands: a threshold of the ordered 8 × 8 matrix of Bayer (1973) around 0. It is the same for all
// channels, so that no channel comes to exceed alpha.
fn dither(position: vec4<f32>) -> f32 {
    let pixel = vec2<u32>(frame_pixel(position));
    let both = pixel.x ^ pixel.y;
    let threshold = ((both & 1u) << 5u) | ((pixel.y & 1u) << 4u)
        | ((both & 2u) << 2u) | ((pixel.y & 2u) << 1u)
        | ((both & 4u) >> 1u) | ((pixel.y & 4u) >> 2u);
    return (f32(threshold) - 31.5) * (1.0 / 32.0) * layer.dither;
}
