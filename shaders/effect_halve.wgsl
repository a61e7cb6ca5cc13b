// The next level: half as many pixels on each axis, each the average of the four by four around it
// with the weights [1 3 3 1] / 8 on each axis.

struct Resample {
    // Reads beyond these positions, the first and the last on each axis, read the nearest of them.
    edges: vec4<i32>,
}

@group(0) @binding(1) var<uniform> resample: Resample;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let first = target_position(position) * 2 - 1;
    let outer = row(first) + row(first + vec2<i32>(0, 3));
    let inner = row(first + vec2<i32>(0, 1)) + row(first + vec2<i32>(0, 2));
    return rounded(outer * (1.0 / 64.0) + inner * (3.0 / 64.0));
}

fn row(first: vec2<i32>) -> vec4<f32> {
    let outer = at(first) + at(first + vec2<i32>(3, 0));
    let inner = at(first + vec2<i32>(1, 0)) + at(first + vec2<i32>(2, 0));
    return outer + inner * 3.0;
}

fn at(position: vec2<i32>) -> vec4<f32> {
    return load(clamp(position, resample.edges.xy, resample.edges.zw));
}
