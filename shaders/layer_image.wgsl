// A picture in a box.

struct Image {
    // How texture coordinates change along the box's axes, and what they are at the origin.
    texture_from_box: vec2<f32>,
    texture_at_origin: vec2<f32>,
    opacity: f32,
}

@group(0) @binding(1) var<uniform> image: Image;
// Premultiplied.
@group(1) @binding(0) var picture: texture_2d<f32>;
@group(1) @binding(1) var picture_sampler: sampler;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let offset = offset_from_origin(position);
    // The map is affine, so the size of a pixel's footprint is the same all over the layer.
    let across = image.texture_from_box * layer.box_from_frame[0];
    let down = image.texture_from_box * layer.box_from_frame[1];
    let coordinates = image.texture_at_origin + image.texture_from_box * offset;
    let color = textureSampleGrad(picture, picture_sampler, coordinates, across, down);
    return color * (image.opacity * coverage(offset));
}
