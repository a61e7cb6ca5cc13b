// Steam that rises and frays: value noise in four octaves, drifting upwards.

fn hash(cell: vec2<f32>) -> f32 {
    let bits = vec2<u32>(vec2<i32>(cell));
    var mixed = bits.x * 1664525u + bits.y * 1013904223u;
    mixed = (mixed ^ (mixed >> 15u)) * 2246822519u;
    mixed = (mixed ^ (mixed >> 13u)) * 3266489917u;
    return f32((mixed ^ (mixed >> 16u)) >> 8u) / 16777216.0;
}

fn noise(point: vec2<f32>) -> f32 {
    let cell = floor(point);
    let part = smoothstep(vec2<f32>(0.0), vec2<f32>(1.0), fract(point));
    let top = mix(hash(cell), hash(cell + vec2<f32>(1.0, 0.0)), part.x);
    let bottom = mix(hash(cell + vec2<f32>(0.0, 1.0)), hash(cell + vec2<f32>(1.0, 1.0)), part.x);
    return mix(top, bottom, part.y);
}

fn cloud(point: vec2<f32>) -> f32 {
    var sum = 0.0;
    var weight = 0.5;
    var at = point;
    for (var octave = 0; octave < 4; octave++) {
        sum += weight * noise(at);
        at = at * 2.03 + vec2<f32>(17.0, 9.0);
        weight *= 0.5;
    }
    return sum;
}

fn shade(place: Place) -> vec4<f32> {
    let rising = vec2<f32>(place.uv.x * 3.0, place.uv.y * 4.0 + place.time * 0.9);
    let bend = cloud(rising * 0.7 + vec2<f32>(0.0, place.time * 0.2)) - 0.45;
    let from_middle = (place.uv.x - 0.5 + bend * 0.35) / (0.1 + 0.3 * (1.0 - place.uv.y));
    let column = exp(-from_middle * from_middle * 2.0);
    let ends = smoothstep(0.0, 0.45, place.uv.y) * (1.0 - smoothstep(0.75, 1.0, place.uv.y));
    let density = smoothstep(0.3, 0.7, cloud(rising + bend)) * column * ends;
    return vec4<f32>(uniforms.tint.rgb, density * uniforms.amount * uniforms.tint.a);
}
