//! Owns how much memory processes hold. Must not know what for.

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
            self.bytes = memory_held(system, &[std::process::id()]).unwrap_or(self.bytes);
        }
        self.bytes
    }
}

/// Resident memory of the processes of these numbers together; `None` where none of them is there.
pub fn memory_held(system: &mut System, processes: &[u32]) -> Option<u64> {
    let processes: Vec<Pid> = processes.iter().copied().map(Pid::from_u32).collect();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&processes), true, ProcessRefreshKind::nothing().with_memory());
    processes.iter().filter_map(|&process| Some(system.process(process)?.memory())).reduce(|all, one| all + one)
}
