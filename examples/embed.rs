//! The engine on a host's own device, as an editor embeds it.
//!
//! The host owns instance, adapter, device and queue, goes on submitting work of its own from
//! another thread, and draws its frames with passes of its own. Every frame is checked.
//!
//! ```text
//! cargo run --release -p framefence-examples --example embed
//! ```

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::{Context as _, Result, ensure};
use framefence::{
    Frame, FrameRate, FrameRequest, Gpu, PaintContext, Painter, PainterError, Renderer,
    RendererOptions, Size,
};
use framefence_examples::report;

const SIZE: Size = Size::new(1280, 720);
const FRAMES: u64 = 60;
const DEPTH: usize = 3;

fn main() -> ExitCode {
    report::exit_code(embed())
}

fn embed() -> Result<()> {
    let host = Host::open()?;
    let gpu = host.gpu()?;
    let renderer = Renderer::new(&gpu, RendererOptions::default().with_depth(DEPTH))?;
    let painter = Arc::new(Mutex::new(HostPasses));
    let rate = FrameRate::new(60, 1).context("60 is a frame rate")?;

    let closing = AtomicBool::new(false);
    let host_submissions = thread::scope(|scope| -> Result<u64> {
        let working = scope.spawn(|| host.work_until(&closing));
        let rendered = pollster::block_on(render(&renderer, &painter, rate));
        closing.store(true, Ordering::Relaxed);
        let submissions = working.join().ok().context("the host's thread panicked")?;
        rendered.map(|()| submissions)
    })?;

    let stats = renderer.stats();
    let fences = gpu.fenced_queue().report();
    println!("{} on {}", gpu.info().name, gpu.info().driver);
    println!(
        "{} frames of {SIZE} delivered, all checked",
        stats.delivered
    );
    println!("{host_submissions} submissions of the host meanwhile");
    println!(
        "{} signals were carried away by them and waited for again",
        fences.rearmed
    );
    println!(
        "render + readback: p50 {:.2?}, p95 {:.2?}",
        stats.render_readback.p50, stats.render_readback.p95
    );
    Ok(())
}

/// Asks for frames ahead, and takes them as they arrive.
async fn render(
    renderer: &Renderer,
    painter: &Arc<Mutex<HostPasses>>,
    rate: FrameRate,
) -> Result<()> {
    let mut in_flight = VecDeque::with_capacity(DEPTH);
    for number in 0..FRAMES {
        if in_flight.len() == DEPTH
            && let Some(pending) = in_flight.pop_front()
        {
            check(&pending.await?)?;
        }
        let time = rate.time_of(number).context("a frame number in range")?;
        in_flight.push_back(renderer.submit(painter, FrameRequest::new(number, time, SIZE))?);
    }
    for pending in in_flight {
        check(&pending.await?)?;
    }
    Ok(())
}

/// Every pixel of a frame has the colour that its pass cleared to.
fn check(frame: &Frame) -> Result<()> {
    let expected = color(frame.number());
    for row in frame.image().plane().rows() {
        let is_right = row.chunks_exact(4).all(|pixel| pixel == expected);
        ensure!(is_right, "frame {} shows something else", frame.number());
    }
    Ok(())
}

fn color(number: u64) -> [u8; 4] {
    [number as u8, 255 - number as u8, 64, 255]
}

/// The host's own way of drawing: any passes, recorded into the engine's encoder.
struct HostPasses;

impl Painter for HostPasses {
    fn overwrites_targets(&self) -> bool {
        true
    }

    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        let [r, g, b, a] = color(context.view.number).map(|value| f64::from(value) / 255.0);
        context
            .encoder
            .begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("host"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &context.targets.color().view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..Default::default()
            });
        Ok(())
    }
}

/// An application that has opened its device long before it met the engine.
struct Host {
    instance: wgpu::Instance,
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Host {
    fn open() -> Result<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
            .context("no GPU driver was found")?;
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
        Ok(Self {
            instance,
            adapter,
            device,
            queue,
        })
    }

    /// Hands the engine the host's own objects; they stay the host's.
    fn gpu(&self) -> Result<Gpu> {
        let gpu = Gpu::from_host(
            self.instance.clone(),
            self.adapter.clone(),
            self.device.clone(),
            self.queue.clone(),
        )?;
        // The host owns the device's lost callback, so it passes the news on.
        let mark_lost = gpu.lost_marker();
        self.device
            .set_device_lost_callback(move |reason, message| {
                mark_lost(&format!("{reason:?}: {message}"));
            });
        Ok(gpu)
    }

    /// Work that the host submits to its queue whenever it likes; says how often it did.
    fn work_until(&self, closing: &AtomicBool) -> u64 {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("host work"),
            size: 1 << 16,
            usage: wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut submissions = 0;
        while !closing.load(Ordering::Relaxed) {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.clear_buffer(&buffer, 0, None);
            self.queue.submit([encoder.finish()]);
            submissions += 1;
        }
        submissions
    }
}
