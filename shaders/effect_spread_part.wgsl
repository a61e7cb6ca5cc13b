// A part of the way from a pixel's alpha to the largest or the smallest of the three by three around
// it, as the alpha of a black surface.

struct SpreadPart {
    // 0 to 1.
    part: f32,
}

@group(0) @binding(1) var<uniform> spread: SpreadPart;

override ERODE: bool = false;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let middle = target_position(position);
    let own = load(middle).a;
    var extreme = own;
    for (var y = -1; y <= 1; y += 1) {
        for (var x = -1; x <= 1; x += 1) {
            let other = load(middle + vec2<i32>(x, y)).a;
            extreme = select(max(extreme, other), min(extreme, other), ERODE);
        }
    }
    return rounded(vec4<f32>(0.0, 0.0, 0.0, mix(own, extreme, spread.part)));
}
