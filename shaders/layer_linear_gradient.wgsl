// A box of colours that change along a line.

struct LinearGradient {
    // Of the first stop; premultiplied, opacity included.
    first_color: vec4<f32>,
    // From each stop to the next.
    spans: array<Span, 15>,
    // How the place on the gradient's line changes along the box's axes.
    line: vec2<f32>,
    // The place on the line at the layer's origin.
    line_at_origin: f32,
}

// A constant, so that the loop is unrolled: software adapters take long over loops.
override SPAN_COUNT: u32 = 15u;

struct Span {
    color_change: vec4<f32>,
    start: f32,
    // Very large where two stops coincide.
    inverse_length: f32,
}

@group(0) @binding(1) var<uniform> gradient: LinearGradient;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let offset = offset_from_origin(position);
    let place = dot(gradient.line, offset) + gradient.line_at_origin;
    var color = gradient.first_color;
    for (var index = 0u; index < SPAN_COUNT; index += 1u) {
        let span = gradient.spans[index];
        color += span.color_change * saturate((place - span.start) * span.inverse_length);
    }
    return color * coverage(offset);
}
