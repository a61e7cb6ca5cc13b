// A colour grade: light, tone, then a look-up table.

struct Grade {
    // Exposure and temperature, on linear light.
    light: mat3x3<f32>,
    // Contrast and saturation, on sRGB-encoded values.
    tone: mat3x3<f32>,
    tone_offset: f32,
    lut_strength: f32,
    // From encoded values to 0 to 1 over the table's domain.
    lut_scale: vec3<f32>,
    lut_offset: vec3<f32>,
    // The values of a curve, or of a cube along each edge.
    lut_size: i32,
}

@group(0) @binding(1) var<uniform> grade: Grade;
// A cube, red along x, green along y, blue along z; or three curves of one value for each texel,
// row after row.
@group(1) @binding(1) var lut: texture_3d<f32>;

// Whether the surface holds linear light rather than sRGB-encoded values.
override LINEAR_SURFACE: bool = false;
// Whether the light changes at all.
override CHANGES_LIGHT: bool = true;
// Whether the table is of curves rather than a cube.
override CURVES: bool = false;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let color = load(target_position(position));
    return surface_color(toned(encoded_color(color)), color);
}

@fragment
fn fragment_with_lut(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let color = load(target_position(position));
    let value = toned(encoded_color(color));
    return surface_color(mix(value, looked_up(value), grade.lut_strength), color);
}

// The straight colour, lit and sRGB-encoded.
fn encoded_color(color: vec4<f32>) -> vec3<f32> {
    let straight = color.rgb / max(color.a, 1e-7);
    if LINEAR_SURFACE {
        return encoded(grade.light * straight);
    }
    if CHANGES_LIGHT {
        return encoded(grade.light * linear(straight));
    }
    return straight;
}

fn toned(value: vec3<f32>) -> vec3<f32> {
    return grade.tone * value + grade.tone_offset;
}

// The graded value as the surface holds it. Where alpha is 0 there is no colour to grade.
fn surface_color(value: vec3<f32>, before: vec4<f32>) -> vec4<f32> {
    var straight = saturate(value);
    if LINEAR_SURFACE {
        straight = linear(straight);
    }
    return select(before, rounded(vec4<f32>(straight * before.a, before.a)), before.a > 0.0);
}

fn looked_up(value: vec3<f32>) -> vec3<f32> {
    let last = f32(grade.lut_size - 1);
    let place = saturate(value * grade.lut_scale + grade.lut_offset) * last;
    let lower = min(floor(place), vec3<f32>(last - 1.0));
    if CURVES {
        return on_curves(vec3<i32>(lower), place - lower);
    }
    return in_cube(vec3<i32>(lower), place - lower);
}

fn on_curves(lower: vec3<i32>, part: vec3<f32>) -> vec3<f32> {
    let before = vec3<f32>(curves(lower.r).r, curves(lower.g).g, curves(lower.b).b);
    let after = vec3<f32>(curves(lower.r + 1).r, curves(lower.g + 1).g, curves(lower.b + 1).b);
    return mix(before, after, part);
}

fn curves(index: i32) -> vec3<f32> {
    let width = i32(textureDimensions(lut).x);
    return textureLoad(lut, vec3<i32>(index % width, index / width, 0), 0).rgb;
}

// Tetrahedral interpolation: a cell is divided along its diagonal from black to white into six
// tetrahedra, one for each order of the three parts, and the colour is the mean of the corners of
// that which it lies in. From black one goes along the axis of the largest part, then along that
// of the middle one, then along that of the smallest.
fn in_cube(lower: vec3<i32>, part: vec3<f32>) -> vec3<f32> {
    let largest = max(max(part.r, part.g), part.b);
    let smallest = min(min(part.r, part.g), part.b);
    let middle = part.r + part.g + part.b - largest - smallest;
    // With equal parts both must still choose different axes.
    let red_first = part.r >= part.g && part.r >= part.b;
    let green_first = !red_first && part.g >= part.b;
    let blue_last = part.b <= part.g && part.b <= part.r;
    let green_last = !blue_last && part.g <= part.r;
    let first = vec3<i32>(i32(red_first), i32(green_first), i32(!red_first && !green_first));
    let last = vec3<i32>(i32(!blue_last && !green_last), i32(green_last), i32(blue_last));
    return corner(lower) * (1.0 - largest)
        + corner(lower + first) * (largest - middle)
        + corner(lower + 1 - last) * (middle - smallest)
        + corner(lower + 1) * smallest;
}

fn corner(index: vec3<i32>) -> vec3<f32> {
    return textureLoad(lut, index, 0).rgb;
}

// IEC 61966-2-1; below 0 the straight part goes on.
fn linear(encoded: vec3<f32>) -> vec3<f32> {
    let curve = pow((max(encoded, vec3<f32>(0.0)) + 0.055) / 1.055, vec3<f32>(2.4));
    return select(curve, encoded / 12.92, encoded <= vec3<f32>(0.04045));
}

// IEC 61966-2-1; below 0 the straight part goes on.
fn encoded(linear: vec3<f32>) -> vec3<f32> {
    let curve = 1.055 * pow(max(linear, vec3<f32>(0.0)), vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(curve, linear * 12.92, linear <= vec3<f32>(0.0031308));
}
