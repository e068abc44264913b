//! Owns what is made while Inkling is built: the licences of what it is made of, what Windows finds in an executable, and with CUDA the
//! stand-ins for NVIDIA's functions, from the list of those that candle calls. Must not need any NVIDIA software.

#[path = "build/licences.rs"]
mod licences;
#[path = "build/resources.rs"]
mod resources;

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use flate2::{Compression, write::GzEncoder};

const LIST: &str = "build/cuda_functions.txt";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=Cargo.lock");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    println!("cargo::rustc-env=INKLING_RUSTC={}", compiler()?);
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(licences::text().as_bytes())?;
    std::fs::write(folder.join("licences.gz"), packed.finish()?)?;
    let is = |variable: &str, wanted: &str| std::env::var(variable).is_ok_and(|value| value == wanted);
    let stands_in =
        std::env::var_os("CARGO_FEATURE_CUDA").is_some() && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ARCH", "x86_64");
    if is("CARGO_CFG_TARGET_OS", "windows") {
        resources::embed()?;
    }
    if stands_in {
        std::fs::write(folder.join("cuda_stand_ins.rs"), stand_ins(&std::fs::read_to_string(LIST)?)?)?;
    }
    Ok(())
}

/// The compiler's name and version.
fn compiler() -> Result<String, Box<dyn Error>> {
    let said = Command::new(std::env::var("RUSTC")?).arg("--version").output()?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// A line of the list is empty, a comment, or a function's name, which tells by its beginning whose it is.
fn stand_ins(list: &str) -> Result<String, Box<dyn Error>> {
    let functions: Vec<&str> = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let (mut table, mut code, mut slots) = (String::new(), String::new(), String::new());
    for (number, name) in functions.iter().enumerate() {
        let library = match name {
            name if name.starts_with("cublas") => "Cublas",
            name if name.starts_with("curand") => "Curand",
            name if name.starts_with("cu") => "Driver",
            name => return Err(format!("{LIST}: {name} is none of NVIDIA's functions").into()),
        };
        writeln!(table, "    Function {{ name: c\"{name}\", library: Owner::{library} }},")?;
        writeln!(
            code,
            "    \".globl {name}\", \".type {name}, @function\", \"{name}:\", \"jmp qword ptr [rip + inkling_cuda_slots + {}]\",\n    \
             \"inkling_first_{number}:\", \"push {number}\", \"jmp inkling_first_call\",",
            8 * number
        )?;
        writeln!(slots, "    \".quad inkling_first_{number}\",")?;
    }
    let count = functions.len();
    Ok(format!(
        "static FUNCTIONS: [Function; {count}] = [\n{table}];\n\n\
         unsafe extern \"C\" {{\n    #[link_name = \"inkling_cuda_slots\"]\n    static SLOTS: [*const (); {count}];\n}}\n\n\
         core::arch::global_asm!(\n    \".pushsection .text.inkling_stand_ins,\\\"ax\\\",@progbits\",\n{code}    \".popsection\",\n    \
         \".pushsection .data.inkling_cuda_slots,\\\"aw\\\",@progbits\", \".p2align 3\", \".globl inkling_cuda_slots\", \
         \"inkling_cuda_slots:\",\n{slots}    \".popsection\",\n);\n"
    ))
}
