// A picture in a box.

struct Image {
    // How texture coordinates change along the box's axes, and what they are at the origin.
    texture_from_box: vec2<f32>,
    texture_at_origin: vec2<f32>,
    tap_step: vec2<f32>,
    tap_count: u32,
    // The mip level whose texels are as large as a tap's footprint.
    level: f32,
    opacity: f32,
}

// Whether a pixel's footprint is longer than wide, so that it takes several taps along its length.
override MANY_TAPS: bool = true;

@group(0) @binding(1) var<uniform> image: Image;
// Premultiplied.
@group(1) @binding(0) var picture: texture_2d<f32>;
@group(1) @binding(1) var picture_sampler: sampler;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let offset = offset_from_origin(position);
    let middle = image.texture_at_origin + image.texture_from_box * offset;
    return color_around(middle) * (image.opacity * coverage(offset));
}

fn color_around(middle: vec2<f32>) -> vec4<f32> {
    if !MANY_TAPS {
        return textureSampleLevel(picture, picture_sampler, middle, image.level);
    }
    let taps = f32(image.tap_count);
    let first = middle - image.tap_step * ((taps - 1.0) * 0.5);
    var sum = vec4<f32>(0.0);
    for (var tap = 0u; tap < image.tap_count; tap += 1u) {
        let coordinates = first + image.tap_step * f32(tap);
        sum += textureSampleLevel(picture, picture_sampler, coordinates, image.level);
    }
    return sum / taps;
}
