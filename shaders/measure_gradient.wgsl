// The job of the measure example: a linear gradient over the whole target.
//
// Colours derive from the pixel's position alone, so that every strategy delivers the same bytes
// whatever the sign of its viewport's height. The instance index is the frame's phase, which sets
// the blue channel: a stale frame has the wrong blue.

override width: f32;
override height: f32;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) phase: u32,
}

// One triangle that covers the target: (-1, -1), (3, -1), (-1, 3).
@vertex
fn cover(@builtin(vertex_index) index: u32, @builtin(instance_index) phase: u32) -> Corner {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u));
    return Corner(vec4f(corner * 4.0 - 1.0, 0.0, 1.0), phase);
}

@fragment
fn gradient(
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) phase: u32,
) -> @location(0) vec4f {
    let along = 0.5 * (position.x / width + position.y / height);
    let red_green = mix(vec2f(0.1, 0.9), vec2f(1.0, 0.2), along);
    return vec4f(red_green, f32(phase * 16u) / 255.0, 1.0);
}
