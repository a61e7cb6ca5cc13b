// A box of colours that change along a line, outwards from a point, or around it.

struct Gradient {
    // Of the first stop; premultiplied, opacity included.
    first_color: vec4<f32>,
    // From each stop to the next.
    spans: array<Span, 15>,
    // From local positions to those of the gradient: the place on the line is the x coordinate, the
    // length, or the angle clockwise from straight up.
    from_local: mat2x2<f32>,
    at_origin: vec2<f32>,
}

struct Span {
    color_change: vec4<f32>,
    start: f32,
    // Very large where two stops coincide.
    inverse_length: f32,
}

// 0 is linear, 1 radial, 2 conic.
override KIND: u32 = 0u;
// A constant, so that the loop is unrolled: software adapters take long over loops.
override SPAN_COUNT: u32 = 15u;

@group(0) @binding(1) var<uniform> gradient: Gradient;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let place = place_of(position);
    let point = gradient.from_local * place.local + gradient.at_origin;
    var color: vec4<f32>;
    if KIND == 0u {
        color = color_at(point.x);
    } else if KIND == 1u {
        color = color_at(length(point));
    } else {
        color = color_around(place, point);
    }
    return color * coverage(place) + dither(position);
}

fn color_at(offset: f32) -> vec4<f32> {
    var color = gradient.first_color;
    for (var index = 0u; index < SPAN_COUNT; index += 1u) {
        let span = gradient.spans[index];
        color += span.color_change * saturate((offset - span.start) * span.inverse_length);
    }
    return color;
}

// Where the last colour meets the first, a pixel has a part of each.
fn color_around(place: Place, point: vec2<f32>) -> vec4<f32> {
    const TURN: f32 = 6.283185307179586;
    let color = color_at(fract(atan2(point.x, -point.y) / TURN));
    if point.y >= 0.0 {
        return color;
    }
    let along = place.along_x * gradient.from_local[0].x + place.along_y * gradient.from_local[1].x;
    let from_seam = point.x * inverseSqrt(max(dot(along, along), 1e-20));
    let past_seam = saturate(from_seam + 0.5);
    if past_seam == 0.0 || past_seam == 1.0 {
        return color;
    }
    return mix(color_at(1.0), color_at(0.0), past_seam);
}
