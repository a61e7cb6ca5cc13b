// The largest or the smallest alpha of four positions, as that of a black surface.

struct Spread {
    // From the pixel to each of the positions, two by two.
    offsets: array<vec4<i32>, 2>,
}

@group(0) @binding(1) var<uniform> spread: Spread;

override ERODE: bool = false;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let middle = target_position(position);
    let alphas = vec4<f32>(
        load(middle + spread.offsets[0].xy).a,
        load(middle + spread.offsets[0].zw).a,
        load(middle + spread.offsets[1].xy).a,
        load(middle + spread.offsets[1].zw).a,
    );
    let largest = max(max(alphas.x, alphas.y), max(alphas.z, alphas.w));
    let smallest = min(min(alphas.x, alphas.y), min(alphas.z, alphas.w));
    return vec4<f32>(0.0, 0.0, 0.0, select(largest, smallest, ERODE));
}
