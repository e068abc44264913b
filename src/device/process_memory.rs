use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The memory of this process, as the system reports it.
#[derive(Debug)]
pub struct ProcessMemory {
    system: Option<System>,
    bytes: u64,
}

impl Default for ProcessMemory {
    /// Without a reading yet.
    fn default() -> Self {
        Self {
            system: System::new().ok(),
            bytes: 0,
        }
    }
}

impl ProcessMemory {
    /// Resident memory of this process, in bytes; 0 if the system does not report it.
    pub fn bytes(&mut self) -> u64 {
        if let Some(system) = &mut self.system {
            self.bytes = memory_held(system, &[std::process::id()]).unwrap_or(self.bytes);
        }
        self.bytes
    }
}

/// Total resident memory of these process ids, in bytes; `None` if none of them is running.
pub fn memory_held(system: &mut System, processes: &[u32]) -> Option<u64> {
    let processes: Vec<Pid> = processes.iter().copied().map(Pid::from_u32).collect();
    system.refresh_processes_specifics(
        ProcessesToUpdate::Some(&processes),
        true,
        ProcessRefreshKind::nothing().with_memory(),
    );
    processes
        .iter()
        .filter_map(|&process| Some(system.process(process)?.memory()))
        .reduce(|all, one| all + one)
}
