//! Instance, adapter, device, queue, and what is known about them.

use std::sync::Arc;
use std::time::Duration;

use framefence_fence::{FenceBackend, FencedQueue, OpenFenceError, PauseError, SubmitPause};

/// Instance, adapter, device and queue, opened by the engine or handed over by a host.
///
/// Cloning gives another handle on the same ones; all are `Send` and `Sync`. Two `Gpu`s made from
/// one device share its submit lock.
#[derive(Clone, Debug)]
pub struct Gpu {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    instance: wgpu::Instance,
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    fenced: FencedQueue,
    info: GpuInfo,
}

/// How to open a [`Gpu`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GpuOptions {
    /// Which adapter.
    pub adapter: AdapterChoice,
    /// The graphics APIs to look for it in. Unless given: Vulkan, DirectX 12 and Metal, and OpenGL,
    /// whose waits cannot be had without wgpu's locks, where there is no other.
    pub backends: Option<wgpu::Backends>,
    /// Features that the device must have.
    pub features: wgpu::Features,
    /// Whether the driver API's validation layers are loaded; their messages go to the `log`
    /// crate's logger.
    pub validation: bool,
}

/// Which adapter to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// A discrete GPU if there is one, else an integrated one, else whatever there is.
    #[default]
    Best,
    /// One that runs on the CPU.
    Software,
    /// The first whose name contains this, whatever the case.
    Named(String),
}

/// What is known about an adapter and its device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuInfo {
    /// The adapter's name.
    pub name: String,
    /// The driver's name and version, as far as the backend tells.
    pub driver: String,
    /// The graphics API.
    pub backend: wgpu::Backend,
    /// Whether it runs on the CPU.
    pub software: bool,
    /// How the end of a submission is noticed.
    pub fence: FenceBackend,
    /// How many submissions the driver takes before its submit call blocks, measured when the
    /// device was first seen; `None` if it took as many as were tried.
    pub driver_capacity: Option<usize>,
}

/// A device that could not be opened or taken over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no adapter at all.
    #[error("no GPU driver was found: install one (Mesa's lavapipe, for one, renders on the CPU)")]
    NoAdapter,
    /// No adapter is as asked for.
    #[error("no adapter matches {wanted:?}; there are: {}", available.join(", "))]
    NoSuchAdapter {
        /// What was asked for.
        wanted: String,
        /// The names of those there are.
        available: Vec<String>,
    },
    /// The adapter did not give a device.
    #[error("the adapter {adapter} gave no device")]
    Device {
        /// The adapter's name.
        adapter: String,
        /// What wgpu said.
        #[source]
        source: wgpu::RequestDeviceError,
    },
    /// The device's queue could not be given fences.
    #[error("the device's queue could not be given fences")]
    Fence(#[from] OpenFenceError),
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            adapter: AdapterChoice::Best,
            backends: None,
            features: wgpu::Features::empty(),
            validation: false,
        }
    }
}

impl GpuOptions {
    /// Chooses the adapter.
    #[must_use]
    pub fn with_adapter(mut self, adapter: AdapterChoice) -> Self {
        self.adapter = adapter;
        self
    }

    /// Looks for the adapter in these graphics APIs alone.
    #[must_use]
    pub fn with_backends(mut self, backends: wgpu::Backends) -> Self {
        self.backends = Some(backends);
        self
    }

    /// Loads the driver API's validation layers, or not.
    #[must_use]
    pub fn with_validation(mut self, validation: bool) -> Self {
        self.validation = validation;
        self
    }
}

impl Gpu {
    /// Opens a device of its own, with the adapter's full limits. Blocks for as long as the driver
    /// takes, usually some tens of milliseconds.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if there is no such adapter or it gives no device.
    pub fn open(options: &GpuOptions) -> Result<Self, OpenError> {
        let flags = match options.validation {
            true => wgpu::InstanceFlags::VALIDATION | wgpu::InstanceFlags::DEBUG,
            false => wgpu::InstanceFlags::empty(),
        };
        let (instance, adapter) = choose_adapter(flags, options)?;
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("framefence"),
            required_features: options.features,
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|source| OpenError::Device {
            adapter: adapter.get_info().name,
            source,
        })?;
        let gpu = Self::from_host(instance, adapter, device, queue)?;
        gpu.watch_own_device();
        Ok(gpu)
    }

    /// Takes over a host's device, which stays the host's: nothing of it is ever destroyed, its
    /// callbacks stay as they are, and the host goes on submitting to its queue.
    ///
    /// wgpu tells the loss of a device to one callback only. A host that has set it calls a
    /// [`lost_marker`](Self::lost_marker) from there, so that frames in flight end at once; otherwise
    /// the next refused submit or failed wait tells.
    ///
    /// `wgpu::Device::destroy` takes the memory of mapped buffers away from whoever reads them, in
    /// wgpu as here: drop every [`Frame`](crate::Frame) first.
    ///
    /// # Errors
    ///
    /// [`OpenError::Fence`] if the device's queue cannot be given fences.
    pub fn from_host(
        instance: wgpu::Instance,
        adapter: wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
    ) -> Result<Self, OpenError> {
        let fenced = FencedQueue::of(&device, &queue)?;
        let info = GpuInfo::new(&adapter.get_info(), &fenced);
        tracing::info!(?info, "opened");
        Ok(Self {
            inner: Arc::new(Inner {
                instance,
                adapter,
                device,
                queue,
                fenced,
                info,
            }),
        })
    }

    /// The instance.
    #[must_use]
    pub fn instance(&self) -> &wgpu::Instance {
        &self.inner.instance
    }

    /// The adapter.
    #[must_use]
    pub fn adapter(&self) -> &wgpu::Adapter {
        &self.inner.adapter
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.inner.device
    }

    /// The queue. What is submitted here directly runs beside the engine's own submissions.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    /// The queue with its fences, for submissions that the caller wants to wait for.
    #[must_use]
    pub fn fenced_queue(&self) -> &FencedQueue {
        &self.inner.fenced
    }

    /// What is known about adapter and device.
    #[must_use]
    pub fn info(&self) -> &GpuInfo {
        &self.inner.info
    }

    /// How long a frame may take unless its request says otherwise: 10 s on a GPU, 60 s on a
    /// software adapter, whose first frame can take tens of seconds to compile.
    #[must_use]
    pub fn default_timeout(&self) -> Duration {
        Duration::from_secs(if self.inner.info.software { 60 } else { 10 })
    }

    /// Why the device was lost, if it was.
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        self.inner.fenced.lost().map(|lost| lost.reason.to_string())
    }

    /// A function that ends every frame in flight with `FrameError::DeviceLost` and the reason it
    /// is given. For a host's device-lost callback; it does not keep the device alive.
    pub fn lost_marker(&self) -> impl Fn(&str) + Send + Sync + 'static {
        self.inner.fenced.lost_marker()
    }

    /// Keeps the engine's submits to this device back, of all renderers on it, and waits until those
    /// that were made are done. Blocks for [`default_timeout`](Self::default_timeout) at most; frames
    /// go on as soon as the pause is dropped.
    ///
    /// For a host that is about to call `Surface::configure` on the device, which fails when another
    /// thread submits meanwhile; with nothing of the engine's in the driver, it also does not wait
    /// for the engine's work with wgpu's locks held. Frames that are asked for meanwhile are painted
    /// and wait with their own deadlines. A thread that holds a pause must not wait for a frame, nor
    /// submit one by [`Renderer::submit_now`](crate::Renderer::submit_now). Without a fence of the
    /// backend's own ([`FenceBackend::Polled`]), it keeps back what comes through this `Gpu` and its
    /// clones.
    ///
    /// # Errors
    ///
    /// [`PauseError`] if the GPU was busy for longer; then nothing is kept back.
    pub fn pause_submits(&self) -> Result<SubmitPause, PauseError> {
        self.inner.fenced.pause(self.default_timeout())
    }

    fn watch_own_device(&self) {
        let mark_lost = self.lost_marker();
        self.inner
            .device
            .set_device_lost_callback(move |reason, message| {
                mark_lost(&format!("{reason:?}: {message}"));
            });
        self.inner.device.on_uncaptured_error(Arc::new(|error| {
            tracing::error!(%error, "wgpu reported an error that no scope caught");
        }));
    }
}

impl GpuInfo {
    fn new(adapter: &wgpu::AdapterInfo, fenced: &FencedQueue) -> Self {
        Self {
            name: adapter.name.clone(),
            driver: format!("{} {}", adapter.driver, adapter.driver_info)
                .trim()
                .to_owned(),
            backend: adapter.backend,
            software: adapter.device_type == wgpu::DeviceType::Cpu,
            fence: fenced.backend(),
            driver_capacity: fenced.driver_capacity(),
        }
    }
}

/// The adapter that `options` ask for. OpenGL is not even loaded where it does not count.
fn choose_adapter(
    flags: wgpu::InstanceFlags,
    options: &GpuOptions,
) -> Result<(wgpu::Instance, wgpu::Adapter), OpenError> {
    let adapters_of = |backends| {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.flags = flags;
        descriptor.backends = backends;
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(backends));
        (instance, adapters)
    };
    let choice = &options.adapter;
    let backends = options.backends.unwrap_or(wgpu::Backends::PRIMARY);
    let (mut instance, mut adapters) = adapters_of(backends);
    if adapters.is_empty() && options.backends.is_none() {
        (instance, adapters) = adapters_of(wgpu::Backends::SECONDARY);
    }
    if adapters.is_empty() {
        return Err(OpenError::NoAdapter);
    }
    adapters.sort_by_key(|adapter| preference(adapter.get_info().device_type));
    let is_chosen = |info: &wgpu::AdapterInfo| match choice {
        AdapterChoice::Best => true,
        AdapterChoice::Software => info.device_type == wgpu::DeviceType::Cpu,
        AdapterChoice::Named(part) => info.name.to_lowercase().contains(&part.to_lowercase()),
    };
    let chosen = adapters
        .iter()
        .position(|adapter| is_chosen(&adapter.get_info()));
    match chosen {
        Some(index) => Ok((instance, adapters.swap_remove(index))),
        None => Err(OpenError::NoSuchAdapter {
            wanted: match choice {
                AdapterChoice::Named(name) => name.clone(),
                AdapterChoice::Best | AdapterChoice::Software => "software".to_owned(),
            },
            available: adapters
                .iter()
                .map(|adapter| adapter.get_info().name)
                .collect(),
        }),
    }
}

/// Lower is better.
fn preference(device_type: wgpu::DeviceType) -> u8 {
    match device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}
