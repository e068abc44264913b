//! Owns where tensors lie, and whose ops compute on them there. Must not know which place is best.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{Device, Result};

use super::cuda;
use super::process_memory::ProcessMemory;

/// Whose ops compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Ours for the processor.
    Ours,
    /// Ours for NVIDIA GPUs.
    Cuda,
    /// Compositions of candle's own, which every device of candle's has.
    Candle,
}

/// Says whether memory is running out.
pub type Exhausted = Arc<dyn Fn() -> bool + Send + Sync>;

/// Where tensors lie, and whose ops compute on them.
#[derive(Clone)]
pub struct Place {
    /// Where they lie.
    pub device: Device,
    /// Whose ops compute.
    pub kernels: Kernels,
    exhausted: Option<Exhausted>,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with {:?} kernels", self.device.location(), self.kernels)
    }
}

impl Place {
    /// The processor with our ops.
    pub const CPU: Self = Self::new(Device::Cpu, Kernels::Ours);

    /// A device with these ops.
    pub const fn new(device: Device, kernels: Kernels) -> Self {
        Self { device, kernels, exhausted: None }
    }

    /// A device with the best ops there are for it.
    pub const fn of(device: Device) -> Self {
        let kernels = match device {
            Device::Cpu => Kernels::Ours,
            Device::Cuda(_) => Kernels::Cuda,
            Device::Metal(_) => Kernels::Candle,
        };
        Self::new(device, kernels)
    }

    /// It, where memory counts as running out when `exhausted` says so.
    #[must_use]
    pub fn watched(self, exhausted: Exhausted) -> Self {
        Self { exhausted: Some(exhausted), ..self }
    }

    /// It, where memory counts as running out when this process holds more than so many bytes.
    #[must_use]
    pub fn limited(self, bytes: u64) -> Self {
        let held = Mutex::new(ProcessMemory::default());
        self.watched(Arc::new(move || held.lock().unwrap_or_else(PoisonError::into_inner).bytes() > bytes))
    }

    /// True when memory is running out there.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted.as_ref().is_some_and(|exhausted| exhausted())
    }

    /// Waits for what is being computed there, and hands memory that is not in use any more back to the system.
    pub fn release(&self) -> Result<()> {
        self.device.synchronize()?;
        if let Device::Cuda(device) = &self.device { cuda::release_freed_memory(device) } else { Ok(()) }
    }

    /// True where it is the same device with the same ops.
    pub fn is(&self, other: &Self) -> bool {
        self.kernels == other.kernels && self.device.same_device(&other.device)
    }
}
