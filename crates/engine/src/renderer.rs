//! Takes frames on, has them painted and submitted on a thread of its own, and delivers them.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use framefence_fence::{Done, Proof, SubmissionLost, SubmitError, capture_errors, deadline_after};
use framefence_readback::{
    Frame, FrameError, FrameMemory, FrameTicket, Image, PendingFrame, Stage, StagingLayout,
    StagingRing, TargetPool, Timings,
};

use crate::Gpu;
use crate::flight::{Flight, Traffic};
use crate::paint::{Painted, discard, paint};
use crate::painter::{Painter, SubmitOrder};
use crate::request::{FrameRequest, RequestError};
use crate::stats::Stats;

/// Renders frames on one [`Gpu`]: owns render targets, staging memory and the thread that paints
/// and submits. `Send` and `Sync`.
///
/// Dropping it cancels the frames that have not been painted, and waits for the painter at work and
/// for the frames that the GPU has, which are still delivered: for [`Gpu::default_timeout`] at most,
/// and not at all on a thread of the engine. Do not drop it while holding what its painter waits
/// for. Frames may outlive it.
#[derive(Debug)]
pub struct Renderer {
    shared: Arc<Shared>,
    /// Present until the renderer is dropped.
    worker: Option<JoinHandle<()>>,
}

/// How a renderer is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RendererOptions {
    /// Frames between request and delivery at a time, from 1 up. While one is on the GPU, the
    /// next can be painted and the one before be read.
    pub depth: usize,
    /// The most staging memory that frames may hold, in flight or lent. When they hold more, the
    /// next frame waits until one is dropped, or ends in `FrameError::Timeout`. One frame is
    /// always possible.
    pub max_staging_bytes: u64,
    /// The most staging memory that is kept for later while no frame holds it.
    pub idle_staging_bytes: usize,
    /// The most memory of render targets that is kept for later.
    pub idle_target_bytes: usize,
}

impl Default for RendererOptions {
    fn default() -> Self {
        Self {
            depth: 3,
            max_staging_bytes: 512 << 20,
            idle_staging_bytes: 128 << 20,
            idle_target_bytes: 128 << 20,
        }
    }
}

impl RendererOptions {
    /// Sets the frames between request and delivery at a time; 0 counts as 1.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Sets the most staging memory that frames may hold.
    #[must_use]
    pub fn with_max_staging_bytes(mut self, bytes: u64) -> Self {
        self.max_staging_bytes = bytes;
        self
    }
}

/// A painter that a renderer's thread calls.
type SharedPainter = Arc<Mutex<dyn Painter>>;

struct Shared {
    gpu: Gpu,
    targets: TargetPool,
    staging: Arc<StagingRing>,
    traffic: Arc<Traffic>,
    /// That of the frames that the renderer's thread paints.
    order: SubmitOrder,
    jobs: Mutex<Jobs>,
    /// A job came, or no more will.
    job_came: Condvar,
}

#[derive(Default)]
struct Jobs {
    queue: VecDeque<Job>,
    closed: bool,
}

struct Job {
    painter: SharedPainter,
    request: FrameRequest,
    flight: Flight,
}

impl Renderer {
    /// A renderer with its thread.
    ///
    /// # Errors
    ///
    /// The operating system's, if it refuses a thread.
    pub fn new(gpu: &Gpu, options: RendererOptions) -> io::Result<Self> {
        let device = gpu.device();
        let shared = Arc::new(Shared {
            gpu: gpu.clone(),
            targets: TargetPool::new(device.clone(), options.idle_target_bytes),
            staging: StagingRing::new(
                device.clone(),
                options.max_staging_bytes,
                options.idle_staging_bytes,
            ),
            traffic: Traffic::new(options.depth.max(1)),
            order: SubmitOrder::new(),
            jobs: Mutex::default(),
            job_came: Condvar::new(),
        });
        gpu.fenced_queue().add_loss_listener(&shared.traffic);
        let worker = Arc::clone(&shared);
        let worker = thread::Builder::new()
            .name("framefence-render".into())
            .spawn(move || worker.run())?;
        Ok(Self {
            shared,
            worker: Some(worker),
        })
    }

    /// Takes on a frame: `painter` is called for it on the renderer's thread, in the order of the
    /// requests. Blocks while [`RendererOptions::depth`] frames are in flight, until the request's
    /// timeout at most; so a painter or a callback of wgpu's that asks for a frame of its own
    /// renderer may wait for itself.
    ///
    /// Frames of two renderers, or of this and [`submit_now`](Self::submit_now), may overtake each other
    /// after they were painted: a painter that keeps what it has drawn from frame to frame looks at
    /// [`PaintContext::order`](crate::PaintContext::order).
    ///
    /// # Errors
    ///
    /// [`RequestError`] if the frame cannot be rendered as asked; nothing was done then.
    pub fn submit<P: Painter + 'static>(
        &self,
        painter: &Arc<Mutex<P>>,
        request: FrameRequest,
    ) -> Result<PendingFrame, RequestError> {
        let (pending, flight) = self.shared.take_on(&request)?;
        let painter: SharedPainter = painter.clone();
        self.shared.lock_jobs().queue.push_back(Job {
            painter,
            request,
            flight,
        });
        self.shared.job_came.notify_one();
        Ok(pending)
    }

    /// Renders a frame on the calling thread: paints and submits it before returning. For callers
    /// whose own writes to the painter's resources must reach exactly this frame, and for those
    /// that want no other thread. Blocks like [`submit`](Self::submit), and on a software adapter
    /// also while the driver is busy.
    ///
    /// # Errors
    ///
    /// [`RequestError`] if the frame cannot be rendered as asked; nothing was done then.
    pub fn submit_now(
        &self,
        painter: &mut dyn Painter,
        request: &FrameRequest,
    ) -> Result<PendingFrame, RequestError> {
        let (pending, flight) = self.shared.take_on(request)?;
        let Shared { gpu, targets, .. } = &*self.shared;
        let paint = || paint(gpu, targets, painter, request, SubmitOrder::NOW);
        self.shared.render(request, flight, paint);
        Ok(pending)
    }

    /// The device it renders on.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.shared.gpu
    }

    /// What the renderer has done.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let Shared {
            staging,
            targets,
            traffic,
            ..
        } = &*self.shared;
        traffic.stats(staging.report(), targets.report())
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        let mut jobs = self.shared.lock_jobs();
        jobs.closed = true;
        let unpainted = std::mem::take(&mut jobs.queue);
        drop(jobs);
        self.shared.job_came.notify_one();
        for job in unpainted {
            job.flight.end(Err(FrameError::Cancelled));
        }
        let Some(worker) = self.worker.take() else {
            return;
        };
        let deadline = deadline_after(self.shared.gpu.default_timeout());
        let is_engine_thread = worker.thread().id() == thread::current().id()
            || self.shared.gpu.fenced_queue().is_watched_by_this_thread();
        if !is_engine_thread && self.shared.traffic.wait_for_landings(deadline) {
            // A panic in it was reported when it happened.
            let _ = worker.join();
        }
        self.shared.staging.close();
    }
}

/// The renderer's thread.
impl Shared {
    fn run(self: Arc<Self>) {
        while let Some(Job {
            painter,
            request,
            flight,
        }) = self.next_job()
        {
            // The painter is free again as soon as it has painted: a host may lock it to change what
            // it draws, and must not wait for the GPU then.
            let (shared, request) = (&self, &request);
            let paint = move || {
                let mut painter = painter.lock().unwrap_or_else(PoisonError::into_inner);
                paint(
                    &shared.gpu,
                    &shared.targets,
                    &mut *painter,
                    request,
                    shared.order,
                )
            };
            // A panic of wgpu's ends the frame it met (see `Flight`), and no other.
            let render = || self.render(request, flight, paint);
            if catch_unwind(AssertUnwindSafe(render)).is_err() {
                tracing::error!(number = request.number, "a panic ended a frame");
            }
        }
    }

    fn next_job(&self) -> Option<Job> {
        let mut jobs = self.lock_jobs();
        loop {
            if let Some(job) = jobs.queue.pop_front() {
                return Some(job);
            }
            if jobs.closed {
                return None;
            }
            jobs = self
                .job_came
                .wait(jobs)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// One frame's way.
impl Shared {
    /// Checks a request and waits until there is room for it.
    fn take_on(&self, request: &FrameRequest) -> Result<(PendingFrame, Flight), RequestError> {
        request.check(&self.gpu)?;
        let asked = Instant::now();
        let timeout = request
            .timeout
            .unwrap_or_else(|| self.gpu.default_timeout());
        let deadline = deadline_after(timeout);
        let depth = self.traffic.depth();
        self.traffic
            .take_off(request.number, asked, deadline)
            .ok_or_else(|| RequestError::Full {
                depth,
                waited: asked.elapsed(),
            })
    }

    /// Has a frame painted and submits it, or ends it with what kept it from being submitted.
    fn render(
        &self,
        request: &FrameRequest,
        flight: Flight,
        paint: impl FnOnce() -> Result<Painted, FrameError>,
    ) {
        if !flight.ticket().is_wanted() {
            flight.end(Err(FrameError::Cancelled));
            return;
        }
        let queue = self.gpu.fenced_queue();
        if let Some(lost) = queue.lost() {
            flight.end(Err(FrameError::DeviceLost(lost)));
            return;
        }
        let frame = tracing::debug_span!("frame", number = request.number);
        let _entered = frame.enter();
        let ticket = flight.ticket().clone();
        let mut timings = Timings::default();
        timings.queued = ticket.asked().elapsed();

        let started = Instant::now();
        ticket.enter(Stage::Paint);
        let painted = tracing::debug_span!("paint").in_scope(paint);
        timings.paint = started.elapsed();
        match painted {
            Ok(painted) => {
                let _entered = tracing::debug_span!("submit").entered();
                self.send(painted, request, timings, flight);
            }
            Err(error) => flight.end(Err(self.explain(error))),
        }
    }

    /// What a lost device looks like to whoever records on it is told by its name.
    fn explain(&self, error: FrameError) -> FrameError {
        match error {
            FrameError::Painter { .. }
            | FrameError::PainterPanicked { .. }
            | FrameError::Rejected { .. } => {
                let lost = self.gpu.fenced_queue().find_out_whether_lost();
                lost.map_or(error, FrameError::DeviceLost)
            }
            other => other,
        }
    }

    /// Adds the readback to a painted frame and submits it.
    fn send(&self, painted: Painted, request: &FrameRequest, mut timings: Timings, flight: Flight) {
        let started = Instant::now();
        let ticket = flight.ticket().clone();
        let formats = &request.outputs.colors;
        let layout = StagingLayout::new(request.region.size, formats.iter().copied());

        ticket.enter(Stage::StagingMemory);
        let (staging, error) = capture_errors(self.gpu.device(), || {
            self.staging.acquire(layout.total_bytes(), &ticket)
        });
        let staging = match (staging, error) {
            (Ok(staging), None) => staging,
            (_, Some(error)) => {
                let reason = error.to_string();
                return flight.end(Err(self.explain(FrameError::Rejected { reason })));
            }
            (Err(_full), None) => return flight.end(Err(ticket.timeout())),
        };
        let buffer = staging.buffer().clone();
        let Painted {
            mut encoder,
            targets,
        } = painted;
        let (commands, error) = capture_errors(self.gpu.device(), || {
            for (index, target) in targets.iter().enumerate() {
                layout.copy(&mut encoder, index, &target.texture, &buffer);
            }
            encoder.finish()
        });
        if let Some(error) = error {
            discard(targets);
            let reason = error.to_string();
            return flight.end(Err(self.explain(FrameError::Rejected { reason })));
        }

        ticket.enter(Stage::Driver);
        let (number, time, size) = (request.number, request.time, request.region.size);
        let formats = formats.clone();
        let on_done = move |done: Result<Done, SubmitError>| {
            let frame = done
                .map_err(|error| submit_failed(error, flight.ticket()))
                .and_then(|done| {
                    timings.wait = done.started.saturating_duration_since(started);
                    timings.submit = done.submitted.saturating_duration_since(done.started);
                    timings.gpu = done.submitted.elapsed();
                    // Nobody but a device that goes down takes this buffer from us.
                    let bytes = staging
                        .into_mapped()
                        .map_err(|error| SubmissionLost::new(error.to_string()))?;
                    let images = formats
                        .iter()
                        .zip(layout.images())
                        .map(|(&format, &plane)| {
                            let memory = FrameMemory::Staged(bytes.clone());
                            Image::new(format, format.default_color(), size, vec![plane], memory)
                        });
                    Ok(Frame::new(number, time, images.collect(), timings))
                });
            flight.end(frame);
        };
        let queue = self.gpu.fenced_queue();
        let proof = Proof::Map(&buffer);
        if queue.submit_then([commands], proof, ticket.deadline(), on_done) {
            ticket.enter(Stage::Gpu);
        } else {
            discard(targets);
        }
    }

    fn lock_jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("gpu", &self.gpu)
            .field("depth", &self.traffic.depth())
            .finish_non_exhaustive()
    }
}

/// What a frame ends with whose submission was not made or was lost.
fn submit_failed(error: SubmitError, ticket: &FrameTicket) -> FrameError {
    match error {
        SubmitError::Busy { .. } | SubmitError::Paused { .. } => ticket.timeout(),
        SubmitError::Lost(lost) => FrameError::DeviceLost(lost),
        refused => FrameError::Rejected {
            reason: refused.to_string(),
        },
    }
}
