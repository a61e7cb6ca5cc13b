//! Recorded commands: draw a frame, copy it out.

use std::rc::Rc;

use anyhow::{Context as _, Result};
use ash::vk;
use framefence::Size;

use super::context::Context;
use super::owned::Owned;
use super::pipeline::Pipeline;
use super::resources::{Readback, Target};
use crate::gradient;

/// A pool for command buffers that are recorded once.
pub(super) fn pool(context: &Rc<Context>) -> Result<Owned<vk::CommandPool>> {
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family);
    // SAFETY: the family is the one that the device was made with. The handle is new and ours.
    Ok(unsafe { Owned::new(context, context.device.create_command_pool(&info, None)?) })
}

/// `count` unrecorded command buffers of `pool`, freed with it.
pub(super) fn allocate(
    context: &Context,
    pool: &Owned<vk::CommandPool>,
    count: u32,
) -> Result<Vec<vk::CommandBuffer>> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(**pool)
        .level(vk::CommandBufferLevel::PRIMARY)
        .command_buffer_count(count);
    // SAFETY: the pool is of this device and used by this thread alone.
    unsafe { context.device.allocate_command_buffers(&info) }.context("vkAllocateCommandBuffers")
}

/// Records a frame in `phase`: drawn into `target`, copied to `readback`, visible to the host.
pub(super) fn record(
    context: &Context,
    commands: vk::CommandBuffer,
    pipeline: &Pipeline,
    target: &Target,
    readback: &Readback,
    size: Size,
    phase: u32,
) -> Result<()> {
    let device = &context.device;
    let area = vk::Rect2D {
        offset: vk::Offset2D::default(),
        extent: vk::Extent2D {
            width: size.width,
            height: size.height,
        },
    };
    let pass = vk::RenderPassBeginInfo::default()
        .render_pass(*pipeline.render_pass)
        .framebuffer(*target.framebuffer)
        .render_area(area);
    let copy = vk::BufferImageCopy::default()
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        })
        .image_extent(area.extent.into());
    let to_host = vk::BufferMemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .buffer(*readback.buffer)
        .size(vk::WHOLE_SIZE);
    // SAFETY: the command buffer is new, its pool is used by this thread alone, and all that the
    // commands refer to is of this device and outlives it (`RawVulkan`'s field order). Pass,
    // framebuffer and pipeline belong together; the buffer holds one frame of this size.
    unsafe {
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        device.cmd_begin_render_pass(commands, &pass, vk::SubpassContents::INLINE);
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, *pipeline.raw);
        device.cmd_draw(
            commands,
            gradient::VERTICES.len() as u32,
            1,
            gradient::VERTICES.start,
            phase,
        );
        device.cmd_end_render_pass(commands);
        device.cmd_copy_image_to_buffer(
            commands,
            *target.image,
            vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
            *readback.buffer,
            &[copy],
        );
        device.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::TRANSFER,
            vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &[],
            &[to_host],
            &[],
        );
        device.end_command_buffer(commands)
    }
    .context("recording a frame")
}
