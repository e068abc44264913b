//! A device with the backend that computes on it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::Device;

use super::backend::cuda::{AUTOTUNED, CUDA};
use super::backend::{Backend, BackendKind, COMPOSED, CPU};
use crate::device::{ProcessMemory, open_device, release_freed_memory};
use crate::run_config::{ConfigError, DeviceChoice};

/// Returns true if memory is running out.
pub type MemoryExhausted = Arc<dyn Fn() -> bool + Send + Sync>;

/// A device, and the backend that computes on it.
#[derive(Clone)]
pub struct DeviceContext {
    pub device: Device,
    pub backend: &'static dyn Backend,
    exhausted: Option<MemoryExhausted>,
}

impl fmt::Debug for DeviceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} with the {:?} backend",
            self.device.location(),
            self.backend.kind()
        )
    }
}

impl DeviceContext {
    /// The CPU with our kernels.
    pub const CPU: Self = Self::new(Device::Cpu, CPU);

    pub const fn new(device: Device, backend: &'static dyn Backend) -> Self {
        Self {
            device,
            backend,
            exhausted: None,
        }
    }

    /// A device with the fastest backend for it.
    pub fn of(device: Device) -> Self {
        let backend = match device {
            Device::Cpu => CPU,
            Device::Cuda(_) => CUDA,
            Device::Metal(_) => COMPOSED,
        };
        Self::new(device, backend)
    }

    /// Opens a device; an error with the reason if there is none, or this program was built
    /// without it.
    pub fn open(choice: DeviceChoice) -> Result<Self, ConfigError> {
        open_device(choice).map(Self::of)
    }

    /// The same, with memory counting as exhausted when `exhausted` returns true.
    #[must_use]
    pub fn with_memory_check(self, exhausted: MemoryExhausted) -> Self {
        Self {
            exhausted: Some(exhausted),
            ..self
        }
    }

    /// The same, with memory counting as exhausted when this process holds more than this many
    /// bytes.
    #[must_use]
    pub fn with_memory_limit(self, bytes: u64) -> Self {
        let memory = Mutex::new(ProcessMemory::default());
        self.with_memory_check(Arc::new(move || {
            memory
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .bytes()
                > bytes
        }))
    }

    /// The same, finding the fastest algorithms for matrix multiplications by timing them, if
    /// `autotune` is set and the device has several.
    #[must_use]
    pub fn with_autotuning(self, autotune: bool) -> Self {
        if autotune && self.backend.kind() == BackendKind::Cuda {
            Self {
                backend: AUTOTUNED,
                ..self
            }
        } else {
            self
        }
    }

    /// True when memory is running out.
    pub fn is_memory_exhausted(&self) -> bool {
        self.exhausted.as_ref().is_some_and(|exhausted| exhausted())
    }

    /// Waits for the device to finish, and returns memory that is no longer used to the system.
    pub fn release_memory(&self) -> candle_core::Result<()> {
        self.device.synchronize()?;
        release_freed_memory(&self.device)
    }

    /// True if it is the same device with the same backend.
    pub fn is(&self, other: &Self) -> bool {
        self.backend.kind() == other.backend.kind() && self.device.same_device(&other.device)
    }
}
