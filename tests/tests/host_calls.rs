//! A host that uses its device in every way while frames and submissions are waited for.
//!
//! The one call that a host must not make is a wait of wgpu's that ends by its timeout while another
//! thread polls or submits: wgpu-core 30.0.2 may panic then, on the thread that waits
//! (gfx-rs/wgpu#9958). A `PollType::Poll` is sound, and so is a wait whose timeout does not pass. The
//! engine itself polls with the first alone, but on the polled backend, where it waits with the other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "what hosts do")]

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use framefence::fence::{FencedQueue, Proof};
use framefence::{FrameRequest, Gpu, Renderer, RendererOptions, Size, Time, wgpu};
use framefence_tests::{Host, Pattern, validation_messages, within};

const SIZE: Size = Size::new(16, 16);
const FRAMES: u64 = 500;
const SUBMISSIONS: usize = 500;
/// Rounds that every pixel runs, so that a frame is on its way for longer than a host's call takes.
const ITERATIONS: u32 = 500;
/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(200);
const WATCHDOG: Duration = Duration::from_secs(240);

#[test]
fn frames_are_right_and_submissions_end_once_beside_all_that_a_host_calls() {
    // A host that has set no handler: an error that no scope caught would panic.
    let gpu = Host::new().gpu();
    within(WATCHDOG, move || {
        let renderers = [4, 1].map(|depth| {
            let options = RendererOptions::default().with_depth(depth);
            Renderer::new(&gpu, options).unwrap()
        });
        let polled = FencedQueue::polled(gpu.device(), gpu.queue()).unwrap();
        let calls: [fn(&Gpu); 8] = [
            destroy_what_is_at_work,
            make_views_and_bindings,
            map_and_unmap,
            submit_and_be_called_back,
            poll,
            wait_for_all,
            wait_for_one,
            wait_long_enough,
        ];
        let is_over = AtomicBool::new(false);
        let made: [AtomicU32; 8] = Default::default();
        thread::scope(|threads| {
            for (call, made) in calls.iter().zip(&made) {
                threads.spawn(|| {
                    while !is_over.load(Ordering::SeqCst) {
                        call(&gpu);
                        made.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            // Ends the host's threads also when something panics.
            let _over = Over(&is_over);
            thread::scope(|threads| {
                for renderer in &renderers {
                    threads.spawn(|| render(renderer));
                }
                for queue in [gpu.fenced_queue(), &polled] {
                    threads.spawn(|| submit(queue));
                }
            });
        });
        let made = made.map(AtomicU32::into_inner);
        println!(
            "calls of each kind: {made:?}; {:?}",
            gpu.fenced_queue().report()
        );
        assert!(made.iter().all(|&made| made > 0), "{made:?}");
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn render(renderer: &Renderer) {
    let painter = Arc::new(Mutex::new(Pattern::slow(ITERATIONS)));
    for number in (0..FRAMES).step_by(2) {
        let pending = [number, number + 1].map(|number| {
            let request = FrameRequest::new(number, Time::ZERO, SIZE);
            renderer
                .submit(&painter, request.with_timeout(LONG))
                .unwrap()
        });
        for pending in pending {
            Pattern::assert_shown(&pending.wait().unwrap());
        }
    }
}

/// Submits again and again, and counts how often each submission is said to have ended.
fn submit(queue: &FencedQueue) {
    let ends: Arc<Vec<AtomicU32>> = Arc::new((0..SUBMISSIONS).map(|_| AtomicU32::new(0)).collect());
    let (ended, end) = channel();
    for index in 0..SUBMISSIONS {
        let (ends, ended) = (Arc::clone(&ends), ended.clone());
        let deadline = Instant::now() + LONG;
        queue.submit_then([], Proof::WorkDone, deadline, move |done| {
            ends[index].fetch_add(1, Ordering::SeqCst);
            ended.send(done.map(drop)).unwrap();
        });
        // Two at a time.
        if index > 0 {
            end.recv_timeout(LONG).unwrap().unwrap();
        }
    }
    end.recv_timeout(LONG).unwrap().unwrap();
    assert!(ends.iter().all(|ends| ends.load(Ordering::SeqCst) == 1));
}

fn buffer(gpu: &Gpu, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("the host's"),
        size: 256,
        usage,
        mapped_at_creation: false,
    })
}

fn destroy_what_is_at_work(gpu: &Gpu) {
    let buffer = buffer(gpu, wgpu::BufferUsages::COPY_DST);
    let texture = texture(gpu);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.clear_buffer(&buffer, 0, None);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("the host's"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &texture.create_view(&Default::default()),
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations::default(),
        })],
        ..Default::default()
    });
    gpu.queue().submit([encoder.finish()]);
    buffer.destroy();
    texture.destroy();
}

fn make_views_and_bindings(gpu: &Gpu) {
    let view = texture(gpu).create_view(&Default::default());
    let layout = gpu
        .device()
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("the host's"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: true },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
                count: None,
            }],
        });
    drop(gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("the host's"),
        layout: &layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::TextureView(&view),
        }],
    }));
}

fn texture(gpu: &Gpu) -> wgpu::Texture {
    gpu.device().create_texture(&wgpu::TextureDescriptor {
        label: Some("the host's"),
        size: wgpu::Extent3d {
            width: 16,
            height: 16,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    })
}

/// A readback of the host's own, in the way of wgpu's examples.
fn map_and_unmap(gpu: &Gpu) {
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let buffer = buffer(gpu, usage);
    gpu.queue().write_buffer(&buffer, 0, &[7; 256]);
    gpu.queue().submit([]);
    let (mapped, is_mapped) = channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |end| {
        mapped.send(end).unwrap();
    });
    wait_for_all(gpu);
    // Another thread may have the callback still.
    is_mapped.recv_timeout(LONG).unwrap().unwrap();
    assert_eq!(*buffer.get_mapped_range(..).unwrap(), [7; 256]);
    buffer.unmap();
}

fn submit_and_be_called_back(gpu: &Gpu) {
    let (called, is_called) = channel();
    let index = gpu.queue().submit([]);
    gpu.queue()
        .on_submitted_work_done(move || called.send(()).unwrap());
    wait(gpu, Some(index), None);
    is_called.recv_timeout(LONG).unwrap();
}

fn poll(gpu: &Gpu) {
    gpu.device().poll(wgpu::PollType::Poll).unwrap();
}

fn wait_for_all(gpu: &Gpu) {
    wait(gpu, None, None);
}

fn wait_for_one(gpu: &Gpu) {
    wait(gpu, Some(gpu.queue().submit([])), None);
}

fn wait_long_enough(gpu: &Gpu) {
    wait(gpu, None, Some(LONG));
}

fn wait(gpu: &Gpu, submission_index: Option<wgpu::SubmissionIndex>, timeout: Option<Duration>) {
    let wait = wgpu::PollType::Wait {
        submission_index,
        timeout,
    };
    gpu.device().poll(wait).unwrap();
}
