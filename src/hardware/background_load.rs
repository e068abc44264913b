//! How busy other programs keep the CPU while this one measures something.

use std::time::Instant;

use sysinfo::{MINIMUM_CPU_UPDATE_INTERVAL, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The load of the CPU by all processes but this one.
pub struct BackgroundLoad {
    /// `None` if the system is not supported.
    system: Option<System>,
    since: Instant,
    /// The CPU time of this process until then, in milliseconds.
    own: u64,
}

impl BackgroundLoad {
    /// Starts to look.
    pub fn start() -> Self {
        let mut load = Self {
            system: System::new().ok(),
            since: Instant::now(),
            own: 0,
        };
        load.measure();
        load
    }

    /// The mean load since the last call that gave one, as a share of all cores from 0 to 1; `None`
    /// if that was too short a time ago, or the system does not tell.
    pub fn measure(&mut self) -> Option<f32> {
        let system = self.system.as_mut()?;
        let elapsed = self.since.elapsed();
        if self.own > 0 && elapsed < MINIMUM_CPU_UPDATE_INTERVAL {
            return None;
        }
        system.refresh_cpu_usage();
        let this = Pid::from_u32(std::process::id());
        system.refresh_processes_specifics(
            ProcessesToUpdate::Some(&[this]),
            false,
            ProcessRefreshKind::nothing().with_cpu(),
        );
        let own = system.process(this)?.accumulated_cpu_time();
        let cores = system.cpus().len().max(1) as f32;
        let ours =
            own.saturating_sub(self.own) as f32 / 1e3 / elapsed.as_secs_f32().max(1e-3) / cores;
        let all = system.global_cpu_usage() / 100.0;
        (self.own, self.since) = (own.max(1), Instant::now());
        Some((all - ours).clamp(0.0, 1.0))
    }
}

impl std::fmt::Debug for BackgroundLoad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackgroundLoad")
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}
