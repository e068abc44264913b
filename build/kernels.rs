//! Owns having nvcc compile our kernels for NVIDIA GPUs into PTX, which the driver makes fit its GPU. Must not know what they compute.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// Where they are.
const SOURCE: &str = "src/nn/ops/cuda/kernels.cu";
/// The compute capability that candle's kernels are built for where nothing else is said.
const CAPABILITY: &str = "80";

/// Writes `kernels.ptx` into a folder.
pub fn compile(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    for variable in ["NVCC", "PTX", "CUDA_COMPUTE_CAP"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let nvcc = std::env::var("NVCC").unwrap_or_else(|_| "nvcc".to_owned());
    let capability = std::env::var("CUDA_COMPUTE_CAP").unwrap_or_else(|_| CAPABILITY.to_owned());
    let mut compiler = Command::new(&nvcc);
    compiler.args(["--ptx", "-O3", "-std=c++17", &format!("-arch=compute_{capability}"), "--output-directory"]).arg(folder).arg(SOURCE);
    if let Ok(home) = std::env::var("CUDA_HOME") {
        compiler.arg(format!("-I{home}/include"));
    }
    let ended = compiler.status().map_err(|error| format!("{nvcc}, which compiles kernels for NVIDIA GPUs, cannot be started: {error}"))?;
    if ended.success() { Ok(()) } else { Err(format!("{nvcc} could not compile {SOURCE}").into()) }
}
