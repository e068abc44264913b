//! What is printed with `--json` conforms to its schema whatever values it has: the records
//! themselves, with everything that they may have, and the program with settings and networks of
//! every kind.

use std::fs;
use std::path::PathBuf;

use inkling::hardware::{Cpu, Gpu, Hardware, LoadSample, Metal};
use inkling::records::benchmark::{BenchmarkedMachine, Effort, Measurement, Workload};
use inkling::records::{
    Divergence, FilterImages, ImportFinding, InitializationReport, Intervention, LayerVariance,
    Normalization, PatchComponents, RunPlan,
};
use inkling::run_config::{
    Activation, Augmentation, Classes, DataSource, DataSpec, DeviceChoice, Initialization,
    ModelKind, OptimizerKind, Precision, RunConfig,
};
use inkling::sweep::{SettingRange, SweepDefinition};
use serde::Serialize;
use serde_json::{Value, json};

use super::schema::{SCHEMAS, check, part};
use super::{home_with_set, last_object, run, stderr, succeed, write_model};
use crate::support::{model_file, write_idx_set};

/// Whether these values are what the definition allows, and have everything that it documents.
fn conform(command: &str, definition: &str, values: &[impl Serialize]) {
    let schema = &SCHEMAS["commands"][command];
    let documented = match definition {
        "the machine" => &schema["anyOf"][0],
        "the load" => &schema["anyOf"][1],
        name => part(command, name),
    };
    let values: Vec<Value> = values
        .iter()
        .map(|value| serde_json::to_value(value).unwrap())
        .collect();
    for value in &values {
        check(schema, documented, value)
            .unwrap_or_else(|why| panic!("{command}, {definition}: {why}: {value}"));
    }
    for name in documented["properties"].as_object().unwrap().keys() {
        assert!(
            values.iter().any(|value| value.get(name).is_some()),
            "{command}, {definition}: nothing has {name}"
        );
    }
}

/// Settings of which none is left out.
fn whole_config() -> RunConfig {
    RunConfig {
        data: DataSpec::of(vec![
            DataSource::Builtin,
            DataSource::Path(PathBuf::from("/a+b")),
        ]),
        model: ModelKind::Mlp,
        layers: None,
        ..crate::run_config::settings::whole()
    }
}

#[test]
fn every_setting_of_a_run_is_in_the_schemas_of_all_commands_that_print_settings() {
    let whole = whole_config();
    let cnn = RunConfig {
        model: ModelKind::Cnn,
        widths: None,
        layers: Some("4C3P1-MP2-20".parse().unwrap()),
        ..whole.clone()
    };
    let configs = [whole, cnn, RunConfig::default()];
    let commands = SCHEMAS["commands"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, schema)| schema["$defs"].get("RunConfig").is_some());
    let commands: Vec<&str> = commands.map(|(command, _)| command.as_str()).collect();
    assert_eq!(
        commands,
        [
            "find-batch-size",
            "find-lr",
            "profile",
            "record",
            "sweep",
            "train"
        ]
    );
    for command in commands {
        conform(command, "RunConfig", &configs);
    }
}

#[test]
fn every_network_is_in_the_schemas_of_commands_that_take_any() {
    for command in ["import", "compare"] {
        let schema = &SCHEMAS["commands"][command];
        for model in ModelKind::ALL.iter().chain([&ModelKind::Onnx]) {
            assert_eq!(
                check(schema, part(command, "ModelKind"), &json!(model.name())),
                Ok(()),
                "{command}: {model}"
            );
        }
    }
}

#[test]
fn every_finding_of_an_import_is_in_its_schema() {
    for finding in [
        ImportFinding::Described,
        ImportFinding::Recognized {
            accuracy: 0.9,
            images: 1000,
            tried_on: DataSpec::builtin(),
            sure: true,
            calibrated: false,
        },
    ] {
        // No `_`: a new one has to be added above.
        let definition = match finding {
            ImportFinding::Described => "described",
            ImportFinding::Recognized { .. } => "recognized",
        };
        conform("import", definition, &[&finding]);
        let schema = &SCHEMAS["commands"]["import"];
        let whole = &schema["properties"]["finding"];
        assert_eq!(
            check(schema, whole, &serde_json::to_value(&finding).unwrap()),
            Ok(())
        );
    }
}

/// An object with this beside its other properties, as events have it.
fn event(name: &str, value: impl Serialize) -> Value {
    let mut object = serde_json::to_value(value).unwrap();
    object["event"] = name.into();
    object
}

#[test]
fn every_event_of_a_run_is_in_its_schema() {
    for intervention in [
        Intervention::SkippedStep {
            step: 1,
            loss_scale: 2.0,
        },
        Intervention::RolledBack {
            step: 2,
            to_step: 1,
            lr_factor: 0.5,
            left: 1,
            cause: Divergence::NotFinite,
        },
        Intervention::RolledBack {
            step: 2,
            to_step: 1,
            lr_factor: 0.5,
            left: 1,
            cause: Divergence::Exploded,
        },
        Intervention::SmallerMicroBatches { step: 1, images: 8 },
        Intervention::WorseThanChance {
            validation_loss: f32::NAN,
            chance_loss: 2.3,
        },
        Intervention::LargerBatches {
            epoch: 2,
            batch_size: 256,
            noise_scale: None,
        },
        Intervention::StoppedEarly {
            epoch: 5,
            best_epoch: 2,
        },
    ] {
        let definition = match intervention {
            Intervention::SkippedStep { .. } => "skipped_step",
            Intervention::RolledBack { .. } => "rolled_back",
            Intervention::SmallerMicroBatches { .. } => "smaller_micro_batches",
            Intervention::WorseThanChance { .. } => "worse_than_chance",
            Intervention::LargerBatches { .. } => "larger_batches",
            Intervention::StoppedEarly { .. } => "stopped_early",
        };
        conform("train", definition, &[event("intervened", intervention)]);
        conform("sweep", definition, &[event("intervened", intervention)]);
    }
    let report = InitializationReport {
        method: Initialization::Pca,
        seconds: 0.1,
        images: 256,
        normalization: Normalization::MNIST,
        extremes: [0, 255],
        layers: vec![LayerVariance {
            layer: "conv1".to_owned(),
            before: f32::INFINITY,
            after: 1.0,
        }],
        components: Some(PatchComponents {
            samples: 100,
            side: 5,
            explained: vec![0.5],
            images: FilterImages {
                width: 1,
                height: 1,
                images: vec![vec![255]],
            },
        }),
    };
    let without = InitializationReport {
        components: None,
        ..report.clone()
    };
    conform(
        "train",
        "initialized",
        &[event("initialized", report), event("initialized", without)],
    );
    let plan = RunPlan {
        train_images: 10,
        validation_images: 2,
        test_images: 0,
        classes: Classes::Digits,
        parameters: 100,
        steps_per_epoch: 1,
        total_steps: 1,
        device: DeviceChoice::Cpu,
        precision: Precision::F32,
        threads: 1,
    };
    conform("train", "RunPlan", &[plan]);
    let mut definition = SweepDefinition {
        data_dir: Some(PathBuf::from("/data")),
        ..SweepDefinition::of(whole_config())
    };
    for range in [
        "learning-rate=1e-4..1e-2:log",
        "model=mlp,tiny",
        "batch-size=20..50",
    ] {
        definition.set(SettingRange::parse(range).unwrap()).unwrap();
    }
    conform(
        "sweep",
        "SweepDefinition",
        &[
            &definition,
            &SweepDefinition {
                pruner: None,
                seconds: Some(60.0),
                trials: Some(3),
                ..definition.clone()
            },
        ],
    );
}

#[test]
fn hardware_that_this_machine_does_not_have_is_in_its_schema() {
    let gpu = Gpu {
        name: "GPU".to_owned(),
        memory_total: 80 << 30,
        memory_free: 70 << 30,
        driver: "580".to_owned(),
        cuda: "13.0".to_owned(),
        compute_capability: "9.0".to_owned(),
        temperature: Some(40),
        power: Some(320.5),
        utilization: Some(0.5),
    };
    let bare = Gpu {
        temperature: None,
        power: None,
        utilization: None,
        ..gpu.clone()
    };
    conform("hardware", "Gpu", &[&gpu, &bare]);
    let hardware = Hardware {
        system: "Linux".to_owned(),
        cpu: Cpu {
            brand: "CPU".to_owned(),
            physical_cores: Some(2),
            usable_cores: 2,
            performance_cores: Some(1),
            efficiency_cores: Some(1),
            simd: vec!["AVX2".to_owned()],
        },
        memory_total: 16 << 30,
        memory_available: 8 << 30,
        disk_free: Some(1 << 40),
        gpus: vec![gpu.clone(), bare],
        gpu_finding: Some("no driver".to_owned()),
        cuda_finding: Some("too old".to_owned()),
        metal: Some(Metal {
            name: "M3".to_owned(),
            unified_memory: true,
            working_set: 1 << 34,
        }),
    };
    let mut tested = serde_json::to_value(&hardware).unwrap();
    let check = json!({"subject": {"op": "conv"}, "precision": "f32", "found": null, "tolerance": 0.1, "detail": ""});
    tested["self_test"] = json!({"device": "cpu", "checks": [check], "seconds": 1.0});
    conform(
        "hardware",
        "the machine",
        &[serde_json::to_value(Hardware::default()).unwrap(), tested],
    );
    let sample = LoadSample {
        processor: 0.5,
        memory_total: 16 << 30,
        memory_available: 8 << 30,
        process_memory: Some(1 << 20),
        gpus: vec![gpu],
    };
    conform("hardware", "the load", &[sample, LoadSample::default()]);
}

#[test]
fn every_figure_of_a_benchmark_is_in_its_schema() {
    let (model, precision, device) = (ModelKind::Mlp, Precision::Bf16, DeviceChoice::Cuda);
    let (threads, batch_size, images_per_second) = (2, 64, 1000.0);
    let (gflops, milliseconds) = (10.0, 5.0);
    let schema = &SCHEMAS["commands"]["bench"];
    for row in [
        Measurement::Product {
            precision,
            threads,
            size: 1024,
            gflops,
        },
        Measurement::Memory {
            threads,
            gigabytes_per_second: 20.0,
        },
        Measurement::Step {
            model,
            device,
            precision,
            batch_size,
            threads,
            milliseconds,
            images_per_second,
            gflops,
            product_gflops: 0.0,
        },
        Measurement::Pipeline {
            augmentation: Augmentation::Strong,
            threads,
            images_per_second,
        },
        Measurement::Update {
            optimizer: OptimizerKind::Sgd,
            parameters: 100,
            threads,
            microseconds: 3.0,
        },
        Measurement::ClassifyOne {
            model,
            median_microseconds: 3.0,
            p99_microseconds: 4.0,
        },
        Measurement::ClassifyMany {
            model,
            threads,
            images_per_second,
        },
        Measurement::PlainCandle {
            model,
            batch_size,
            threads,
            milliseconds,
            images_per_second,
            inkling_images_per_second: 2000.0,
            speedup: 2.0,
        },
    ] {
        let figure = event("figure", row);
        assert_eq!(check(schema, schema, &figure), Ok(()), "{figure}");
        let mut other = figure;
        other["images"] = json!(1);
        assert!(check(schema, schema, &other).is_err(), "{other}");
    }
    for workload in [
        Workload::Products,
        Workload::Memory,
        Workload::Steps(model),
        Workload::Pipeline,
        Workload::Updates,
        Workload::Inference,
        Workload::PlainCandle,
    ] {
        let finished = json!({
            "event": "finished", "measured_at": "2026-11-28T08:00:00Z", "program": "0.1.0",
            "machine": BenchmarkedMachine::default(), "extent": Effort::Quick, "seconds": 1.5,
            "background_load": 0.25, "disturbed": [workload], "report": null,
        });
        assert_eq!(check(schema, schema, &finished), Ok(()), "{finished}");
    }
}

/// Every command that has settings, with networks that have widths and layers, and settings that
/// are left out where they are not used.
#[test]
fn commands_with_settings_print_what_their_schemas_allow() {
    let home = home_with_set(300, 40);
    let starter = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/starter.safetensors");
    fs::copy(starter, home.path().join("starter.safetensors")).unwrap();
    let networks = [
        "--network mlp --widths 20-10",
        "--layers 4C3-MP2-10 --activation-checkpointing --initialization lsuv",
        "--network tiny --batch-size auto:20 --autotune --memory-limit 4000 --initialization zca",
        "--initial-weights starter.safetensors --early-stopping 1 --clip-norm 1",
    ];
    let print = |command: &str, network: &str| {
        let command = format!("{command} --data set --threads 1 --json {network}");
        let output = run(&home, &command);
        // A search may find nothing.
        assert!(
            matches!(output.status.code(), Some(0 | 1)) && !output.stdout.is_empty(),
            "{command}: {}",
            stderr(&output)
        );
    };
    for network in networks {
        print("train --epochs 1", network);
    }
    print("train --epochs 1 --repeats 2", networks[0]);
    print("profile", networks[0]);
    print("find-lr", networks[1]);
    let sweep = "sweep --data set --preset quick --set epochs=1 --trials 2 --parallel 1 --json \
                 --set learning-rate=1e-3..1e-2";
    for fixed in [
        "--set widths=20-10 --set model=mlp",
        "--set model=cnn --set layers=4C3-MP2-10,4C5-MP2-10 --test",
    ] {
        succeed(&home, &format!("{sweep} {fixed}"));
    }
}

/// Every command that takes a model, with an ONNX network that cannot be trained.
#[test]
fn commands_with_models_print_what_their_schemas_allow_of_an_onnx_network() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_idx_set(&home.join("set"), 60, 40);
    fs::write(home.join("network.onnx"), crate::import::onnx_graph_bytes()).unwrap();
    let model = model_file(ModelKind::Mlp, Activation::Relu);
    write_model(home, "mlp.safetensors", &model);
    fs::write(
        home.join("one.json"),
        r#"{"strokes": [[[50, 10], [50, 90]]]}"#,
    )
    .unwrap();
    let succeed = |arguments: &str| last_object(&succeed(home, &format!("{arguments} --json")));
    let imported = succeed("import network.onnx --out imported");
    assert_eq!(&imported["model"], &json!("onnx"));
    assert_eq!(&imported["finding"]["kind"], &json!("recognized"));
    let compared = succeed("compare imported mlp.safetensors --data set");
    assert_eq!(compared["models"][0]["network"], "onnx");
    succeed("eval --model imported --data set");
    succeed("predict --model imported one.json");
    succeed("predict --model imported --model mlp.safetensors one.json");
    for format in ["onnx", "safetensors", "card", "report"] {
        succeed(&format!(
            "export --model imported --format {format} --preview"
        ));
    }
}
