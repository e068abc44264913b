//! Every op of the self-test with its gradients on the CPU, whose kernels are the `unsafe` code of
//! this project: built with AddressSanitizer by `.ci/fuzz`, and for Miri with
//! `cargo +nightly miri run --bin kernels NAME...`, which is thousands of times as slow. Usage:
//! kernels [NAME...], each a part of an op's name

use std::process::ExitCode;

use inkling::nn::DeviceContext;
use inkling::run_config::{DeviceChoice, Precision};
use inkling::self_test::{cases, check};

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let (mut checked, mut failed) = (0, 0);
    for precision in Precision::on(DeviceChoice::Cpu) {
        for case in cases() {
            if !names.is_empty() && !names.iter().any(|name| case.name.contains(name.as_str())) {
                continue;
            }
            if precision != Precision::F32 && !case.is_product {
                continue;
            }
            let result = check(&case, &DeviceContext::CPU, precision);
            checked += 1;
            if !result.passed() {
                failed += 1;
                println!("{} in {precision:?}: {result:?}", case.name);
            }
        }
    }
    println!("{checked} ops checked, {failed} failed");
    if checked > 0 && failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
