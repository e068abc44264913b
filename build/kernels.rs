//! Owns having nvcc compile our kernels for NVIDIA GPUs into PTX, which the driver makes fit its GPU. Must not know what they compute.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where they are, and the file that names them all.
const FOLDER: &str = "src/nn/ops/cuda";
const SOURCE: &str = "src/nn/ops/cuda/kernels.cu";
/// The compute capability they are built for where nothing else is said: the oldest that CUDA 13 knows. Later GPUs take it as well.
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
    let ended = compiler.status().map_err(|error| format!("{}, which compiles kernels for NVIDIA GPUs: {error}", nvcc.display()))?;
    if ended.success() { Ok(()) } else { Err(format!("{} could not compile {SOURCE}", nvcc.display()).into()) }
}

/// The one that is named, that of the toolkit, or the first on the path.
fn nvcc() -> PathBuf {
    if let Some(named) = std::env::var_os("NVCC") {
        return named.into();
    }
    let roots = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let found = roots.chain([PathBuf::from("/usr/local/cuda")]).map(|root| root.join("bin/nvcc")).find(|file| file.is_file());
    found.unwrap_or_else(|| "nvcc".into())
}
