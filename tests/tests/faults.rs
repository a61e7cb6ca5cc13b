//! Painters that fail, and owners that go before their frames.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use framefence::{
    Frame, FrameError, FrameRequest, Gpu, PaintContext, Painter, PainterError, PendingFrame,
    Readiness, Renderer, RendererOptions, Size, Stage, Time, TimeSpan, WhenMissing,
};
use framefence_tests::{
    Gate, Host, Pattern, gpu, submit_gated, validation_messages, wait_for, within,
};

const SIZE: Size = Size::new(16, 16);
/// Shorter than any frame's deadline, so that a frame that waits for it fails its test.
const WATCHDOG: Duration = Duration::from_secs(50);

/// What goes wrong in some frames.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Error,
    Panic,
    ErrorInPrepare,
    PanicInPrepare,
}

/// Paints the pattern, but for the frames of certain numbers.
struct Faulty {
    pattern: Pattern,
    fault: Fault,
    frames: BTreeSet<u64>,
}

impl Painter for Faulty {
    fn prepare(&mut self, _: &Gpu, span: TimeSpan) -> Result<Readiness, PainterError> {
        let number = u64::try_from(span.start.numerator())?;
        match self.fault {
            Fault::ErrorInPrepare if self.frames.contains(&number) => Err("out of film".into()),
            Fault::PanicInPrepare if self.frames.contains(&number) => panic!("film torn"),
            _ => Ok(Readiness::Ready),
        }
    }

    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        self.pattern.paint(context)?;
        match self.fault {
            Fault::Error if self.frames.contains(&context.view.number) => {
                Err("out of paint".into())
            }
            Fault::Panic if self.frames.contains(&context.view.number) => panic!("brush broken"),
            _ => Ok(()),
        }
    }
}

#[test]
fn a_painters_fault_ends_its_frame_and_no_other() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        for (fault, words) in [
            (Fault::Error, "the painter failed: out of paint"),
            (Fault::ErrorInPrepare, "the painter failed: out of film"),
            (Fault::Panic, "the painter panicked: brush broken"),
            (Fault::PanicInPrepare, "the painter panicked: film torn"),
        ] {
            let renderer = renderer(&gpu, 3);
            let frames = BTreeSet::from([0, 4, 5, 11]);
            let painter = Arc::new(Mutex::new(Faulty {
                pattern: Pattern::default(),
                fault,
                frames: frames.clone(),
            }));
            let ends = (0..12).map(|number| {
                let time = Time::from_ratio(number as i64, 1);
                let request = FrameRequest::new(number, time, SIZE);
                (number, renderer.submit(&painter, request).unwrap())
            });
            // Collected in threes, so that others are in flight while one fails.
            let ends: Vec<_> = ends.collect_in_threes();
            for (number, end) in ends {
                match end {
                    Ok(frame) => {
                        assert!(!frames.contains(&number), "{fault:?}");
                        Pattern::assert_shown(&frame);
                    }
                    Err(error) => {
                        assert!(frames.contains(&number), "{fault:?}: {error}");
                        assert_eq!(in_full(&error), words);
                    }
                }
            }
            let stats = renderer.stats();
            assert_eq!((stats.delivered, stats.failed, stats.abandoned), (8, 4, 0));
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

trait CollectInThrees {
    fn collect_in_threes(self) -> Vec<(u64, Result<Frame, FrameError>)>;
}

impl<I: Iterator<Item = (u64, PendingFrame)>> CollectInThrees for I {
    fn collect_in_threes(mut self) -> Vec<(u64, Result<Frame, FrameError>)> {
        let mut ends = Vec::new();
        loop {
            let three: Vec<_> = self.by_ref().take(3).collect();
            if three.is_empty() {
                return ends;
            }
            ends.extend(
                three
                    .into_iter()
                    .map(|(number, pending)| (number, pending.wait())),
            );
        }
    }
}

/// Paints what is there, and says that two things are not.
struct Incomplete(Pattern);

impl Painter for Incomplete {
    fn prepare(&mut self, _: &Gpu, _: TimeSpan) -> Result<Readiness, PainterError> {
        let missing = ["clouds.mp4", "title.png"].map(str::to_owned);
        Ok(Readiness::Missing(missing.to_vec()))
    }

    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        self.0.paint(context)
    }
}

#[test]
fn what_is_missing_is_named_or_painted_without() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu, 2);
        let painter = Arc::new(Mutex::new(Incomplete(Pattern::default())));
        let mut request = FrameRequest::new(3, Time::ZERO, SIZE);
        let refused = renderer.submit(&painter, request.clone()).unwrap().wait();
        match refused.unwrap_err() {
            error @ FrameError::NotReady { .. } => assert_eq!(
                error.to_string(),
                "not ready: still missing clouds.mp4, title.png"
            ),
            other => panic!("{other:?}"),
        }
        request.when_missing = WhenMissing::Paint;
        let painted = renderer.submit(&painter, request).unwrap().wait();
        Pattern::assert_shown(&painted.unwrap());
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_dropped_renderer_delivers_what_it_has_begun_and_cancels_the_rest() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu, 5);
        let gate = Gate::closed(&gpu);
        let on_gpu = submit_gated(&renderer, &gate);
        let (release, released) = channel();
        let mut pattern = Pattern::default();
        let held = move |context: &mut PaintContext<'_>| {
            released.recv()?;
            pattern.paint(context)
        };
        let held = Arc::new(Mutex::new(held));
        let request = FrameRequest::new(1, Time::ZERO, SIZE);
        let in_painter = renderer.submit(&held, request).unwrap();
        wait_for(&in_painter, Stage::Paint);
        let queued = [2, 3].map(|number| submit(&renderer, number));

        // It waits for what it has begun.
        let dropped = thread::spawn(move || drop(renderer));
        for pending in queued {
            assert!(matches!(pending.wait(), Err(FrameError::Cancelled)));
        }
        assert!(!on_gpu.is_finished() && !in_painter.is_finished());
        release.send(()).unwrap();
        gate.open();
        dropped.join().unwrap();
        Pattern::assert_shown(&on_gpu.wait().unwrap());
        Pattern::assert_shown(&in_painter.wait().unwrap());
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn frames_outlive_their_renderer_and_their_gpu() {
    within(WATCHDOG, || {
        let gpu = gpu();
        let renderer = renderer(&gpu, 3);
        let pending: Vec<_> = (0..3).map(|number| submit(&renderer, number)).collect();
        let held: Vec<_> = { pending.into_iter() }
            .map(|pending| pending.wait().unwrap())
            .collect();
        drop(renderer);
        drop(gpu);
        held.iter().for_each(Pattern::assert_shown);
        let elsewhere = thread::spawn(move || held.iter().for_each(Pattern::assert_shown));
        elsewhere.join().unwrap();
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn gpus_of_one_device_share_its_fences_and_gpus_of_two_do_not() {
    // Both are the first devices of their instances, and equal to wgpu in some of its numbers.
    let (one, other) = (Host::new(), Host::new());
    let (first, second, third) = (one.gpu(), one.gpu(), other.gpu());
    let submissions = |gpu: &Gpu| gpu.fenced_queue().report().submissions;
    within(WATCHDOG, move || {
        let timeout = Duration::from_secs(30);
        first
            .fenced_queue()
            .submit([], timeout)
            .unwrap()
            .wait()
            .unwrap();
        second
            .fenced_queue()
            .submit([], timeout)
            .unwrap()
            .wait()
            .unwrap();
        assert_eq!([&first, &second, &third].map(submissions), [2, 2, 0]);
        for (number, gpu) in (0..).zip([&first, &second, &third]) {
            let frame = submit(&renderer(gpu, 2), number).wait().unwrap();
            Pattern::assert_shown(&frame);
        }
        assert_eq!([&first, &second, &third].map(submissions), [4, 4, 1]);
        first.lost_marker()("for the test");
        assert!(second.lost().is_some());
        assert!(third.lost().is_none());
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

fn renderer(gpu: &Gpu, depth: usize) -> Renderer {
    Renderer::new(gpu, RendererOptions::default().with_depth(depth)).unwrap()
}

fn submit(renderer: &Renderer, number: u64) -> PendingFrame {
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let request = FrameRequest::new(number, Time::ZERO, SIZE);
    renderer.submit(&painter, request).unwrap()
}

/// An error with the one that caused it.
fn in_full(error: &FrameError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
