//! Generates the stand-ins for NVIDIA's functions and for candle's kernels of quantized weights
//! (see `src/device/cuda/stand_ins`): one for each function that cudarc and candle-kernels declare,
//! so that everything candle may call can be linked.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::packages::folder;

/// The modules of cudarc that candle enables, and the library whose functions each declares.
const LIBRARIES: [(&str, &str); 5] = [
    ("driver", "Driver"),
    ("cublas", "Cublas"),
    ("cublaslt", "CublasLt"),
    ("curand", "Curand"),
    ("nvrtc", "Nvrtc"),
];

/// The stand-ins, as Rust with assembly.
pub fn code(packages: &[Value]) -> Result<String, Box<dyn Error>> {
    let of = |name: &str| {
        packages
            .iter()
            .find(|package| package["name"] == name)
            .map(folder)
            .ok_or_else(|| format!("{name} is not built in"))
    };
    let (cudarc, kernels) = (of("cudarc")?, of("candle-kernels")?);
    let (mut table, mut code, mut slots, mut count) =
        (String::new(), String::new(), String::new(), 0);
    for (part, library) in LIBRARIES {
        for name in declared(&cudarc.join("src").join(part).join("sys/mod.rs"))? {
            writeln!(
                table,
                "    Function {{ name: c\"{name}\", library: Owner::{library} }},"
            )?;
            writeln!(
                code,
                "    \".globl {name}\", \"{name}:\", \"jmp qword ptr [rip + inkling_cuda_slots + {}]\",\n    \
                 \"inkling_first_{count}:\", \"push {count}\", \"jmp inkling_first_call\",",
                8 * count
            )?;
            writeln!(slots, "    \".quad inkling_first_{count}\",")?;
            count += 1;
        }
    }
    for name in declared(&kernels.join("src/ffi.rs"))? {
        writeln!(
            code,
            "    \".globl {name}\", \"{name}:\", \"jmp inkling_left_out\","
        )?;
    }
    Ok(format!(
        "static FUNCTIONS: [Function; {count}] = [\n{table}];\n\n\
         unsafe extern \"C\" {{\n    #[link_name = \"inkling_cuda_slots\"]\n    static SLOTS: [*const (); {count}];\n}}\n\n\
         core::arch::global_asm!(\n    \".text\",\n{code}    \".data\", \".p2align 3\", \".globl inkling_cuda_slots\", \
         \"inkling_cuda_slots:\",\n{slots}    \".text\",\n);\n"
    ))
}

/// The names of the functions that a file declares: each in an `extern` block within a function of
/// the same name, or all in one block.
fn declared(file: &Path) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let indented = text
        .lines()
        .filter(|line| line.starts_with(' '))
        .map(str::trim_start);
    let named = indented.filter_map(|line| {
        line.strip_prefix("pub ")
            .unwrap_or(line)
            .strip_prefix("fn ")?
            .split_once('(')
    });
    let names: BTreeSet<String> = named
        .map(|(name, _)| name.to_owned())
        .filter(|name| is_foreign(name))
        .collect();
    if names.is_empty() {
        Err(format!("{} declares no functions", file.display()).into())
    } else {
        Ok(names)
    }
}

/// True for a foreign function, false for a method beside them.
fn is_foreign(name: &str) -> bool {
    ["cu", "nvrtc", "launch_", "moe_", "candle_launch_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}
