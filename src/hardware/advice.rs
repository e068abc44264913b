//! What the hardware means for training: its items as lines of text, which devices and precisions
//! are available, why the others are not, notes on those that are, and recommended settings. All
//! such reasons are worded here.

use super::Hardware;
use crate::device::HAS_CUDA;
use crate::run_config::{DeviceChoice, Precision, Preset, RunConfig};
use crate::text::format::{count, file_size, memory as bytes, percent};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its name: "CPU".
    pub label: String,
    pub value: String,
    pub meaning: String,
}

/// One line per item, the most important first.
pub fn lines(hardware: &Hardware) -> Vec<Line> {
    let mut lines = vec![cpu(hardware), vectors(hardware), memory(hardware)];
    lines.extend(gpus(hardware));
    if let Some(metal) = &hardware.metal {
        let memory = if metal.unified_memory {
            "shared memory"
        } else {
            "dedicated memory"
        };
        let value = format!(
            "{}, {memory}, up to {} usable",
            metal.name,
            bytes(metal.working_set)
        );
        lines.push(line(
            "Apple GPU",
            value,
            "Used for recognition once its results match the CPU's; training runs on the CPU.",
        ));
    }
    let (free, meaning) = match hardware.disk_free {
        Some(free) if free < 200 << 20 => (
            file_size(free),
            "Low: a finished run takes a few megabytes. Free some space before training.",
        ),
        Some(free) => (
            file_size(free),
            "Plenty: a finished run takes a few megabytes.",
        ),
        None => (
            "unknown".to_owned(),
            "A finished run takes a few megabytes.",
        ),
    };
    lines.push(line("Free disk space", free, meaning));
    lines.push(line(
        "System",
        hardware.system.clone(),
        "Everything stays here unless you train on another machine; no internet connection is needed.",
    ));
    lines
}

fn cpu(hardware: &Hardware) -> Line {
    let cpu = &hardware.cpu;
    let cores = match (
        cpu.performance_cores,
        cpu.efficiency_cores,
        cpu.physical_cores,
    ) {
        (Some(performance), Some(efficiency), _) => {
            format!("{performance} performance and {efficiency} efficiency cores")
        }
        (_, _, Some(physical)) if physical != cpu.usable_cores => {
            format!("{physical} cores, {} threads", cpu.usable_cores)
        }
        _ => count(cpu.usable_cores.into(), "core"),
    };
    let meaning = match cpu.usable_cores {
        1 => "Training works, but on a single core.",
        2..=3 => "Good for small networks: an epoch takes seconds.",
        _ => "Training uses all of them.",
    };
    line("CPU", format!("{}, {cores}", cpu.brand), meaning)
}

fn vectors(hardware: &Hardware) -> Line {
    let simd = &hardware.cpu.simd;
    let has = |name: &str| simd.iter().any(|known| known == name);
    let meanings = [
        (
            "AVX-512 BF16",
            "512-bit vectors (16 numbers at a time) and bf16 instructions.",
        ),
        ("AVX-512", "512-bit vectors: 16 numbers at a time."),
        ("AVX2", "256-bit vectors: 8 numbers at a time."),
        ("NEON", "128-bit vectors: 4 numbers at a time."),
    ];
    let meaning = meanings.into_iter().find(|(name, _)| has(name));
    let meaning = meaning.map_or("Without them training works, but slowly.", |(_, text)| text);
    let value = if simd.is_empty() {
        "none that Inkling can use".to_owned()
    } else {
        simd.join(", ")
    };
    line("Vector instructions", value, meaning)
}

fn memory(hardware: &Hardware) -> Line {
    let value = format!(
        "{}, {} free",
        bytes(hardware.memory_total),
        bytes(hardware.memory_available)
    );
    let meaning = if hardware.memory_available < 600 << 20 {
        "Low: training takes about 300 MiB. Close other programs first."
    } else {
        "Plenty: training takes about 300 MiB."
    };
    line("Memory", value, meaning)
}

fn gpus(hardware: &Hardware) -> Vec<Line> {
    if let Some(finding) = &hardware.gpu_finding {
        return vec![line("NVIDIA GPU", "Not usable".to_owned(), finding)];
    }
    if hardware.gpus.is_empty() {
        return vec![line(
            "NVIDIA GPU",
            "None".to_owned(),
            "Not needed: these networks are small enough for the CPU.",
        )];
    }
    let meaning = hardware
        .cuda_finding
        .as_deref()
        .unwrap_or("Inkling can train on it.");
    let describe = |gpu: &super::Gpu| {
        let mut value = format!(
            "{}, {} of {} free, driver {}, CUDA {}, compute capability {}",
            gpu.name,
            bytes(gpu.memory_free),
            bytes(gpu.memory_total),
            gpu.driver,
            gpu.cuda,
            gpu.compute_capability
        );
        let warmth = gpu.temperature.map(|degrees| format!(", {degrees} °C"));
        let power = gpu.power.map(|watts| format!(", {watts:.0} W"));
        let busy = gpu
            .utilization
            .map(|share| format!(", {} busy", percent(f64::from(share), 0)));
        value.extend(warmth.into_iter().chain(power).chain(busy));
        line("NVIDIA GPU", value, meaning)
    };
    hardware.gpus.iter().map(describe).collect()
}

fn line(label: &str, value: String, meaning: &str) -> Line {
    Line {
        label: label.to_owned(),
        value,
        meaning: meaning.to_owned(),
    }
}

/// Whether this build of Inkling can train on such a device at all; otherwise why not, as a
/// sentence.
pub fn device_support(device: DeviceChoice) -> Result<(), String> {
    match device {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(()),
        DeviceChoice::Cuda if HAS_CUDA => Ok(()),
        DeviceChoice::Cuda => Err("This build of Inkling does not include CUDA.".to_owned()),
        DeviceChoice::Metal if cfg!(target_os = "macos") => {
            Err("Training on Metal is disabled until its gradients have been verified.".to_owned())
        }
        DeviceChoice::Metal => Err("Metal is only available on macOS.".to_owned()),
    }
}

/// Whether runs can use this device on this machine; otherwise why not, as a sentence.
pub fn device_availability(device: DeviceChoice, hardware: &Hardware) -> Result<(), String> {
    match device {
        DeviceChoice::Cuda if hardware.gpus.is_empty() => {
            Err("No working NVIDIA GPU was found.".to_owned())
        }
        DeviceChoice::Metal if hardware.metal.is_none() => {
            Err("Metal needs an Apple GPU, and this machine has none.".to_owned())
        }
        DeviceChoice::Cuda => hardware.cuda_finding.clone().map_or(Ok(()), Err),
        _ => device_support(device),
    }
}

/// Whether drawings can be recognized on this device; otherwise why not, as a sentence. Recognition
/// needs no gradients.
pub fn inference_availability(device: DeviceChoice, hardware: &Hardware) -> Result<(), String> {
    match device {
        DeviceChoice::Metal if hardware.metal.is_some() => Ok(()),
        _ => device_availability(device, hardware),
    }
}

/// A note on this precision on this device, if there is anything to note. `step_cost` is the time
/// of a training step relative to f32 on this machine's CPU, if it was measured.
pub fn precision_note(
    precision: Precision,
    device: DeviceChoice,
    hardware: &Hardware,
    step_cost: Option<f64>,
) -> Option<String> {
    match (device.resolved(), precision) {
        (_, Precision::F32) => None,
        (DeviceChoice::Cuda, Precision::Tf32) => Some(
            "f32, but the inputs of matrix multiplications are rounded to TF32 (10 mantissa bits) on GPUs that support it (compute capability 8.0 or \
             newer)."
                .to_owned(),
        ),
        (_, Precision::Tf32) => Some("Same as f32 here: only NVIDIA GPUs support TF32.".to_owned()),
        (DeviceChoice::Cpu, _) => cpu_note(precision, hardware, step_cost),
        (_, shorter) => Some(format!("The inputs of matrix multiplications are rounded to {shorter}, which GPUs multiply faster in large batches.")),
    }
}

fn cpu_note(precision: Precision, hardware: &Hardware, step_cost: Option<f64>) -> Option<String> {
    let fast_bf16 = hardware
        .cpu
        .simd
        .iter()
        .any(|known| known == "AVX-512 BF16");
    let why = match precision {
        Precision::F32 | Precision::Tf32 => return None,
        Precision::Bf16 if fast_bf16 => None,
        Precision::Bf16 => Some("this CPU has no bf16 instructions"),
        Precision::F16 => Some("this CPU has no f16 arithmetic"),
    };
    // Within the noise of a benchmark the two are equally fast.
    Some(match (step_cost, why) {
        (Some(cost), _) if (0.97..=1.03).contains(&cost) => "As fast as f32, measured on this machine.".to_owned(),
        (Some(cost), _) if cost < 1.0 => format!("{:.1} times as fast as f32, measured on this machine.", 1.0 / cost),
        (Some(cost), why) => {
            let why = why.map_or_else(String::new, |why| format!("; {why}"));
            format!("A step takes {cost:.1} times as long as in f32, measured on this machine{why}.")
        }
        // Measured on one such machine: the f32 kernels skip zeros in the gradients and are faster
        // for that reason.
        (None, None) => "Probably slightly slower than f32: this CPU has bf16 instructions, but they only speed up the forward pass. \
                         Run the benchmark to find out."
            .to_owned(),
        (None, Some(why)) => format!("Probably slower than f32: {why}. Run the benchmark to find out."),
    })
}

/// With smaller batches or less data than this, the overhead of a GPU outweighs its speed.
const SMALL_BATCH: u32 = 64;
const LITTLE_DATA: u64 = 10_000;

/// Which device is usually faster for a run that has not been measured yet.
pub fn first_guess(config: &RunConfig, images: Option<u64>) -> &'static str {
    if config.batch_size <= SMALL_BATCH || images.is_some_and(|images| images < LITTLE_DATA) {
        "Not measured yet. With little data or small batches, try the CPU first."
    } else {
        "Not measured yet. With a lot of data and large batches, try the GPU first."
    }
}

/// Recommended settings, on the built-in data, and the reason as a sentence.
pub fn recommend(hardware: &Hardware) -> (RunConfig, String) {
    let cores = hardware.cpu.usable_cores;
    let vectors = hardware
        .cpu
        .simd
        .iter()
        .any(|simd| simd == "AVX2" || simd == "NEON");
    let cores_text = if cores == 1 {
        "one core".to_owned()
    } else {
        format!("{cores} cores")
    };
    let (preset, reason) = match (cores, vectors) {
        (4.., true) => (
            Preset::Balanced,
            format!("With {cores_text}, an accurate network trains within a minute."),
        ),
        (2.., true) => (
            Preset::OneEpoch,
            format!(
                "With {cores_text}, “One epoch” is a quick start; “Balanced” takes several times as long and makes fewer errors."
            ),
        ),
        _ => (
            Preset::QuickLook,
            format!(
                "With {cores_text} and no wide vector instructions, the smallest network is the best one to start with."
            ),
        ),
    };
    (RunConfig::preset(preset), reason)
}
