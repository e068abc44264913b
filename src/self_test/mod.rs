//! Owns whether a device computes rightly: every op with its gradients, a short training that must learn, a reading that must agree.
//! Must not know windows, nor what is offered on its word: `hardware` does.
//!
//! Ops are compared with compositions of candle's own on the processor, in f32: other code, by other people. The processor is tested like
//! any other device: its kernels are ours, and chosen by what it says it can do.

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

/// Tests a device in every precision. `told` hears of each check as it is done. An error where there is no such device.
pub fn run(device: DeviceChoice, told: &mut dyn FnMut(&Check)) -> Result<Report, SelfTestError> {
    let started = Instant::now();
    let opened = DeviceContext::open(device)?;
    let mut checks = Vec::new();
    let mut note = |check: Check| {
        told(&check);
        checks.push(check);
    };
    for precision in Precision::on(device.resolved()) {
        for case in op_cases::all() {
            // What rounding does to a kink or a maximum is no fault: only products are compared in the shorter formats.
            if precision == Precision::F32 || case.is_product {
                note(check(&case, &opened, precision));
            }
        }
        note(learning::learns(device, &opened, precision));
    }
    note(learning::reads(&opened));
    Ok(Report { device: device.resolved(), checks, seconds: started.elapsed().as_secs_f32() })
}

impl From<candle_core::Error> for SelfTestError {
    fn from(error: candle_core::Error) -> Self {
        crate::nn::ComputeError::from(error).into()
    }
}
