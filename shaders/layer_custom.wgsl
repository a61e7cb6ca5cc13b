// A box whose colours are found by a function of the scene's author, which is compiled with this
// file before it, with `author_` before its names.
//
// `Paint` holds `draw` and the author's uniforms, if there are any; `begin` hands them over.

struct Custom {
    // From local positions to pixels of the box.
    position_from_local: vec2<f32>,
    position_at_origin: vec2<f32>,
    size: vec2<f32>,
    // Seconds.
    time: f32,
    opacity: f32,
}

// Whether colours are mixed as linear light.
override LINEAR: bool = false;

@group(0) @binding(1) var<uniform> paint: Paint;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    begin();
    let place = place_of(position);
    let draw = paint.draw;
    let from_local = draw.position_from_local;
    let point = draw.position_at_origin + from_local * place.local;
    let area = abs(place.along_x.x * place.along_y.y - place.along_x.y * place.along_y.x);
    let pixel = sqrt(area * abs(from_local.x * from_local.y));
    let shaded = author_shade(author_Place(point, point / draw.size, draw.size, pixel, draw.time));
    var color = clamp(numbers(shaded), vec4<f32>(0.0), vec4<f32>(1.0));
    if LINEAR {
        color = vec4<f32>(decode(color.r), decode(color.g), decode(color.b), color.a);
    }
    let premultiplied = vec4<f32>(color.rgb * color.a, color.a);
    return premultiplied * (draw.opacity * coverage(place)) + dither(position);
}

// Zero in place of what is not a number, which would spread through blurs. Told by its bits:
// compilers may take comparisons with itself for granted.
fn numbers(color: vec4<f32>) -> vec4<f32> {
    const INFINITY: vec4<u32> = vec4<u32>(0x7f800000u);
    let magnitude = bitcast<vec4<u32>>(color) & vec4<u32>(0x7fffffffu);
    return select(color, vec4<f32>(0.0), magnitude > INFINITY);
}

// IEC 61966-2-1.
fn decode(encoded: f32) -> f32 {
    let curve = pow((encoded + 0.055) / 1.055, 2.4);
    return select(curve, encoded / 12.92, encoded <= 0.04045);
}
