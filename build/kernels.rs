//! Compiles our kernels for NVIDIA GPUs to PTX, which the driver compiles for its GPU.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kernels, and the file that includes them all.
const FOLDER: &str = "src/nn/backend/cuda";
const SOURCE: &str = "src/nn/backend/cuda/kernels.cu";
/// The compute capability they are compiled for where neither `CUDA_COMPUTE_CAP` nor a GPU of this
/// machine says otherwise: the oldest that CUDA 13 supports. Newer GPUs run it as well.
const CAPABILITY: u32 = 75;

/// Writes `kernels.ptx` into a folder.
pub fn compile(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    for variable in ["NVCC", "PTX", "CUDA_COMPUTE_CAP", "CUDA_HOME", "CUDA_PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let capability = match std::env::var("CUDA_COMPUTE_CAP") {
        Ok(text) => text
            .trim_start_matches("sm_")
            .trim_start_matches("compute_")
            .parse()
            .map_err(|_| format!("CUDA_COMPUTE_CAP is {text}, not a number like 80"))?,
        Err(_) => capability_here().unwrap_or(CAPABILITY),
    };
    // The convolutions without im2col need instructions of 8.0.
    if capability >= 80 {
        println!("cargo::rustc-cfg=cuda_capability_80");
    }
    let nvcc = nvcc();
    let mut compiler = Command::new(&nvcc);
    compiler
        .args(["--ptx", "-O3", "-std=c++17"])
        .arg(format!("-arch=compute_{capability}"))
        .arg(format!("-DCAPABILITY={capability}"));
    compiler.arg("--output-directory").arg(folder).arg(SOURCE);
    if let Ok(home) = std::env::var("CUDA_HOME") {
        compiler.arg(format!("-I{home}/include"));
    }
    let status = compiler.status().map_err(|error| {
        format!(
            "{}, which compiles kernels for NVIDIA GPUs: {error}",
            nvcc.display()
        )
    })?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} could not compile {SOURCE}", nvcc.display()).into())
    }
}

/// The lowest compute capability of this machine's GPUs, where there are any.
fn capability_here() -> Option<u32> {
    let output = Command::new("nvidia-smi")
        .args(["--query-gpu=compute_cap", "--format=csv,noheader"])
        .output()
        .ok()?;
    let lines = String::from_utf8(output.stdout).ok()?;
    lines
        .lines()
        .filter_map(|line| line.trim().replace('.', "").parse().ok())
        .min()
}

/// `NVCC` if it is set, else that of the CUDA toolkit, else the first on the path.
fn nvcc() -> PathBuf {
    if let Some(nvcc) = std::env::var_os("NVCC") {
        return nvcc.into();
    }
    let roots = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from);
    let found = roots
        .chain([PathBuf::from("/usr/local/cuda")])
        .map(|root| root.join("bin/nvcc"))
        .find(|file| file.is_file());
    found.unwrap_or_else(|| "nvcc".into())
}
