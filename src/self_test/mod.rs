//! Whether a device computes correctly: every op with its gradients, a short training that must
//! learn, and a model that must classify as it does on the CPU.
//!
//! Ops are compared with compositions of candle's own ops on the CPU, in f32: other code, by other
//! people. The CPU is tested like any other device: its kernels are ours, and selected by the
//! instruction sets it reports.

mod error;
mod learning;
mod op_cases;
mod op_check;
mod report;
mod subprocess;

use std::time::Instant;

pub use error::SelfTestError;
pub use op_cases::{Case, all as cases};
pub use op_check::check;
pub use report::{Check, Report, Subject, sections};
pub use subprocess::{check_in_subprocess, run_in_subprocess};

use crate::nn::DeviceContext;
use crate::run_config::{DeviceChoice, Precision};

/// Tests a device at every precision; `on_check` is called after each check. An error if there is
/// no such device.
pub fn run(
    device: DeviceChoice,
    on_check: &mut dyn FnMut(&Check),
) -> Result<Report, SelfTestError> {
    let started = Instant::now();
    let opened = DeviceContext::open(device)?;
    let mut checks = Vec::new();
    let mut add = |check: Check| {
        on_check(&check);
        checks.push(check);
    };
    for precision in Precision::on(device.resolved()) {
        for case in op_cases::all() {
            // Rounding may flip a kink or a maximum, which is not a fault: in the shorter formats
            // only products are compared.
            if precision == Precision::F32 || case.is_product {
                add(check(&case, &opened, precision));
            }
        }
        add(learning::learns(device, &opened, precision));
    }
    add(learning::classifies(&opened));
    Ok(Report {
        device: device.resolved(),
        checks,
        seconds: started.elapsed().as_secs_f32(),
    })
}

impl From<candle_core::Error> for SelfTestError {
    fn from(error: candle_core::Error) -> Self {
        crate::nn::ComputeError::from(error).into()
    }
}
