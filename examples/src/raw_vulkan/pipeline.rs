//! The gradient's shader, render pass and pipeline.

use std::ffi::CString;
use std::rc::Rc;

use anyhow::{Context as _, Result};
use ash::vk;
use framefence::Size;
use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::context::Context;
use super::owned::Owned;
use crate::gradient;

/// The target's format.
pub(super) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// The pass that draws a frame and what it draws with.
pub(super) struct Pipeline {
    pub(super) raw: Owned<vk::Pipeline>,
    pub(super) render_pass: Owned<vk::RenderPass>,
}

impl Pipeline {
    /// A pipeline for targets of `size`.
    pub(super) fn new(context: &Rc<Context>, size: Size) -> Result<Self> {
        let render_pass = render_pass(context)?;
        let raw = pipeline(context, &render_pass, size)?;
        Ok(Self { raw, render_pass })
    }
}

/// One colour attachment whose old content nobody needs and whose new content is copied next.
fn render_pass(context: &Rc<Context>) -> Result<Owned<vk::RenderPass>> {
    let attachments = [vk::AttachmentDescription::default()
        .format(FORMAT)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::DONT_CARE)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
        .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
    let colors = [vk::AttachmentReference::default()
        .attachment(0)
        .layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)];
    let dependencies = [
        // The frame before has been copied out of the target before this one is drawn.
        vk::SubpassDependency::default()
            .src_subpass(vk::SUBPASS_EXTERNAL)
            .dst_subpass(0)
            .src_stage_mask(vk::PipelineStageFlags::TRANSFER)
            .dst_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
            .dst_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE),
        // This frame has been drawn before it is copied.
        vk::SubpassDependency::default()
            .src_subpass(0)
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
            .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags::TRANSFER)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    // SAFETY: the subpass and the dependencies refer to what `info` has. The handle is new, ours.
    Ok(unsafe { Owned::new(context, context.device.create_render_pass(&info, None)?) })
}

fn pipeline(
    context: &Rc<Context>,
    render_pass: &Owned<vk::RenderPass>,
    size: Size,
) -> Result<Owned<vk::Pipeline>> {
    let device = &context.device;
    let vertex = shader(context, naga::ShaderStage::Vertex, gradient::VERTEX, &[])?;
    let fragment = shader(
        context,
        naga::ShaderStage::Fragment,
        gradient::FRAGMENT,
        &gradient::constants(size),
    )?;
    let (vertex_name, fragment_name) = (
        CString::new(gradient::VERTEX)?,
        CString::new(gradient::FRAGMENT)?,
    );
    let stages = [
        vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::VERTEX)
            .module(*vertex)
            .name(&vertex_name),
        vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::FRAGMENT)
            .module(*fragment)
            .name(&fragment_name),
    ];
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    let input_assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let area = vk::Rect2D {
        offset: vk::Offset2D::default(),
        extent: vk::Extent2D {
            width: size.width,
            height: size.height,
        },
    };
    let scissors = [area];
    let viewports = [vk::Viewport {
        x: 0.0,
        y: 0.0,
        width: size.width as f32,
        height: size.height as f32,
        min_depth: 0.0,
        max_depth: 1.0,
    }];
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewports(&viewports)
        .scissors(&scissors);
    let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(vk::PolygonMode::FILL)
        .cull_mode(vk::CullModeFlags::NONE)
        .line_width(1.0);
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let attachments = [vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
    // SAFETY: an empty layout is valid. The handle is new and ours.
    let layout = unsafe {
        Owned::new(
            context,
            device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?,
        )
    };
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&input_assembly)
        .viewport_state(&viewport)
        .rasterization_state(&rasterization)
        .multisample_state(&multisample)
        .color_blend_state(&blend)
        .layout(*layout)
        .render_pass(**render_pass);
    // SAFETY: the stages match each other (naga validated the module) and use no resources, as the
    // layout says; the state fits the render pass's one attachment. The layout need not outlive
    // the call, since nothing is bound.
    let pipelines =
        unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    let pipelines = pipelines
        .map_err(|(_, error)| error)
        .context("vkCreateGraphicsPipelines")?;
    // SAFETY: the handle is new and ours.
    Ok(unsafe { Owned::new(context, pipelines[0]) })
}

/// The entry point `name` of the gradient's shader, translated as wgpu translates it.
fn shader(
    context: &Rc<Context>,
    stage: naga::ShaderStage,
    name: &str,
    constants: &[(&str, f64)],
) -> Result<Owned<vk::ShaderModule>> {
    let module = naga::front::wgsl::parse_str(gradient::WGSL)?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module)?;
    let constants = constants
        .iter()
        .map(|&(name, value)| (name.to_owned(), value))
        .collect();
    let (module, info) = naga::back::pipeline_constants::process_overrides(
        &module,
        &info,
        Some((stage, name)),
        &constants,
    )?;
    let options = spv::Options {
        lang_version: (1, 3),
        // Without the default's flip of y: the target's first row is the viewport's first.
        flags: spv::WriterFlags::empty(),
        ..Default::default()
    };
    let entry_point = spv::PipelineOptions {
        shader_stage: stage,
        entry_point: name.to_owned(),
    };
    let words = spv::write_vec(&module, &info, &options, Some(&entry_point))?;
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: naga writes valid SPIR-V for a module that it validated. The handle is new and ours.
    Ok(unsafe { Owned::new(context, context.device.create_shader_module(&info, None)?) })
}
