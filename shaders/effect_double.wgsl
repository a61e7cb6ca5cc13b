// The level before: twice as many pixels on each axis, each between the nearest two of the source
// on each axis with the weights [3 1] / 4.

struct Resample {
    // Reads beyond these positions, the first and the last on each axis, read the nearest of them.
    edges: vec4<i32>,
}

@group(0) @binding(1) var<uniform> resample: Resample;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let target_pixel = target_position(position);
    // Rounds down for negative positions too.
    let near = target_pixel >> vec2<u32>(1u);
    let far = near + (target_pixel & vec2<i32>(1)) * 2 - 1;
    let near_row = at(near) * 3.0 + at(vec2<i32>(far.x, near.y));
    let far_row = at(vec2<i32>(near.x, far.y)) * 3.0 + at(far);
    return rounded(near_row * (3.0 / 16.0) + far_row * (1.0 / 16.0));
}

fn at(position: vec2<i32>) -> vec4<f32> {
    return load(clamp(position, resample.edges.xy, resample.edges.zw));
}
