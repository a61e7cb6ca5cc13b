// The long job of the contention example: a loop whose length is the draw's instance index, so
// that a job takes as long as the example has calibrated it to.

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) iterations: u32,
}

// One triangle that covers the target: (-1, -1), (3, -1), (-1, 3).
@vertex
fn cover(@builtin(vertex_index) index: u32, @builtin(instance_index) iterations: u32) -> Corner {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u));
    return Corner(vec4f(corner * 4.0 - 1.0, 0.0, 1.0), iterations);
}

// The logistic map at r = 3.99: each step needs the one before, and none can be foreseen.
@fragment
fn iterate(
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) iterations: u32,
) -> @location(0) vec4f {
    var x = fract(position.x * 0.137 + position.y * 0.071) * 0.98 + 0.01;
    for (var step = 0u; step < iterations; step++) {
        x = 3.99 * x * (1.0 - x);
    }
    return vec4f(x, x, x, 1.0);
}
