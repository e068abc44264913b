//! Everything that is generated at build time: the text of the licenses, the resources of the
//! executable for Windows, and with CUDA our kernels and the stand-ins for NVIDIA's functions.
//! Without CUDA no NVIDIA software is needed.

#[path = "build/kernels.rs"]
mod kernels;
#[path = "build/licenses.rs"]
mod licenses;
#[path = "build/packages.rs"]
mod packages;
#[path = "build/resources.rs"]
mod resources;
#[path = "build/stand_ins.rs"]
mod stand_ins;

use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use flate2::{Compression, write::GzEncoder};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=assets/fonts");
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rustc-check-cfg=cfg(cuda_capability_80)");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    println!("cargo::rustc-env=INKLING_RUSTC={}", compiler()?);
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let packages = packages::built_in();
    packed.write_all(licenses::text(&packages).as_bytes())?;
    std::fs::write(folder.join("licenses.gz"), packed.finish()?)?;
    let is = |variable: &str, expected: &str| {
        std::env::var(variable).is_ok_and(|value| value == expected)
    };
    let has_cuda = std::env::var_os("CARGO_FEATURE_CUDA").is_some();
    let needs_stand_ins = has_cuda
        && (is("CARGO_CFG_TARGET_OS", "linux") || is("CARGO_CFG_TARGET_OS", "windows"))
        && is("CARGO_CFG_TARGET_ARCH", "x86_64");
    if is("CARGO_CFG_TARGET_OS", "windows") {
        resources::embed()?;
    }
    if has_cuda {
        kernels::compile(&folder)?;
    }
    if needs_stand_ins {
        std::fs::write(
            folder.join("cuda_stand_ins.rs"),
            stand_ins::code(&packages?)?,
        )?;
    }
    Ok(())
}

/// The compiler's name and version.
fn compiler() -> Result<String, Box<dyn Error>> {
    let output = Command::new(std::env::var("RUSTC")?)
        .arg("--version")
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
