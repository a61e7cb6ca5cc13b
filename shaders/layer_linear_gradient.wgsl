// A box of colours that change along a line.

struct LinearGradient {
    // Premultiplied, opacity included.
    colors: array<vec4<f32>, 16>,
    // Ascending; four to a vector.
    offsets: array<vec4<f32>, 4>,
    // How the place on the gradient's line changes along the box's axes.
    line: vec2<f32>,
    // The place on the line at the layer's origin.
    line_at_origin: f32,
    stop_count: u32,
}

@group(0) @binding(1) var<uniform> gradient: LinearGradient;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let offset = offset_from_origin(position);
    let place = dot(gradient.line, offset) + gradient.line_at_origin;
    return color_at(place) * coverage(offset);
}

fn color_at(place: f32) -> vec4<f32> {
    var color = gradient.colors[0];
    for (var next = 1u; next < gradient.stop_count; next += 1u) {
        let start = stop_offset(next - 1u);
        let end = stop_offset(next);
        if place < start {
            break;
        }
        // Where two stops coincide, the later one holds from there on.
        let part = select((place - start) / (end - start), 1.0, place >= end);
        color = mix(gradient.colors[next - 1u], gradient.colors[next], part);
    }
    return color;
}

fn stop_offset(index: u32) -> f32 {
    return gradient.offsets[index / 4u][index % 4u];
}
