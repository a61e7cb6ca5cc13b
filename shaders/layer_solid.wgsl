// A box of one colour.

struct Solid {
    // Premultiplied, opacity included.
    color: vec4<f32>,
}

@group(0) @binding(1) var<uniform> solid: Solid;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    if COVERAGE == 0u {
        return solid.color;
    }
    return solid.color * coverage(place_of(position));
}
