//! The hardware of this machine: what it consists of, what that means for training, and its load.
//! Probing never fails: what cannot be found out is absent or given as a reason. Does not depend on
//! tensors, runs or windows.

mod advice;
mod load;
mod probe;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use advice::{
    Line, device_availability, device_support, first_guess, inference_availability, lines,
    precision_note, recommend,
};
pub use load::{BackgroundLoad, LoadSample, Meter, Watched};
pub use probe::{
    cuda_finding, machine, probe, probe_cpu, probe_in_subprocess, system, usable_cores,
};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hardware {
    pub system: String,
    pub cpu: Cpu,
    /// Memory of the machine, in bytes.
    pub memory_total: u64,
    /// Memory not in use, in bytes.
    pub memory_available: u64,
    /// Free disk where runs are kept, in bytes, if it could be found out.
    pub disk_free: Option<u64>,
    pub gpus: Vec<Gpu>,
    /// Why there are no NVIDIA GPUs in the list, if there is more to say than that none was
    /// found.
    pub gpu_finding: Option<String>,
    /// What stands against computing on the NVIDIA GPUs that were found; `None` if nothing does,
    /// or there are none.
    pub cuda_finding: Option<String>,
    pub metal: Option<Metal>,
}

impl Hardware {
    /// The machine in a few words, as runs note it: "AMD EPYC 9B45, 2 cores, Linux (Debian 12)".
    pub fn in_words(&self) -> String {
        probe::in_words(&self.cpu, &self.system)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    pub brand: String,
    /// Physical cores, if known.
    pub physical_cores: Option<u32>,
    /// Cores this process may run on.
    pub usable_cores: u32,
    /// Performance and efficiency cores, if the processor has two kinds.
    pub performance_cores: Option<u32>,
    /// See `performance_cores`.
    pub efficiency_cores: Option<u32>,
    /// Instruction sets that matter here, in the field's spelling ("AVX2", "AVX-512", "AVX-512
    /// BF16", "NEON").
    pub simd: Vec<String>,
}

/// An NVIDIA GPU, as its driver reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gpu {
    pub name: String,
    /// Its memory, in bytes.
    pub memory_total: u64,
    /// Its free memory, in bytes.
    pub memory_free: u64,
    pub driver: String,
    /// The newest CUDA version the driver takes, as "13.0".
    pub cuda: String,
    /// Compute capability, as "8.6".
    pub compute_capability: String,
    /// In degrees Celsius, if it is reported.
    pub temperature: Option<u32>,
    /// In watts, if it is reported.
    pub power: Option<f32>,
    /// Fraction of the last moment in which it computed, 0 to 1, if it is reported.
    pub utilization: Option<f32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metal {
    pub name: String,
    /// True when it shares the machine's memory.
    pub unified_memory: bool,
    /// The most memory it should use, in bytes.
    pub working_set: u64,
}
