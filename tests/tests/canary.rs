//! The validation layers are on, and what they say reaches the tests.
//!
//! A test binary of its own: the messages of a process fail every test in it.

#![allow(unsafe_code)]

use std::sync::{Arc, Mutex};

use ash::vk;
use framefence::wgpu::hal::api::Vulkan;
use framefence::{FrameRequest, Gpu, Renderer, RendererOptions, Size, Time};
use framefence_tests::{Pattern, allowed_messages, gpu, validation_messages};

#[test]
fn one_violation_is_seen_and_one_message_is_allowed() {
    let gpu = gpu();

    // Shaders of the engine and of a painter, which is where the allowed message comes from.
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let request = FrameRequest::new(0, Time::ZERO, Size::new(4, 4));
    let frame = renderer.submit(&painter, request).unwrap().wait().unwrap();
    Pattern::assert_shown(&frame);
    assert_eq!(validation_messages(), Vec::<String>::new());
    let is_the_known_one = |message: &String| {
        message.contains("UNASSIGNED-CoreValidation-Shader-InconsistentSpirv")
            && message.ends_with("Invalid source language operand: 10")
    };
    let allowed = allowed_messages();
    assert!(allowed.iter().all(is_the_known_one), "{allowed:#?}");

    create_empty_buffer(&gpu);
    let messages = validation_messages();
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let rule = "VUID-VkBufferCreateInfo-size-00912";
    assert!(messages[0].contains(rule), "{}", messages[0]);
}

/// Breaks a rule of the Vulkan API that has no consequences.
fn create_empty_buffer(gpu: &Gpu) {
    // SAFETY: the guard is only used to reach the device's function table.
    let hal = unsafe { gpu.device().as_hal::<Vulkan>() }.expect("the tests run on Vulkan");
    let info = vk::BufferCreateInfo::default()
        .size(0)
        .usage(vk::BufferUsageFlags::TRANSFER_DST);
    // SAFETY: none is claimed. A size of 0 is invalid usage, which the layers are to report;
    // drivers make a buffer that holds nothing, or refuse.
    if let Ok(buffer) = unsafe { hal.raw_device().create_buffer(&info, None) } {
        // SAFETY: the buffer was made just now and was never used.
        unsafe { hal.raw_device().destroy_buffer(buffer, None) };
    }
}
