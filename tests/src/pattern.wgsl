// A pattern of whole numbers, exact in 8 bits, and a loop that makes it as slow as a test needs.

struct Frame {
    origin: vec2u,
    number: u32,
    iterations: u32,
}

@group(0) @binding(0) var<uniform> frame: Frame;

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4f(corner, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let pixel = vec2u(position.xy) + frame.origin;
    var delay = fract(position.x * 0.001);
    for (var i = 0u; i < frame.iterations; i++) {
        delay = fract(delay * 1.7 + 0.31);
    }
    // Never true, and the compiler cannot know it: the loop must not be removed.
    if delay > 2.0 {
        return vec4f(0.0);
    }
    let mixed = (pixel.x * 31u) ^ (pixel.y * 17u) ^ (frame.number * 101u);
    return vec4f(vec4u(pixel, frame.number, mixed) & vec4u(255u)) / 255.0;
}
