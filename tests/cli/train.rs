//! Training and measuring from the terminal.

use std::fs;
use std::path::Path;

use super::{
    Words, events_of, exits, fails, home_with_set, json_file, keys, last_object, objects, run,
    says, stderr, stdout, succeed, words,
};
use crate::support::write_idx_set;
use serde_json::Value;

const QUICK: [&str; 6] = ["train", "--data", "set", "--preset", "quick", "--epochs"];

/// A run with these settings is bad usage.
#[track_caller]
fn refused(home: impl AsRef<Path>, more: &str, said: &str) {
    fails(home, &[&QUICK[..], &words(more)].concat(), 2, said);
}

fn train<'a>(home: impl AsRef<Path>, more: impl Words<'a>) -> std::process::Output {
    run(home, &[&QUICK[..], &more.words()].concat())
}

#[test]
fn a_run_can_start_from_statistics_of_its_images() {
    let home = home_with_set(600, 100);
    let output = train(
        &home,
        "1 --network speedrun --initialization pca --json --out run",
    );
    exits(&output, 0);
    let events = objects(&output);
    let initialized = &events_of(&events, "initialized")[0];
    assert_eq!(initialized["method"].as_str(), Some("pca"));
    assert_eq!(initialized["components"]["side"].as_u64(), Some(5));
    let layers = initialized["layers"].as_array().unwrap();
    let names = layers.iter().map(|layer| layer["layer"].as_str());
    assert!(names.eq(["conv1", "conv2", "fc1", "fc2"].map(Some)));
    assert!(
        layers
            .iter()
            .all(|layer| (layer["after"].as_f64().unwrap() - 1.0).abs() < 0.01),
        "{layers:?}"
    );
    says(&output, "Variance of each layer's output on 256 images");
    let summary = json_file(home.path().join("run/run.json"));
    assert_eq!(summary["config"]["initialization"], "pca");
    assert_eq!(
        summary["initialization"]["layers"], initialized["layers"],
        "the run remembers it"
    );

    let other = train(&home, "1 --initialization magic");
    exits(&other, 2);
    let both = train(
        &home,
        "1 --initialization lsuv --initial-weights run/model.safetensors",
    );
    assert_eq!(both.status.code(), Some(2), "weights come from one place");
}

#[test]
fn hidden_layers_are_as_wide_as_asked_for_and_stay_so() {
    let home = home_with_set(600, 100);
    let first = train(&home, "1 --widths 24,12,7 --out first");
    exits(&first, 0);
    says(&first, "MLP (24-12-7)");
    let summary = |run: &str| json_file(home.path().join(run).join("run.json"));
    assert_eq!(
        summary("first")["plan"]["parameters"],
        784 * 24 + 24 + 24 * 12 + 12 + 12 * 7 + 7 + 80
    );
    // A run with its settings, one from its weights, and one with another network, whose widths are
    // its own.
    succeed(&home, "train --config first/run.json --out again");
    assert_eq!(
        fs::read(home.path().join("again/model.safetensors")).unwrap(),
        fs::read(home.path().join("first/model.safetensors")).unwrap()
    );
    let further = train(
        &home,
        "1 --initial-weights first/model.safetensors --out further",
    );
    exits(&further, 0);
    assert_eq!(
        summary("further")["config"]["widths"],
        serde_json::json!([24, 12, 7])
    );
    succeed(
        &home,
        "train --config first/run.json --network lenet --out other",
    );
    assert_eq!(summary("other")["config"].get("widths"), None);
    succeed(&home, "eval --model first/model.safetensors --data set");

    for (arguments, said) in [
        (
            "1 --widths 24,0",
            "choose 1 to 8 whole numbers from 1 to 2048",
        ),
        (
            "1 --network lenet --widths 24",
            "LeNet-5 cannot have the layer widths 24. Give 4 widths from 1 to 2048, such as 6-16-120-84",
        ),
        (
            "1 --network linear --widths 24",
            "the widths of this model are fixed",
        ),
        (
            "1 --network pytorch-example --widths 64-256-1024",
            "parameters: more than the 10,000,000 that Inkling trains",
        ),
        (
            "1 --initial-weights first/model.safetensors --widths 9",
            "belong to MLP (24-12-7) with ReLU, not to MLP (9) with ReLU",
        ),
    ] {
        refused(&home, arguments, said);
    }
}

#[test]
fn a_cnn_has_the_layers_that_are_asked_for() {
    let home = home_with_set(600, 100);
    // Only a CNN has layers to choose, so that nothing else need be said.
    let first = train(&home, "1 --layers 3c3,mp2,7 --out first");
    exits(&first, 0);
    says(&first, "CNN (3C3-MP2-7)");
    let summary = |run: &str| json_file(home.path().join(run).join("run.json"));
    let config = &summary("first")["config"];
    assert_eq!(config["model"].as_str(), Some("cnn"));
    assert_eq!(config["layers"].as_str(), Some("3C3-MP2-7"));
    let further = train(
        &home,
        "1 --initial-weights first/model.safetensors --out further",
    );
    exits(&further, 0);
    assert_eq!(summary("further")["config"]["layers"], "3C3-MP2-7");
    succeed(
        &home,
        "train --config first/run.json --network lenet --out other",
    );
    assert_eq!(summary("other")["config"].get("layers"), None);
    succeed(&home, "eval --model first/model.safetensors --data set");
    for (arguments, said) in [
        (
            "1 --layers 32C3-MP3",
            "MP3 is not a layer: write 32C3 for a convolution of 32 filters of 3x3",
        ),
        (
            "1 --network mlp --layers 32C3",
            "MLP cannot have the layers 32C3. Choose the network CNN, or leave them empty.",
        ),
        (
            "1 --layers 2048C3-MP2-2048",
            "parameters: more than the 10,000,000 that Inkling trains",
        ),
        (
            "1 --network cnn --widths 9",
            "CNN cannot have the layer widths 9",
        ),
    ] {
        refused(&home, arguments, said);
    }
}

#[test]
fn data_of_a_single_class_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let row = |value: u8| format!("3{}\n", format!(",{value}").repeat(784));
    fs::write(
        home.path().join("threes.csv"),
        (0..40).map(row).collect::<String>(),
    )
    .unwrap();
    fails(
        &home,
        "train --data threes.csv --epochs 1",
        1,
        "All training images have the same class, 3",
    );
}

#[test]
fn settings_can_come_from_a_run() {
    let home = home_with_set(600, 100);
    let first = train(
        &home,
        "1 --network lenet --learning-rate 0.004 --activation gelu --seed 7 --out first",
    );
    exits(&first, 0);
    let again = succeed(
        &home,
        "train --config first/run.json --seed 8 --out second --json",
    );
    let config = &objects(&again)[0]["config"];
    let chosen = ["model", "learning_rate", "activation", "epochs", "data"]
        .map(|name| config[name].to_string());
    let set = Value::from(home.path().join("set").display().to_string()).to_string();
    assert_eq!(
        chosen,
        ["\"lenet\"", "0.004", "\"gelu\"", "1", &set],
        "{config}"
    );
    assert_eq!(config["seed"], 8);
    // Settings alone are enough, and a preset is another way to say the same.
    fs::write(home.path().join("settings.json"), config.to_string()).unwrap();
    succeed(&home, "train --config settings.json --out third");
    fs::write(
        home.path().join("other.json"),
        r#"{"name": "something else"}"#,
    )
    .unwrap();
    for (arguments, status) in [
        ("missing.json", 1),
        ("other.json", 1),
        ("first/model.safetensors", 1),
        ("first/run.json --preset quick", 2),
    ] {
        fails(&home, &format!("train --config {arguments}"), status, "");
    }
}

#[test]
fn a_run_for_scripts_ends_with_the_promised_object() {
    let home = home_with_set(600, 100);
    let output = train(&home, &["3", "--json"]);
    exits(&output, 0);
    let mut events = objects(&output);
    events.retain(|event| event["event"] != "step");
    let names: Vec<_> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["started", "epoch", "epoch", "epoch", "finished"]);
    assert_eq!(events[0]["plan"]["test_images"], 100);
    assert_eq!(events[2]["epoch"], 2);

    let last = events.last().unwrap();
    let promised = [
        "event",
        "run",
        "model",
        "model_path",
        "device",
        "precision",
        "parameters",
        "train_seconds",
        "epoch_seconds",
        "images_per_second",
        "validation_accuracy",
        "test_accuracy",
    ];
    let text = stdout(&output);
    assert!(keys(text.lines().last().unwrap()).starts_with(&promised.map(str::to_owned)));
    assert_eq!(last["model"], "mlp");
    assert_eq!(last["device"], "cpu");
    assert_eq!(last["precision"], "f32");
    assert_eq!(last["epoch_seconds"].as_array().unwrap().len(), 3);
    assert!(last["test_accuracy"].as_f64().unwrap() > 0.9, "{last}");
    assert!(
        last["validation_accuracy"].as_f64().unwrap() > 0.9,
        "{last}"
    );
    let model = Path::new(last["model_path"].as_str().unwrap());
    assert!(
        model.is_file()
            && model.starts_with(home.path().join("runs"))
            && model.parent() == last["run"].as_str().map(Path::new)
    );
    says(&output, "inkling predict --model");
}

#[test]
fn every_step_is_a_line_and_a_row_of_the_run_s_table() {
    let home = home_with_set(600, 100);
    let output = train(&home, "2 --batch-size 50 --out out --json");
    exits(&output, 0);
    let events = objects(&output);
    let steps = events_of(&events, "step");
    let planned = events[0]["plan"]["total_steps"].as_u64().unwrap();
    assert!(planned > 10 && steps.len() as u64 == planned, "{planned}");
    let line = stdout(&output)
        .lines()
        .find(|line| line.contains(r#""event":"step""#))
        .map(keys);
    assert_eq!(
        line.unwrap(),
        ["event", "step", "loss", "accuracy", "learning_rate"]
    );
    let table = fs::read_to_string(home.path().join("out/steps.csv")).unwrap();
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("step,loss,accuracy,learning_rate"));
    for (row, step) in rows.by_ref().zip(&steps) {
        let number = |name: &str| step[name].as_f64().unwrap() as f32;
        assert_eq!(
            row,
            format!(
                "{},{},{},{}",
                step["step"],
                number("loss"),
                number("accuracy"),
                number("learning_rate")
            )
        );
    }
    assert_eq!(table.lines().count(), steps.len() + 1);
    // The line of an epoch follows those of its steps.
    let is_epoch = |event: &Value| event["event"] == "epoch";
    let first = events.iter().position(is_epoch).unwrap();
    assert_eq!(events[first - 1]["step"], events[first]["step"]);
}

#[test]
fn a_run_for_people_says_where_the_model_is_and_what_to_type_next() {
    let home = home_with_set(600, 100);
    let output = train(&home, &["1", "--out", "my run"]);
    exits(&output, 0);
    let model = home.path().join("my run/model.safetensors");
    assert!(model.is_file());
    let said = stdout(&output);
    assert!(said.contains(&model.display().to_string()), "{said}");
    let last = said.lines().last().unwrap();
    assert!(last.contains("inkling predict --model"), "{said}");
    assert!(last.ends_with("drawing.png"), "{said}");
    // Where there is no terminal, there are no bars, but a line per epoch.
    let said = stderr(&output);
    assert_eq!(said.matches("Epoch ").count(), 1, "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[test]
fn the_same_seed_gives_the_same_model() {
    let home = home_with_set(600, 100);
    let model = |out: &str, seed: &str| {
        let more = format!("1 --threads 1 --out {out} --seed {seed}");
        exits(&train(&home, &more), 0);
        let eval = format!("eval --model {out}/model.safetensors --data set --json");
        objects(&run(&home, &eval))[0]["loss"].as_f64().unwrap()
    };
    assert_eq!(model("a", "5"), model("b", "5"));
    assert_ne!(model("c", "5"), model("d", "6"));
}

#[test]
fn a_run_that_goes_astray_says_what_it_does_about_it() {
    let home = home_with_set(600, 100);
    let absurd = words("--network convnet --optimizer sgd --learning-rate 10 --schedule constant");
    let output = train(&home, &[&["9"], &absurd[..], &["--json"]].concat());
    exits(&output, 1);
    let events = objects(&output);
    let back = events_of(&events, "intervened");
    let left = back.iter().map(|event| event["left"].as_u64());
    assert!(left.eq([2, 1, 0].map(Some)), "{back:?}");
    assert!(
        back.iter().all(|event| event["kind"] == "rolled_back"),
        "{back:?}"
    );
    let said = stderr(&output);
    assert_eq!(
        said.matches("Training was rolled back to").count(),
        3,
        "{said}"
    );
    assert!(said.contains("Lower the learning rate"), "{said}");
}

#[test]
fn every_option_of_a_run_reaches_it() {
    let home = home_with_set(600, 100);
    let options = words(
        "--weight-decay=0.02 --momentum=0.8 --nesterov=off --label-smoothing=0.1 \
             --clip-norm=2 --accumulation=3 --weight-averaging=0.9 --early-stopping=4 \
             --augmentation=gentle --optimizer=sgd --schedule=step --learning-rate=0.02 \
             --json",
    );
    let output = train(&home, &[&["2"][..], &options].concat());
    exits(&output, 0);
    let events = objects(&output);
    let config = &events[0]["config"];
    let expected = serde_json::json!({
        "weight_decay": 0.02, "momentum": 0.8, "nesterov": false, "label_smoothing": 0.1, "clip_norm": 2.0, "accumulation": 3,
        "weight_averaging": 0.9, "early_stopping": 4, "augmentation": "gentle", "optimizer": "sgd", "schedule": "step",
        "learning_rate": 0.02, "preset": null,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&config[field], value, "{field}");
    }
    let last = events.last().unwrap();
    assert_eq!(last["stopped_early"], false);
    assert_eq!(last["kept_epoch"], 2);
}

#[test]
fn a_trained_model_is_measured() {
    let home = home_with_set(600, 100);
    assert_eq!(train(&home, "3 --out run").status.code(), Some(0));
    let eval = words("eval --model run/model.safetensors --data set");

    let scripted = succeed(&home, &[&eval[..], &["--json"]].concat());
    assert_eq!(
        keys(&stdout(&scripted)),
        [
            "images",
            "accuracy",
            "loss",
            "calibration_error",
            "split",
            "digits",
            "suspected",
            "suspects"
        ]
    );
    let figures = &objects(&scripted)[0];
    assert_eq!(figures["images"], 100);
    assert!(
        figures["accuracy"].as_f64().unwrap() > 0.9 && figures["loss"].as_f64().unwrap() > 0.0,
        "{figures}"
    );

    let table = stdout(&run(&home, &eval));
    assert_eq!(
        table.lines().count(),
        13,
        "figures, a blank line, a head and ten rows:\n{table}"
    );
    let counted: u32 = table
        .lines()
        .skip(3)
        .flat_map(|row| row.split_whitespace().skip(1).take(10))
        .map(|count| count.parse::<u32>().unwrap())
        .sum();
    assert_eq!(counted, 100);
}

#[test]
fn data_that_cannot_be_had_fails_by_name() {
    let home = home_with_set(600, 100);
    fs::write(
        home.path().join("set/train-images-idx3-ubyte"),
        b"\0\0\x08\x03 broken",
    )
    .unwrap();
    for (arguments, word) in [
        ("train --data mnist", "mnist"),
        ("train --data nowhere", "nowhere"),
        ("train --data set", "train-images-idx3-ubyte"),
        ("train --data-dir nowhere", "nowhere"),
        (
            "eval --model absent.safetensors --data set",
            "absent.safetensors",
        ),
        (
            "predict --model set/t10k-labels-idx1-ubyte a.png",
            "t10k-labels-idx1-ubyte",
        ),
    ] {
        let output = fails(&home, arguments, 1, word);
        assert!(stdout(&output).is_empty());
    }
}

#[test]
fn a_set_is_found_by_name_in_the_folder_given() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("sets/kmnist"), 200, 50);
    let output = succeed(
        &home,
        "train --data kmnist --data-dir sets --preset quick --json",
    );
    assert_eq!(objects(&output)[0]["plan"]["test_images"], 50);
}

#[test]
fn a_batch_larger_than_the_set_is_bad_usage() {
    let home = home_with_set(600, 100);
    let output = train(&home, "1 --batch-size 4096");
    exits(&output, 2);
    says(&output, "4096");
}

#[test]
fn a_folder_that_cannot_take_the_run_is_found_before_training() {
    let home = home_with_set(600, 100);
    fs::create_dir(home.path().join("thesis")).unwrap();
    fs::write(home.path().join("thesis/chapter.txt"), "precious").unwrap();
    fs::write(home.path().join("file"), "a file").unwrap();
    for out in ["thesis", "file/run"] {
        let output = train(&home, &["1", "--out", out, "--json"]);
        exits(&output, 1);
        assert!(stdout(&output).is_empty(), "no run was started");
        says(&output, out.split('/').next().unwrap());
    }
    assert_eq!(fs::read_dir(home.path().join("thesis")).unwrap().count(), 1);
}

#[test]
fn repeated_runs_have_a_mean_with_its_interval() {
    let home = home_with_set(600, 100);
    let output = train(&home, "1 --seed 3 --repeats 3 --json");
    exits(&output, 0);
    let events = objects(&output);
    let finished = events_of(&events, "finished");
    let seeds = finished
        .iter()
        .map(|event| event["config"]["seed"].as_u64());
    assert!(seeds.eq([3, 4, 5].map(Some)));
    let accuracies: Vec<f64> = finished
        .iter()
        .map(|event| event["test_accuracy"].as_f64().unwrap())
        .collect();
    let last = events.last().unwrap();
    assert_eq!(last["event"], "repeated");
    assert_eq!(last["runs"], 3);
    assert_eq!(last["measured_on"], "test");
    let mean = inkling::math::statistics::mean_interval(&accuracies).unwrap();
    assert_eq!(last["mean_accuracy"].as_f64(), Some(mean.mean));
    assert_eq!(last["low"].as_f64(), Some(mean.low));
    assert_eq!(last["high"].as_f64(), Some(mean.high));
    assert_eq!(
        last["highest"]["accuracy"].as_f64(),
        accuracies.iter().copied().reduce(f64::max)
    );
    says(&output, "Run 2 of 3.");
    says(&output, "3 runs: mean test accuracy");
    exits(&train(&home, "1 --repeats 2 --out one"), 2);
    refused(&home, "1 --repeats 101", "from 1 to 100");
}

#[test]
fn a_run_is_reproduced_bit_for_bit_and_what_is_not_the_same_is_said() {
    let home = home_with_set(600, 100);
    exits(&train(&home, "1 --threads 1 --out one"), 0);
    let again = succeed(&home, "train --reproduce one --threads 2 --json");
    let last = last_object(&again);
    assert_eq!(last["event"], "reproduced");
    assert_eq!(last["same"], true);
    assert_eq!(last["differing"], 0);
    says(&again, "the same, bit for bit");
    write_idx_set(&home.path().join("set"), 700, 100);
    fails(
        &home,
        "train --reproduce one",
        1,
        "lso different: the number of training images",
    );
    exits(&run(&home, "train --reproduce one --seed 2"), 2);
}

#[test]
fn little_data_trains_at_default_settings_and_what_was_changed_is_said() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("few"), 48, 10);
    let output = succeed(&home, "train --data few --network mlp --json");
    // A fifth for validation, a power of two of at most a quarter of the rest, and enough epochs
    // for some hundred steps.
    let plan = &objects(&output)[0]["plan"];
    assert_eq!(plan["train_images"], 39);
    assert_eq!(plan["validation_images"], 9);
    assert!(plan["total_steps"].as_u64().unwrap() >= 400, "{plan}");
    says(&output, "39 training images");
    says(&output, "batch size 8 instead of 128");
    says(&output, "epochs 80 instead of 12");
    says(&output, "validation");
    // What somebody asked for stays.
    let asked = words("train --data few --network mlp --batch-size 13 --epochs 2 --json");
    let output = run(&home, &asked);
    let said = stderr(&output);
    assert_eq!(objects(&output)[0]["plan"]["total_steps"], 6, "{said}");
    assert!(!said.contains("instead of"), "{said}");
}
