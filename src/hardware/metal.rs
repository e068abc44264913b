//! Probing the Apple GPU, without creating queues or buffers.

use candle_metal_kernels::metal::Device;
use objc2_metal::MTLDevice;

use super::Metal;

pub(super) fn probe() -> Option<Metal> {
    let device = Device::system_default()?;
    Some(Metal {
        name: device.as_ref().name().to_string(),
        unified_memory: device.as_ref().hasUnifiedMemory(),
        working_set: device.recommended_max_working_set_size() as u64,
    })
}
