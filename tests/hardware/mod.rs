//! The hardware room: what is true of any machine this runs on, and the words for machines this is not.

use std::path::Path;

use inkling::hardware::{Cpu, Gpu, Hardware, device_availability, device_support, lines, precision_note, probe, recommend};
use inkling::run_config::{DeviceChoice, Precision, Preset};

fn machine(cores: u32, simd: &[&str]) -> Hardware {
    Hardware {
        cpu: Cpu {
            brand: "A processor".into(),
            usable_cores: cores,
            simd: simd.iter().map(|&name| name.into()).collect(),
            ..Cpu::default()
        },
        system: "A system".into(),
        memory_total: 8 << 30,
        memory_available: 4 << 30,
        ..Hardware::default()
    }
}

#[test]
fn this_machine_has_a_processor_memory_and_a_disk() {
    let found = probe(Path::new("."));
    assert!(!found.cpu.brand.is_empty() && !found.system.is_empty());
    assert!(found.cpu.usable_cores >= 1);
    assert!(found.memory_total > found.memory_available && found.memory_available > 0);
    // A folder that is not there yet will be made on the disk of the one above it.
    assert_eq!(probe(Path::new("./not/there/yet")).disk_free.is_some(), found.disk_free.is_some());
    #[cfg(target_os = "linux")]
    assert!(std::fs::read_to_string("/proc/cpuinfo").unwrap().contains(&found.cpu.brand) || found.cpu.brand.ends_with("processor"));
}

#[test]
fn every_finding_says_what_it_means() {
    for hardware in [machine(1, &[]), machine(8, &["AVX2", "AVX-512"]), probe(Path::new("."))] {
        let lines = lines(&hardware);
        assert!(lines.len() >= 5);
        for line in &lines {
            assert!(!line.label.is_empty() && !line.value.is_empty() && line.meaning.ends_with('.'), "{line:?}");
        }
    }
}

#[test]
fn each_gpu_has_a_line_with_its_figures() {
    let gpu = Gpu {
        name: "GeForce RTX 4070".into(),
        memory_total: 12 << 30,
        memory_free: 11 << 30,
        driver: "580.95".into(),
        cuda: "13.0".into(),
        compute_capability: "8.9".into(),
    };
    let two = Hardware { gpus: vec![gpu.clone(), gpu], ..machine(8, &["AVX2"]) };
    let shown: Vec<_> = lines(&two).into_iter().filter(|line| line.label == "NVIDIA GPU").collect();
    assert_eq!(shown.len(), 2);
    for part in ["GeForce RTX 4070", "11.0 GB of 12.0 GB", "580.95", "13.0", "8.9"] {
        assert!(shown[0].value.contains(part), "{:?}", shown[0]);
    }
    let silent = Hardware { gpu_finding: Some("The driver is broken. Reinstall it.".into()), ..machine(8, &["AVX2"]) };
    assert!(lines(&silent).iter().any(|line| line.meaning.contains("Reinstall")));
}

#[test]
fn what_is_not_offered_has_a_reason() {
    let plain = machine(2, &["AVX2"]);
    assert_eq!(device_availability(DeviceChoice::Auto, &plain), Ok(()));
    assert_eq!(device_availability(DeviceChoice::Cpu, &plain), Ok(()));
    let no_gpu = device_availability(DeviceChoice::Cuda, &plain).unwrap_err();
    let gpu = device_availability(DeviceChoice::Cuda, &Hardware { gpus: vec![Gpu::default()], ..plain.clone() }).unwrap_err();
    assert_ne!(no_gpu, gpu);
    assert_eq!(gpu, device_support(DeviceChoice::Cuda).unwrap_err(), "one reason, one sentence");
    assert!(device_availability(DeviceChoice::Metal, &plain).is_err());
}

#[test]
fn a_precision_says_what_it_costs_here() {
    let (plain, fast) = (machine(2, &["AVX2"]), machine(2, &["AVX2", "AVX-512", "AVX-512 BF16"]));
    assert_eq!(precision_note(Precision::F32, &plain, None), None);
    let note = |hardware, cost| precision_note(Precision::Bf16, hardware, cost).unwrap();
    assert!(note(&plain, None).contains("slower") && note(&plain, None).contains("benchmark"));
    assert!(note(&fast, None).contains("faster"));
    assert!(note(&plain, Some(2.345)).contains("2.3 times as long") && note(&plain, Some(2.345)).contains("no bf16 instructions"));
    assert!(note(&fast, Some(0.5)).contains("2.0 times as fast"));
    assert!(note(&fast, Some(1.01)).contains("As fast"));
    assert!(precision_note(Precision::F16, &fast, None).unwrap().contains("slower"));
}

#[test]
fn recommended_settings_can_run_and_grow_with_the_machine() {
    let preset = |hardware: &Hardware| {
        let (config, reason) = recommend(hardware, false);
        assert_eq!(config.problems(), []);
        assert!(reason.ends_with('.'));
        config.matching_preset()
    };
    assert_eq!(preset(&machine(1, &[])), Some(Preset::QuickLook));
    assert_eq!(preset(&machine(2, &["AVX2"])), Some(Preset::Speedrun));
    assert_eq!(preset(&machine(8, &["NEON"])), Some(Preset::Balanced));
    let (config, _) = recommend(&machine(8, &["AVX2"]), true);
    assert_eq!((config.data.to_string().as_str(), config.preset), ("mnist", Some(Preset::Balanced)));
}
