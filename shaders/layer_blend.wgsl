// A surface blended with what lies behind it, of which there is a copy.
//
// W3C Compositing and Blending Level 1: with premultiplied colours `cs` of the source and `cb` of the
// backdrop, the result is (1 - ab) cs + (1 - as) cb + as ab B(Cb, Cs), where B mixes the colours
// without their alpha (sections 5.8 and 9.1).

struct Blend {
    opacity: f32,
    source_origin: vec2<i32>,
    source_size: vec2<i32>,
    backdrop_origin: vec2<i32>,
}

// The position in `BlendMode`; 100 takes the place of the backdrop as far as the layer covers it.
override MODE: u32 = 0u;
const REPLACE: u32 = 100u;

@group(0) @binding(1) var<uniform> blend: Blend;
@group(1) @binding(0) var source: texture_2d<f32>;
@group(1) @binding(1) var backdrop: texture_2d<f32>;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let pixel = frame_pixel(position);
    let behind = textureLoad(backdrop, pixel - blend.backdrop_origin, 0);
    let texel = pixel - blend.source_origin;
    let is_inside = all(texel >= vec2<i32>(0)) && all(texel < blend.source_size);
    let color = select(vec4<f32>(0.0), textureLoad(source, max(texel, vec2<i32>(0)), 0), is_inside);
    if MODE == REPLACE {
        let weight = blend.opacity * coverage(place_of(position));
        return mix(behind, color, weight) + dither(position);
    }
    let front = color * blend.opacity;
    if MODE == 12u {
        return min(front + behind, vec4<f32>(1.0)) + dither(position);
    }
    let mixed = vec4<f32>(
        mix_channel(straight(behind.r, behind.a), straight(front.r, front.a)),
        mix_channel(straight(behind.g, behind.a), straight(front.g, front.a)),
        mix_channel(straight(behind.b, behind.a), straight(front.b, front.a)),
        1.0,
    );
    let both = front.a * behind.a;
    return front * (1.0 - behind.a) + behind * (1.0 - front.a) + mixed * both + dither(position);
}

fn straight(channel: f32, alpha: f32) -> f32 {
    return saturate(channel / max(alpha, 1e-6));
}

// Section 9.1, by the names there: `b` is the backdrop, `s` the source.
fn mix_channel(b: f32, s: f32) -> f32 {
    switch MODE {
        case 1u { return b * s; }
        case 2u { return b + s - b * s; }
        case 3u { return hard_light(s, b); }
        case 4u { return min(b, s); }
        case 5u { return max(b, s); }
        case 6u { return color_dodge(b, s); }
        case 7u { return color_burn(b, s); }
        case 8u { return hard_light(b, s); }
        case 9u { return soft_light(b, s); }
        case 10u { return abs(b - s); }
        case 11u { return b + s - 2.0 * b * s; }
        default { return s; }
    }
}

fn hard_light(b: f32, s: f32) -> f32 {
    if s <= 0.5 {
        return b * 2.0 * s;
    }
    let t = 2.0 * s - 1.0;
    return b + t - b * t;
}

// Rounding may move a channel that is all of its alpha below it, so white is told from its neighbours
// by less than half a code value. None of an alpha stays none, and needs no such room: in linear
// light the darkest colours lie closer together.
const ROUNDING: f32 = 0.0005;

fn color_dodge(b: f32, s: f32) -> f32 {
    if b <= 0.0 {
        return 0.0;
    }
    if s >= 1.0 - ROUNDING {
        return 1.0;
    }
    return min(1.0, b / (1.0 - s));
}

fn color_burn(b: f32, s: f32) -> f32 {
    if b >= 1.0 - ROUNDING {
        return 1.0;
    }
    if s <= 0.0 {
        return 0.0;
    }
    return 1.0 - min(1.0, (1.0 - b) / s);
}

fn soft_light(b: f32, s: f32) -> f32 {
    if s <= 0.5 {
        return b - (1.0 - 2.0 * s) * b * (1.0 - b);
    }
    var d = sqrt(b);
    if b <= 0.25 {
        d = ((16.0 * b - 12.0) * b + 4.0) * b;
    }
    return b + (2.0 * s - 1.0) * (d - b);
}
