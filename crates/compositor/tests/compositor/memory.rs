//! What a frame's surfaces take does not grow with the number of layers.

use framefence::{Region, Size, Time};
use framefence_compositor::{Color, Compositor, Content, Group, Layer};

use crate::render::{at, faded, gpu, render_region, scene, solid};

fn allocated_bytes() -> u64 {
    let report = gpu().device().generate_allocator_report();
    report.expect("the backend reports").total_allocated_bytes
}

#[test]
fn two_hundred_faded_groups_take_no_more_than_the_budgets() {
    const SIDE: u32 = 1024;
    const GROUPS: u32 = 200;
    let size = Size::new(SIDE, SIDE);
    let whole = f64::from(SIDE);
    let group = |index: u32| {
        let color = Color::rgb(index as u8, 90, 10);
        let children = vec![
            solid(whole, whole, color),
            at(10.0, 10.0, solid(4.0, 4.0, Color::WHITE)),
        ];
        let content = Content::Group(Group {
            size: None,
            layers: children,
        });
        faded(0.5, Layer::new(content))
    };
    let layers = (0..GROUPS).map(group).collect();
    let scene = scene(SIDE, SIDE, layers);
    let before = allocated_bytes();
    let mut compositor = Compositor::new(gpu(), scene, "").unwrap();
    let frame = render_region(&mut compositor, size, Region::whole(size), Time::ZERO);
    // Half of the last, a quarter of the one before it, and so on.
    let [red, green, ..] = frame.get_pixel(500, 500).0;
    assert!(
        red.abs_diff(198) <= 1 && green.abs_diff(90) <= 1,
        "{red} {green}"
    );
    // Kept, read by a pass, and idle surfaces: 512, 256 and 256 MiB; what other tests allocate at
    // the same time is far less than the rest. All surfaces together would take 1600 MiB.
    let taken = allocated_bytes().saturating_sub(before) >> 20;
    assert!(taken < 1200, "{taken} MiB");
}
