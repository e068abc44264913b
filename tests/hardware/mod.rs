//! The hardware module: what is true of any machine this runs on, and the words for machines this
//! is not.

mod load;

use std::path::Path;

use inkling::device::{HAS_CUDA, find_cuda_libraries};
use inkling::hardware::{
    Cpu, Gpu, Hardware, cuda_finding, device_availability, device_support, lines, precision_note,
    probe, probe_in_subprocess, recommend,
};
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
    assert_eq!(
        probe(Path::new("./not/there/yet")).disk_free.is_some(),
        found.disk_free.is_some()
    );
    #[cfg(target_os = "linux")]
    assert!(
        std::fs::read_to_string("/proc/cpuinfo")
            .unwrap()
            .contains(&found.cpu.brand)
            || found.cpu.brand.ends_with("processor")
    );
}

#[test]
fn every_finding_says_what_it_means() {
    for hardware in [
        machine(1, &[]),
        machine(8, &["AVX2", "AVX-512"]),
        probe(Path::new(".")),
    ] {
        let lines = lines(&hardware);
        assert!(lines.len() >= 5);
        for line in &lines {
            assert!(
                !line.label.is_empty() && !line.value.is_empty() && line.meaning.ends_with('.'),
                "{line:?}"
            );
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
        temperature: Some(41),
        power: Some(29.6),
        utilization: Some(0.07),
    };
    let two = Hardware {
        gpus: vec![gpu.clone(), gpu],
        ..machine(8, &["AVX2"])
    };
    let shown: Vec<_> = lines(&two)
        .into_iter()
        .filter(|line| line.label == "NVIDIA GPU")
        .collect();
    assert_eq!(shown.len(), 2);
    for part in [
        "GeForce RTX 4070",
        "11.0 GiB of 12.0 GiB",
        "580.95",
        "13.0",
        "8.9",
        "41 °C",
        "30 W",
        "7% busy",
    ] {
        assert!(shown[0].value.contains(part), "{:?}", shown[0]);
    }
    let silent = Hardware {
        gpu_finding: Some("The driver is broken. Reinstall it.".into()),
        ..machine(8, &["AVX2"])
    };
    assert!(
        lines(&silent)
            .iter()
            .any(|line| line.meaning.contains("Reinstall"))
    );
}

#[test]
fn what_is_not_offered_has_a_reason() {
    let plain = machine(2, &["AVX2"]);
    assert_eq!(device_availability(DeviceChoice::Auto, &plain), Ok(()));
    assert_eq!(device_availability(DeviceChoice::Cpu, &plain), Ok(()));
    let no_gpu = device_availability(DeviceChoice::Cuda, &plain).unwrap_err();
    let of = |cuda_finding| Hardware {
        gpus: vec![Gpu::default()],
        cuda_finding,
        ..plain.clone()
    };
    assert_eq!(device_availability(DeviceChoice::Cuda, &of(None)), Ok(()));
    let old = "Its driver is too old.";
    assert_eq!(
        device_availability(DeviceChoice::Cuda, &of(Some(old.into()))),
        Err(old.into()),
        "one reason, one sentence"
    );
    assert!(no_gpu.contains("NVIDIA"), "{no_gpu}");
    assert_eq!(device_support(DeviceChoice::Cuda).is_ok(), HAS_CUDA);
    assert!(device_availability(DeviceChoice::Metal, &plain).is_err());
}

fn libraries(folder: &Path, present: &[&str]) -> Vec<inkling::device::Library> {
    for name in present {
        std::fs::write(folder.join(name), "").unwrap();
    }
    find_cuda_libraries(&[folder.join("not there"), folder.to_owned()])
}

#[test]
#[cfg(unix)]
fn missing_libraries_are_named_with_the_way_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let gpu = |cuda: &str| {
        [Gpu {
            cuda: cuda.into(),
            driver: "550.90".into(),
            ..Gpu::default()
        }]
    };
    let missing =
        |present: &[&str]| cuda_finding(&gpu("13.0"), &libraries(folder.path(), present)).unwrap();
    assert!(missing(&[]).contains("driver is not installed"));
    let all = missing(&["libcuda.so.1"]);
    assert!(
        all.contains("libcublasLt.so.13, libcublas.so.13 and libcurand.so.10 are not installed"),
        "{all}"
    );
    assert!(
        all.contains("pip install nvidia-cublas nvidia-curand`"),
        "{all}"
    );
    let one = missing(&["libcurand.so.10", "libcublasLt.so.13"]);
    assert!(
        one.starts_with("libcublas.so.13 is not installed")
            && one.contains("pip install nvidia-cublas`"),
        "{one}"
    );
    let found = libraries(folder.path(), &["libcublas.so.13"]);
    assert_eq!(
        found[2].file.as_deref(),
        Some(folder.path().join("libcublas.so.13").as_path())
    );
    assert_eq!(cuda_finding(&gpu("13.0"), &found), None);
    assert_eq!(
        cuda_finding(&gpu("14.1"), &found),
        None,
        "newer drivers take older CUDA"
    );
    let old = cuda_finding(&gpu("12.4"), &found).unwrap();
    assert!(
        old.contains("550.90") && old.contains("CUDA 12.4") && old.contains("580"),
        "{old}"
    );
    assert_eq!(
        cuda_finding(&[], &[]),
        None,
        "without a GPU there is nothing to say"
    );
    let with_finding = Hardware {
        gpus: gpu("12.4").to_vec(),
        cuda_finding: Some(old.clone()),
        ..machine(2, &[])
    };
    assert!(lines(&with_finding).iter().any(|line| line.meaning == old));
}

#[test]
fn looking_at_drivers_happens_apart_and_what_breaks_there_is_a_sentence() {
    let this = |arguments: &[&str]| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_inkling"));
        program.args(arguments);
        program
    };
    let here = probe(Path::new("."));
    let apart = probe_in_subprocess(this(&["hardware", "--json"]), Path::new("."));
    assert_eq!(&apart.cpu, &here.cpu);
    assert_eq!(&apart.system, &here.system);
    assert_eq!(apart.memory_total, here.memory_total);
    assert_eq!(apart.gpu_finding, here.gpu_finding);
    let broken = probe_in_subprocess(this(&["no such command"]), Path::new("."));
    assert_eq!(broken.cpu, here.cpu, "the rest is found all the same");
    assert!(broken.gpu_finding.unwrap().contains("exit status: 2"));
}

#[test]
fn a_precision_says_what_it_costs_here() {
    let (plain, fast) = (
        machine(2, &["AVX2"]),
        machine(2, &["AVX2", "AVX-512", "AVX-512 BF16"]),
    );
    assert_eq!(
        precision_note(Precision::F32, DeviceChoice::Cpu, &plain, None),
        None
    );
    let note = |hardware, cost| {
        precision_note(Precision::Bf16, DeviceChoice::Auto, hardware, cost).unwrap()
    };
    assert!(note(&plain, None).contains("slower") && note(&plain, None).contains("benchmark"));
    assert!(
        note(&fast, None).contains("slightly slower")
            && note(&fast, None).contains("has bf16 instructions")
    );
    assert!(
        note(&plain, Some(2.345)).contains("2.3 times as long")
            && note(&plain, Some(2.345)).contains("no bf16 instructions")
    );
    assert!(note(&fast, Some(0.5)).contains("2.0 times as fast"));
    assert!(note(&fast, Some(1.01)).contains("As fast"));
    let told = |precision, device| precision_note(precision, device, &fast, None).unwrap();
    assert!(told(Precision::F16, DeviceChoice::Cpu).contains("slower"));
    // What the processor has says nothing of a GPU.
    assert!(told(Precision::Bf16, DeviceChoice::Cuda).contains("GPUs multiply faster"));
    assert!(told(Precision::Tf32, DeviceChoice::Cuda).contains("rounded to TF32"));
    for device in [DeviceChoice::Cpu, DeviceChoice::Metal] {
        assert!(told(Precision::Tf32, device).contains("Same as f32 here"));
    }
}

#[test]
fn recommended_settings_can_run_and_grow_with_the_machine() {
    let preset = |hardware: &Hardware| {
        let (config, reason) = recommend(hardware);
        assert_eq!(config.problems(), []);
        assert!(reason.ends_with('.'));
        config.matching_preset()
    };
    assert_eq!(preset(&machine(1, &[])), Some(Preset::QuickLook));
    assert_eq!(preset(&machine(2, &["AVX2"])), Some(Preset::OneEpoch));
    assert_eq!(preset(&machine(8, &["NEON"])), Some(Preset::Balanced));
}
