//! The hardware as lines of text, each with what it means for training.

use super::Hardware;
use crate::text::format::{file_size, memory as bytes, percent};

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
    lines.push(match hardware.disk_free {
        Some(free) if free < 200 << 20 => line(
            "Free disk space",
            file_size(free),
            "Low: a finished run takes a few megabytes. Free some space before training.",
        ),
        Some(free) => line(
            "Free disk space",
            file_size(free),
            "Plenty: a finished run takes a few megabytes.",
        ),
        None => line(
            "Free disk space",
            "unknown".to_owned(),
            "A finished run takes a few megabytes.",
        ),
    });
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
            format!("{physical} cores, {} usable at once", cpu.usable_cores)
        }
        _ if cpu.usable_cores == 1 => "1 core".to_owned(),
        _ => format!("{} cores", cpu.usable_cores),
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
    let meaning = if has("AVX-512 BF16") {
        "512-bit vectors (16 numbers at a time) and bf16 instructions."
    } else if has("AVX-512") {
        "512-bit vectors: 16 numbers at a time."
    } else if has("AVX2") {
        "256-bit vectors: 8 numbers at a time."
    } else if has("NEON") {
        "128-bit vectors: 4 numbers at a time."
    } else {
        "Without them training works, but slowly."
    };
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
        return vec![line("NVIDIA GPU", "not usable".to_owned(), finding)];
    }
    if hardware.gpus.is_empty() {
        return vec![line(
            "NVIDIA GPU",
            "none".to_owned(),
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
