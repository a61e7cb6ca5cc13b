// A surface that has been drawn before, laid over another.
//
// Surfaces hold whole pixels of the full frame, premultiplied; beyond their bounds there is nothing.

struct Composite {
    // For silhouettes: premultiplied. Else opacity in all channels.
    color: vec4<f32>,
    // The position of the first pixel that lies in the surface, and how many columns and rows do.
    source_origin: vec2<i32>,
    source_size: vec2<i32>,
    mask_origin: vec2<i32>,
    mask_size: vec2<i32>,
    // Local positions are turned into the place on a ramp from 0 to 1: x, y, and a constant.
    ramp: vec4<f32>,
    // The part of a pixel by which a silhouette is moved right and down.
    shift: vec2<f32>,
}

// Whether only the surface's alpha counts.
override SILHOUETTE: bool = false;
// 0 is no mask, 1 its alpha, 2 its luminance; 3 and 4 the same inverted.
override MASK: u32 = 0u;
// 0 is no ramp, 1 is seen where the ramp is high, 2 where it is low; 3 and 4 the same, but what ends
// there by itself is not cut a second time.
override RAMP: u32 = 0u;

@group(0) @binding(1) var<uniform> composite: Composite;
@group(1) @binding(0) var source: texture_2d<f32>;
@group(1) @binding(1) var mask: texture_2d<f32>;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let pixel = frame_pixel(position);
    var weight = 1.0;
    var share = 1.0;
    if COVERAGE != 0u || RAMP != 0u {
        let place = place_of(position);
        weight = coverage(place);
        share = ramp(place.local);
    }
    if MASK != 0u {
        weight *= mask_at(pixel);
    }
    var color: vec4<f32>;
    if SILHOUETTE {
        color = composite.color * silhouette_at(pixel);
    } else {
        color = composite.color * source_at(pixel);
    }
    if RAMP > 2u {
        share = min(share / max(color.a, 1e-6), 1.0);
    }
    return color * (weight * share) + dither(position);
}

fn source_at(pixel: vec2<i32>) -> vec4<f32> {
    let texel = pixel - composite.source_origin;
    let is_inside = all(texel >= vec2<i32>(0)) && all(texel < composite.source_size);
    return select(vec4<f32>(0.0), textureLoad(source, max(texel, vec2<i32>(0)), 0), is_inside);
}

fn silhouette_at(pixel: vec2<i32>) -> f32 {
    let near = vec2<f32>(source_at(pixel - vec2<i32>(1, 1)).a, source_at(pixel - vec2<i32>(0, 1)).a);
    let far = vec2<f32>(source_at(pixel - vec2<i32>(1, 0)).a, source_at(pixel).a);
    let shift = composite.shift;
    let columns = mix(far, near, shift.y);
    return mix(columns.y, columns.x, shift.x);
}

fn mask_at(pixel: vec2<i32>) -> f32 {
    let texel = pixel - composite.mask_origin;
    let is_inside = all(texel >= vec2<i32>(0)) && all(texel < composite.mask_size);
    let color = select(vec4<f32>(0.0), textureLoad(mask, max(texel, vec2<i32>(0)), 0), is_inside);
    let is_luminance = MASK == 2u || MASK == 4u;
    // The luminance of premultiplied colours has alpha in it.
    let value = select(color.a, dot(color.rgb, vec3<f32>(0.2126, 0.7152, 0.0722)), is_luminance);
    return saturate(select(value, 1.0 - value, MASK > 2u));
}

fn ramp(local: vec2<f32>) -> f32 {
    if RAMP == 0u {
        return 1.0;
    }
    let place = saturate(dot(composite.ramp.xy, local) + composite.ramp.z);
    return select(1.0 - place, place, RAMP == 1u || RAMP == 3u);
}
