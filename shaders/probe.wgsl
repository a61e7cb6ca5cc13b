// Work whose length is known only by trying: see probe.rs.

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    // One triangle over the whole target.
    let corner = vec2f(f32(index & 1u), f32(index >> 1u));
    return vec4f(corner * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) position: vec4f) -> @location(0) vec4f {
    var value = position.x + position.y;
    for (var round = 0u; round < 512u; round++) {
        value = fract(value * 1.618 + 0.1);
    }
    return vec4f(value);
}
