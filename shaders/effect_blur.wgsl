// A Gaussian along one axis.

struct Blur {
    // Reads beyond these positions, the first and the last on each axis, read the nearest of them.
    edges: vec4<i32>,
    // Of the middle and of the positions on either side, four by four.
    weights: array<vec4<f32>, 4>,
}

@group(0) @binding(1) var<uniform> blur: Blur;

override VERTICAL: bool = false;
override RADIUS: i32 = 15;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let middle = target_position(position);
    let axis = select(vec2<i32>(1, 0), vec2<i32>(0, 1), VERTICAL);
    var sum = blur.weights[0][0] * at(middle);
    for (var i = 1; i <= RADIUS; i += 1) {
        sum += blur.weights[i >> 2u][i & 3] * (at(middle - i * axis) + at(middle + i * axis));
    }
    return rounded(sum);
}

fn at(position: vec2<i32>) -> vec4<f32> {
    return load(clamp(position, blur.edges.xy, blur.edges.zw));
}
