// What a surface is, shared by all `effect_*.wgsl`, which are compiled with this file before them.
//
// A surface holds a rectangle of a pixel grid, premultiplied; all around it is transparent. The
// grid's positions are whole and absolute, so that a pixel comes out the same whichever rectangle
// it is drawn in. A texel is a position counted from a texture's corner.

struct Draw {
    // The target's texels to draw: first column and row, and those after the last.
    bounds: vec4<i32>,
    // The positions of the target's and the source's first texels in their grids.
    target_origin: vec2<i32>,
    source_origin: vec2<i32>,
    source_size: vec2<i32>,
    target_size: vec2<f32>,
}

@group(0) @binding(0) var<uniform> draw: Draw;
@group(1) @binding(0) var source: texture_2d<f32>;

// Covers the bounds with a strip of two triangles.
@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let x = select(draw.bounds.x, draw.bounds.z, (index & 1u) != 0u);
    let y = select(draw.bounds.y, draw.bounds.w, (index & 2u) != 0u);
    let part = vec2<f32>(vec2<i32>(x, y)) / draw.target_size;
    return vec4<f32>(part.x * 2.0 - 1.0, 1.0 - part.y * 2.0, 0.0, 1.0);
}

// The position that a fragment is drawn for.
fn target_position(position: vec4<f32>) -> vec2<i32> {
    return vec2<i32>(position.xy) + draw.target_origin;
}

// The source's colour at a position. What lies outside is decided here: what a texture gives for a
// texel that it does not have differs between devices.
fn load(position: vec2<i32>) -> vec4<f32> {
    let texel = position - draw.source_origin;
    let is_inside = all(vec2<u32>(texel) < vec2<u32>(draw.source_size));
    return select(vec4<f32>(0.0), textureLoad(source, texel, 0), is_inside);
}

// The nearest colour that a half float holds. Devices may round towards zero as they store, which
// would make every pass a little darker than the one before.
fn rounded(color: vec4<f32>) -> vec4<f32> {
    let half_of_last_place = vec4<u32>(0x1000u);
    let mantissa_of_half = vec4<u32>(0xffffe000u);
    return bitcast<vec4<f32>>((bitcast<vec4<u32>>(color) + half_of_last_place) & mantissa_of_half);
}
