// A sun above the sea, with waves that move.
fn shade(place: Place) -> vec4<f32> {
    let across = (place.uv - uniforms.center) * place.size / place.size.y;
    let soft = place.pixel / place.size.y;
    let sun = 1.0 - smoothstep(uniforms.radius - soft, uniforms.radius + soft, length(across));
    let glow = exp(-3.0 * length(across));
    var color = mix(uniforms.sky, uniforms.sun, max(sun, 0.6 * glow));
    for (var row = 0; row < 4; row++) {
        let depth = f32(row);
        let swell = sin(place.uv.x * (14.0 - 2.0 * depth) + place.time * (1.0 + depth) + depth * 2.0);
        let surface = 0.66 + 0.09 * depth + 0.02 * swell;
        let water = smoothstep(surface - soft, surface + soft, place.uv.y);
        let shade = mix(uniforms.sun, uniforms.sky, 0.55 + 0.13 * depth);
        color = mix(color, shade, water);
    }
    return color;
}
