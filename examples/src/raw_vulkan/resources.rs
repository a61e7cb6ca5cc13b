//! The memory that frames are drawn into and read from.

use std::rc::Rc;

use anyhow::{Context as _, Result};
use ash::vk;
use framefence::Size;

use super::context::Context;
use super::owned::Owned;
use super::pipeline::FORMAT;

/// The image that is drawn into.
pub(super) struct Target {
    // Dropped in this order.
    pub(super) framebuffer: Owned<vk::Framebuffer>,
    _view: Owned<vk::ImageView>,
    pub(super) image: Owned<vk::Image>,
    _memory: Owned<vk::DeviceMemory>,
}

impl Target {
    /// A target of `size` for passes that are compatible with `render_pass`.
    pub(super) fn new(
        context: &Rc<Context>,
        render_pass: &Owned<vk::RenderPass>,
        size: Size,
    ) -> Result<Self> {
        let (image, memory) = image(context, size)?;
        let view = view(context, &image)?;
        let attachments = [*view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(**render_pass)
            .attachments(&attachments)
            .width(size.width)
            .height(size.height)
            .layers(1);
        // SAFETY: the render pass has one attachment of the view's format, and the view's image
        // has this size. The handle is new and ours.
        let framebuffer =
            unsafe { Owned::new(context, context.device.create_framebuffer(&info, None)?) };
        Ok(Self {
            framebuffer,
            _view: view,
            image,
            _memory: memory,
        })
    }
}

fn image(context: &Rc<Context>, size: Size) -> Result<(Owned<vk::Image>, Owned<vk::DeviceMemory>)> {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(FORMAT)
        .extent(vk::Extent3D {
            width: size.width,
            height: size.height,
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC)
        .initial_layout(vk::ImageLayout::UNDEFINED);
    let device = &context.device;
    // SAFETY: every adapter draws into and copies from optimally tiled images of this format, and
    // the caller keeps the size within its limits. The handle is new and ours.
    let image = unsafe {
        Owned::new(
            context,
            device.create_image(&info, None).context("vkCreateImage")?,
        )
    };
    // SAFETY: the image is of this device.
    let requirements = unsafe { device.get_image_memory_requirements(*image) };
    let memory = allocate(
        context,
        requirements,
        &[
            vk::MemoryPropertyFlags::DEVICE_LOCAL,
            vk::MemoryPropertyFlags::empty(),
        ],
    )?;
    // SAFETY: the memory was allocated to the image's requirements and is bound to nothing else.
    unsafe { device.bind_image_memory(*image, *memory, 0) }.context("vkBindImageMemory")?;
    Ok((image, memory))
}

fn view(context: &Rc<Context>, image: &Owned<vk::Image>) -> Result<Owned<vk::ImageView>> {
    let info = vk::ImageViewCreateInfo::default()
        .image(**image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(FORMAT)
        .subresource_range(COLOR);
    // SAFETY: the image is of this device and of this type and format. The handle is new and ours.
    Ok(unsafe { Owned::new(context, context.device.create_image_view(&info, None)?) })
}

/// All there is in an image of one level, one layer and one aspect.
const COLOR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

/// A buffer that frames are copied to, mapped for as long as it lives.
pub(super) struct Readback {
    // Dropped in this order; freeing the memory unmaps it.
    pub(super) buffer: Owned<vk::Buffer>,
    _memory: Owned<vk::DeviceMemory>,
    mapped: *const u8,
    len_bytes: usize,
}

impl Readback {
    /// A buffer of `len_bytes` in memory that the CPU reads fast, if there is any.
    pub(super) fn new(context: &Rc<Context>, len_bytes: usize) -> Result<Self> {
        let device = &context.device;
        let info = vk::BufferCreateInfo::default()
            .size(len_bytes as u64)
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the size is not zero. The handle is new and ours.
        let buffer = unsafe {
            Owned::new(
                context,
                device
                    .create_buffer(&info, None)
                    .context("vkCreateBuffer")?,
            )
        };
        // SAFETY: the buffer is of this device.
        let requirements = unsafe { device.get_buffer_memory_requirements(*buffer) };
        let coherent =
            vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = allocate(
            context,
            requirements,
            &[coherent | vk::MemoryPropertyFlags::HOST_CACHED, coherent],
        )?;
        // SAFETY: the memory was allocated to the buffer's requirements, is bound to nothing else.
        unsafe { device.bind_buffer_memory(*buffer, *memory, 0) }.context("vkBindBufferMemory")?;
        // SAFETY: the memory is host-visible and not mapped yet.
        let mapped =
            unsafe { device.map_memory(*memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }
                .context("vkMapMemory")?;
        Ok(Self {
            buffer,
            _memory: memory,
            mapped: mapped.cast_const().cast(),
            len_bytes,
        })
    }

    /// The mapped bytes.
    ///
    /// # Safety
    ///
    /// A frame was copied to all of them and its writes were made available to the host. No
    /// submission that writes them is pending, and none is submitted while they are borrowed.
    pub(super) unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is at least `len_bytes` long and lives as long as `self`; the rest
        // is the caller's duty.
        unsafe { std::slice::from_raw_parts(self.mapped, self.len_bytes) }
    }
}

/// Memory for `requirements`, with the properties that come first in `wanted`.
fn allocate(
    context: &Rc<Context>,
    requirements: vk::MemoryRequirements,
    wanted: &[vk::MemoryPropertyFlags],
) -> Result<Owned<vk::DeviceMemory>> {
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(requirements.size)
        .memory_type_index(context.memory_type(requirements.memory_type_bits, wanted)?);
    // SAFETY: the memory type is one of the adapter's. The handle is new and ours.
    Ok(unsafe {
        Owned::new(
            context,
            context
                .device
                .allocate_memory(&info, None)
                .context("vkAllocateMemory")?,
        )
    })
}
