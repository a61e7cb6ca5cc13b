//! Memory that the GPU and the CPU see at the same time.

#![allow(unsafe_code)]

use ash::vk;
use framefence::wgpu::hal::api::Vulkan;
use framefence::wgpu::hal::vulkan::Buffer as HalBuffer;
use framefence::{Gpu, wgpu};

/// A buffer that the CPU has mapped all the time, without wgpu's knowledge, so that it can be read
/// and written while the GPU is at work.
#[derive(Debug)]
pub struct SharedMemory {
    /// Owns the memory: as long as it lives, `words` points to as many as were asked for.
    buffer: wgpu::Buffer,
    words: *mut u32,
    len: usize,
}

// SAFETY: the pointer is to memory that belongs to the value and to no thread, and all access
// through it is volatile reads and writes of single words.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Memory of `len` words, each of them `word`.
    ///
    /// # Panics
    ///
    /// If the driver has no such memory.
    #[must_use]
    pub fn new(gpu: &Gpu, len: usize, word: u32, usage: wgpu::BufferUsages) -> Self {
        let size = (len * size_of::<u32>()) as u64;
        let (hal_buffer, words) = allocate(gpu, size);
        for index in 0..len {
            // SAFETY: `words` points to `len` words, and the GPU does not know of them yet.
            unsafe { words.wrapping_add(index).write(word) };
        }
        let descriptor = wgpu::BufferDescriptor {
            label: Some("shared memory"),
            size,
            usage,
            mapped_at_creation: false,
        };
        let device = gpu.device();
        // SAFETY: it was made from this device, of this size, for more usages, and is initialised.
        let buffer = unsafe { device.create_buffer_from_hal::<Vulkan>(hal_buffer, &descriptor) };
        Self { buffer, words, len }
    }

    /// The buffer, for the GPU.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// What is there now, whether or not the GPU is at work on it.
    #[must_use]
    pub fn read(&self) -> Vec<u8> {
        let word = |index| {
            // SAFETY: `words` points to `len` initialised words. The GPU may write them at the
            // same time: a volatile read takes what is there.
            unsafe { self.words.wrapping_add(index).read_volatile() }
        };
        (0..self.len)
            .flat_map(|index| word(index).to_ne_bytes())
            .collect()
    }

    /// Writes the first word, which the GPU may be reading.
    pub fn write_first(&self, word: u32) {
        // SAFETY: `words` points to `len` words, which is at least one.
        unsafe { self.words.write_volatile(word) };
    }
}

/// A buffer of `size` bytes, and where it is mapped. The buffer owns the memory.
fn allocate(gpu: &Gpu, size: u64) -> (HalBuffer, *mut u32) {
    // SAFETY: the guard lives until the end of this function, and nothing is freed through it.
    let hal = unsafe { gpu.device().as_hal::<Vulkan>() }.expect("the tests run on Vulkan");
    let device = hal.raw_device();
    let info = vk::BufferCreateInfo::default()
        .size(size)
        .usage(vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::STORAGE_BUFFER);
    // SAFETY: the device is alive and the usage is plain.
    let raw = unsafe { device.create_buffer(&info, None) }.expect("a small buffer");
    // SAFETY: the buffer was made from this device.
    let needs = unsafe { device.get_buffer_memory_requirements(raw) };
    let instance = hal.shared_instance().raw_instance();
    let physical = hal.raw_physical_device();
    // SAFETY: the physical device was enumerated from this instance.
    let types = unsafe { instance.get_physical_device_memory_properties(physical) };
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let fits = |(index, kind): &(u32, &vk::MemoryType)| {
        needs.memory_type_bits & (1 << index) != 0 && kind.property_flags.contains(wanted)
    };
    let (memory_type, _) = (0..)
        .zip(types.memory_types_as_slice())
        .find(fits)
        .expect("Vulkan promises memory that is visible to the host and coherent");
    let allocation = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(memory_type);
    // SAFETY: the type is one of the device's.
    let memory = unsafe { device.allocate_memory(&allocation, None) }.expect("a little memory");
    // SAFETY: the memory is of a size and type that the buffer takes, and all its own.
    unsafe { device.bind_buffer_memory(raw, memory, 0) }.expect("the memory fits the buffer");
    // SAFETY: the memory is visible to the host and not mapped yet.
    let mapped =
        unsafe { device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
    let words = mapped.expect("the memory can be mapped").cast::<u32>();
    // SAFETY: buffer and memory are handed over whole, and nobody else frees them.
    let hal_buffer = unsafe { HalBuffer::from_raw_managed(raw, memory, 0, size) };
    (hal_buffer, words)
}
