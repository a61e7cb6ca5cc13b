// A finished surface, in the form in which frames are delivered: sRGB-encoded values multiplied by
// alpha.

struct Deliver {
    source_origin: vec2<i32>,
}

// Whether the surface holds linear light.
override LINEAR: bool = false;

@group(0) @binding(1) var<uniform> deliver: Deliver;
@group(1) @binding(0) var source: texture_2d<f32>;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let color = textureLoad(source, frame_pixel(position) - deliver.source_origin, 0);
    if !LINEAR {
        return color + dither(position);
    }
    let alpha = max(color.a, 1e-6);
    let encoded = vec3<f32>(encode(color.r / alpha), encode(color.g / alpha), encode(color.b / alpha));
    return vec4<f32>(encoded * color.a, color.a) + dither(position);
}

// IEC 61966-2-1.
fn encode(light: f32) -> f32 {
    let linear = saturate(light);
    let curve = 1.055 * pow(linear, 1.0 / 2.4) - 0.055;
    return select(curve, linear * 12.92, linear <= 0.0031308);
}
