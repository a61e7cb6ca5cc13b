// Glyphs of one colour, whose coverage has been found for whole pixels of the full frame.

struct Glyphs {
    // Premultiplied, opacity included.
    color: vec4<f32>,
    // The position of the first pixel that the coverage is of.
    mask_origin: vec2<i32>,
}

@group(0) @binding(1) var<uniform> glyphs: Glyphs;
@group(1) @binding(0) var mask: texture_2d<f32>;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let covered = textureLoad(mask, frame_pixel(position) - glyphs.mask_origin, 0).r;
    return glyphs.color * covered;
}
