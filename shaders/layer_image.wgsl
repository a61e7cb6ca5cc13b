// A picture in a box.

struct Image {
    // From local positions to texture coordinates.
    texture_from_local: vec2<f32>,
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
    let place = place_of(position);
    let middle = image.texture_at_origin + image.texture_from_local * place.local;
    var color: vec4<f32>;
    if PERSPECTIVE {
        color = color_in_perspective(place, middle);
    } else {
        color = color_around(middle, image.tap_step, image.tap_count, image.level);
    }
    return color * (image.opacity * coverage(place));
}

fn color_around(middle: vec2<f32>, stride: vec2<f32>, count: u32, level: f32) -> vec4<f32> {
    if !MANY_TAPS {
        return textureSampleLevel(picture, picture_sampler, middle, level);
    }
    let taps = f32(count);
    let first = middle - stride * ((taps - 1.0) * 0.5);
    var sum = vec4<f32>(0.0);
    for (var tap = 0u; tap < count; tap += 1u) {
        let coordinates = first + stride * f32(tap);
        sum += textureSampleLevel(picture, picture_sampler, coordinates, level);
    }
    return sum / taps;
}

// The footprint differs from pixel to pixel: it is taken to be as long as the longer of the steps to
// the next column and the next row, and as wide as its area says.
fn color_in_perspective(place: Place, middle: vec2<f32>) -> vec4<f32> {
    const MAX_TAPS: f32 = 16.0;
    let texels = vec2<f32>(textureDimensions(picture));
    let to_texels = image.texture_from_local * texels;
    let column = vec2<f32>(place.along_x.x, place.along_y.x) * to_texels;
    let row = vec2<f32>(place.along_x.y, place.along_y.y) * to_texels;
    let column_is_longer = dot(column, column) > dot(row, row);
    let longer = select(row, column, column_is_longer);
    let length = max(sqrt(dot(longer, longer)), 1e-6);
    let area = abs(column.x * row.y - column.y * row.x);
    let width = max(max(area / length, length / MAX_TAPS), 1.0);
    let count = max(ceil(length / width - 1e-3), 1.0);
    let spread = max(1.0 - width / length, 0.0);
    let stride = longer / texels * (spread / max(count - 1.0, 1.0));
    return color_around(middle, stride, u32(count), log2(width));
}
