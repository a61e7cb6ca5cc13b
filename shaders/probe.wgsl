// Work of adjustable length for the start-up probe: a triangle over a small target whose every
// pixel runs a loop that cannot be folded away.

struct Work {
    iterations: u32,
}

@group(0) @binding(0) var<uniform> work: Work;

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4f(corner, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) position: vec4f) -> @location(0) vec4f {
    var value = position.x * 0.001;
    for (var i = 0u; i < work.iterations; i++) {
        value = fract(value * 1.7 + 0.31);
    }
    return vec4f(value);
}
