// A pattern of whole numbers, exact in 8 bits, and a loop that makes it as slow as a test needs.

// What a frame is comes as attributes of its one instance: bindings do not work in Wine's DirectX 12.

struct Corner {
    @builtin(position) position: vec4f,
    /// The part's origin (x, y), the frame's number, the loop's rounds.
    @location(0) @interpolate(flat) frame: vec4u,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32, @location(0) frame: vec4u) -> Corner {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Corner(vec4f(corner, 0.0, 1.0), frame);
}

@fragment
fn fragment(corner: Corner) -> @location(0) vec4f {
    let pixel = vec2u(corner.position.xy) + corner.frame.xy;
    let number = corner.frame.z;
    var delay = fract(corner.position.x * 0.001);
    for (var i = 0u; i < corner.frame.w; i++) {
        delay = fract(delay * 1.7 + 0.31);
    }
    // Never true, and the compiler cannot know it: the loop must not be removed.
    if delay > 2.0 {
        return vec4f(0.0);
    }
    let mixed = (pixel.x * 31u) ^ (pixel.y * 17u) ^ (number * 101u);
    return vec4f(vec4u(pixel, number, mixed) & vec4u(255u)) / 255.0;
}
