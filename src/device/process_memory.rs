//! Owns how much memory this process holds. Must not know what for.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Asks the system.
#[derive(Debug)]
pub struct ProcessMemory {
    system: Option<System>,
    bytes: u64,
}

impl Default for ProcessMemory {
    /// Nothing asked yet.
    fn default() -> Self {
        Self { system: System::new().ok(), bytes: 0 }
    }
}

impl ProcessMemory {
    /// Resident memory of this process, in bytes; 0 where the system does not tell.
    pub fn bytes(&mut self) -> u64 {
        if let Some(system) = &mut self.system {
            let this = Pid::from_u32(std::process::id());
            let what = ProcessRefreshKind::nothing().with_memory();
            system.refresh_processes_specifics(ProcessesToUpdate::Some(&[this]), false, what);
            self.bytes = system.process(this).map_or(self.bytes, sysinfo::Process::memory);
        }
        self.bytes
    }
}
