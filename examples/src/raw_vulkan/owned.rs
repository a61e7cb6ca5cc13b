//! Vulkan objects that are destroyed when dropped.

use std::ops::Deref;
use std::rc::Rc;

use ash::vk;

use super::context::Context;

/// An object of a device, destroyed when dropped; the device lives at least as long.
///
/// `RawVulkan` waits for the device to be idle before any of them is dropped.
pub(super) struct Owned<T: Destroy> {
    handle: T,
    context: Rc<Context>,
}

impl<T: Destroy> Owned<T> {
    /// Takes over `handle`.
    ///
    /// # Safety
    ///
    /// It was made on the device of `context` and nobody else destroys it. When the value is
    /// dropped, the GPU has finished with it.
    pub(super) unsafe fn new(context: &Rc<Context>, handle: T) -> Self {
        Self {
            handle,
            context: Rc::clone(context),
        }
    }
}

impl<T: Destroy> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.handle
    }
}

impl<T: Destroy> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: `new` was promised that the handle is of this device, ours, and unused by now.
        unsafe { self.handle.destroy(&self.context.device) };
    }
}

/// A handle that its device destroys.
pub(super) trait Destroy: Copy {
    /// Destroys the object.
    ///
    /// # Safety
    ///
    /// It is of `device`, in use by nobody, and not used afterwards.
    unsafe fn destroy(self, device: &ash::Device);
}

macro_rules! destroyed_by {
    ($($handle:ident: $destroy:ident),+ $(,)?) => {
        $(impl Destroy for vk::$handle {
            unsafe fn destroy(self, device: &ash::Device) {
                // SAFETY: the caller's duty is the same.
                unsafe { device.$destroy(self, None) }
            }
        })+
    };
}

destroyed_by! {
    Buffer: destroy_buffer,
    CommandPool: destroy_command_pool,
    DeviceMemory: free_memory,
    Framebuffer: destroy_framebuffer,
    Image: destroy_image,
    ImageView: destroy_image_view,
    Pipeline: destroy_pipeline,
    PipelineLayout: destroy_pipeline_layout,
    RenderPass: destroy_render_pass,
    Semaphore: destroy_semaphore,
    ShaderModule: destroy_shader_module,
}
