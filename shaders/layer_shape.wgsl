// A box or an ellipse with a stroke along its edge.

struct Shape {
    // Premultiplied.
    fill: vec4<f32>,
    stroke: vec4<f32>,
    // How far the stroke reaches beyond the edge, and into the shape, in local units.
    outwards: vec2<f32>,
    inwards: vec2<f32>,
    opacity: f32,
}

@group(0) @binding(1) var<uniform> shape: Shape;

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let place = place_of(position);
    let shape_area = coverage(place);
    let inner_area = grown_coverage(place, -shape.inwards);
    let stroke_area = max(grown_coverage(place, shape.outwards) - inner_area, 0.0);
    // The part of the fill that lies under the stroke, by its area: seen through the stroke's
    // coverage, the fill would shine through along the edge.
    let under_stroke = max(shape_area - inner_area, 0.0);
    let fill_area = shape_area - under_stroke * shape.stroke.a;
    return (shape.stroke * stroke_area + shape.fill * fill_area) * shape.opacity;
}

// How much of the pixel the shape covers when its sides are moved outwards. Round corners grow along
// with it; square ones stay square.
fn grown_coverage(place: Place, by: vec2<f32>) -> f32 {
    let near_edges = layer.near_edges + by;
    let far_edges = layer.far_edges + by;
    let is_round = layer.corner > vec2<f32>(0.0);
    let corner = select(vec2<f32>(0.0), max(layer.corner + by, vec2<f32>(0.0)), is_round);
    if any(near_edges + far_edges <= vec2<f32>(0.0)) {
        return 0.0;
    }
    return box_coverage(place, near_edges, far_edges, corner);
}
