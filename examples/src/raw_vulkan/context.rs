//! Instance, device and queue.

use std::ffi::CStr;

use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;

/// A device with one queue.
pub(super) struct Context {
    pub(super) device: ash::Device,
    pub(super) queue: vk::Queue,
    pub(super) queue_family: u32,
    memory: vk::PhysicalDeviceMemoryProperties,
    // Destroyed after the device, which `drop` destroys.
    _instance: Instance,
}

impl Context {
    /// Opens the adapter that `adapter` describes.
    pub(super) fn open(adapter: &wgpu::AdapterInfo) -> Result<Self> {
        ensure!(
            adapter.backend == wgpu::Backend::Vulkan,
            "raw-vulkan needs a Vulkan adapter; {:?} is driven through {}",
            adapter.name,
            adapter.backend
        );
        let instance = Instance::new()?;
        let physical = instance.find(adapter)?;
        let queue_family = instance.graphics_family(physical)?;
        let device = instance.open(physical, queue_family)?;
        // SAFETY: the device was made with one queue of this family.
        let queue = unsafe { device.get_device_queue(queue_family, 0) };
        // SAFETY: the physical device is of this instance.
        let memory = unsafe { instance.raw.get_physical_device_memory_properties(physical) };
        Ok(Self {
            device,
            queue,
            queue_family,
            memory,
            _instance: instance,
        })
    }

    /// The memory type that is allowed by `allowed` (a bit for each type) and has the properties
    /// that come first in `wanted`.
    pub(super) fn memory_type(
        &self,
        allowed: u32,
        wanted: &[vk::MemoryPropertyFlags],
    ) -> Result<u32> {
        let types = self.memory.memory_types_as_slice();
        let with = |flags| {
            (0..).zip(types).find_map(|(index, memory)| {
                let fits = allowed & (1 << index) != 0 && memory.property_flags.contains(flags);
                fits.then_some(index)
            })
        };
        wanted
            .iter()
            .find_map(|&flags| with(flags))
            .with_context(|| format!("the adapter has no memory that is any of {wanted:?}"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: every object of the device holds an `Rc` of this value, so none is left.
        unsafe { self.device.destroy_device(None) };
    }
}

struct Instance {
    raw: ash::Instance,
    // Keeps the loader's library open.
    _entry: ash::Entry,
}

impl Instance {
    fn new() -> Result<Self> {
        // SAFETY: nothing is asked of a caller but that the system's Vulkan loader be sound.
        let entry = unsafe { ash::Entry::load() }.context("loading Vulkan")?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: `info` asks for no layer or extension; all it points to outlives the call.
        let raw = unsafe { entry.create_instance(&info, None) }.context("vkCreateInstance")?;
        Ok(Self { raw, _entry: entry })
    }

    /// The physical device that wgpu describes with `adapter`.
    fn find(&self, adapter: &wgpu::AdapterInfo) -> Result<vk::PhysicalDevice> {
        // SAFETY: the instance is alive, as in every block below.
        let devices =
            unsafe { self.raw.enumerate_physical_devices() }.context("listing the adapters")?;
        for device in devices {
            // SAFETY: the physical device is of this instance.
            let properties = unsafe { self.raw.get_physical_device_properties(device) };
            let name = properties.device_name_as_c_str().map(CStr::to_string_lossy);
            if (properties.vendor_id, properties.device_id) == (adapter.vendor, adapter.device)
                && name.is_ok_and(|name| name == adapter.name)
            {
                ensure!(
                    properties.api_version >= vk::API_VERSION_1_2,
                    "raw-vulkan needs Vulkan 1.2, which {:?} has not",
                    adapter.name
                );
                return Ok(device);
            }
        }
        bail!("Vulkan itself lists no adapter {:?}", adapter.name);
    }

    /// The first queue family that draws; such a family copies as well.
    fn graphics_family(&self, physical: vk::PhysicalDevice) -> Result<u32> {
        // SAFETY: the physical device is of this instance.
        let families = unsafe {
            self.raw
                .get_physical_device_queue_family_properties(physical)
        };
        (0..)
            .zip(&families)
            .find_map(|(index, family)| {
                let draws = family.queue_flags.contains(vk::QueueFlags::GRAPHICS);
                draws.then_some(index)
            })
            .context("the adapter has no queue that draws")
    }

    fn open(&self, physical: vk::PhysicalDevice, queue_family: u32) -> Result<ash::Device> {
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(queue_family)
            .queue_priorities(&[1.0])];
        // Every adapter with Vulkan 1.2 has it.
        let mut timelines =
            vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut timelines);
        // SAFETY: the physical device is of this instance, the queue family is one of its own, the
        // feature is one that it must have; all that `info` points to outlives the call.
        unsafe { self.raw.create_device(physical, &info, None) }.context("vkCreateDevice")
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the device, the only object made from it, was destroyed before.
        unsafe { self.raw.destroy_instance(None) };
    }
}
