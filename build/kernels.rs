//! Compiles our kernels for NVIDIA GPUs to PTX, which the driver compiles for its GPU.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kernels, and the file that includes them all.
const FOLDER: &str = "src/nn/backend/cuda";
const SOURCE: &str = "src/nn/backend/cuda/kernels.cu";
/// The compute capability they are compiled for unless `CUDA_COMPUTE_CAP` says otherwise: the oldest that CUDA 13 supports. Newer GPUs run it as well.
const CAPABILITY: &str = "75";

/// Writes `kernels.ptx` into a folder.
pub fn compile(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    for variable in ["NVCC", "PTX", "CUDA_COMPUTE_CAP", "CUDA_HOME", "CUDA_PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let capability = std::env::var("CUDA_COMPUTE_CAP").unwrap_or_else(|_| CAPABILITY.to_owned());
    let capability = capability.trim_start_matches("sm_").trim_start_matches("compute_");
    let nvcc = nvcc();
    let mut compiler = Command::new(&nvcc);
    compiler.args(["--ptx", "-O3", "-std=c++17", &format!("-arch=compute_{capability}"), "--output-directory"]).arg(folder).arg(SOURCE);
    if let Ok(home) = std::env::var("CUDA_HOME") {
        compiler.arg(format!("-I{home}/include"));
    }
    let status = compiler.status().map_err(|error| format!("{}, which compiles kernels for NVIDIA GPUs: {error}", nvcc.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{} could not compile {SOURCE}", nvcc.display()).into()) }
}

/// `NVCC` if it is set, else that of the CUDA toolkit, else the first on the path.
fn nvcc() -> PathBuf {
    if let Some(nvcc) = std::env::var_os("NVCC") {
        return nvcc.into();
    }
    let roots = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let found = roots.chain([PathBuf::from("/usr/local/cuda")]).map(|root| root.join("bin/nvcc")).find(|file| file.is_file());
    found.unwrap_or_else(|| "nvcc".into())
}
