//! The directions that the map in `ARCHITECTURE.md` claims, read off the sources: which module may
//! depend on which, and which on candle and egui.

mod guarantees;
mod links;
mod pictures;
mod sources;
mod words;

use std::collections::BTreeSet;

use self::sources::Sources;

/// The modules in the order of the map's table, which goes from the top down.
fn modules_of_the_map() -> Vec<String> {
    let map = include_str!("../../ARCHITECTURE.md");
    let names = map.lines().filter_map(|line| {
        line.strip_prefix("| ")?
            .split(" | ")
            .next()?
            .split('`')
            .nth(1)
    });
    names.map(str::to_owned).collect()
}

fn only_downwards(sources: &Sources, order: &[String]) -> Result<(), String> {
    let level = |module: &str| order.iter().position(|known| known == module);
    for ((module, other), file) in sources.module_graph() {
        if level(&other) <= level(module) {
            return Err(format!(
                "src/{file} names `{other}`, which stands above `{module}` in the map"
            ));
        }
    }
    Ok(())
}

#[test]
fn the_map_names_every_module_and_no_other() {
    let sources = Sources::read();
    let order = modules_of_the_map();
    assert_eq!(
        order.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        sources.modules()
    );
    assert_eq!(
        order.len(),
        sources.modules().len(),
        "a module stands in the map twice"
    );
}

#[test]
fn every_module_depends_only_on_modules_below_it_so_that_there_are_no_cycles() {
    only_downwards(&Sources::read(), &modules_of_the_map()).unwrap();
}

#[test]
fn a_module_that_depends_on_one_above_it_is_found() {
    let order = modules_of_the_map();
    let forbidden = [
        "use crate::train::TrainError;",
        "use crate::{ink, window::{self, App}};",
        "fn f() { crate::protocol::f() }",
        "pub(crate) use super::super::engine::EngineHandle as Handle;",
    ];
    for code in forbidden {
        let mut sources = Sources::read();
        sources.add(&["optim".to_owned(), "intruder".to_owned()], false, code);
        let found = only_downwards(&sources, &order).unwrap_err();
        assert!(found.contains("optim/intruder.rs"), "{found}");
    }
    let mut sources = Sources::read();
    let harmless =
        "// crate::app\nuse crate::nn::{Net, Pass};\nuse super::rule::problem;\nuse std::problem;";
    sources.add(&["optim".to_owned(), "guest".to_owned()], false, harmless);
    only_downwards(&sources, &order).unwrap();
}

/// Files whose code names one of these libraries.
fn naming<'a>(sources: &'a Sources, libraries: &[&str]) -> Vec<&'a str> {
    let names = |code: &str| {
        libraries.iter().any(|library| {
            let starts = |at: usize| {
                !code[..at]
                    .ends_with(|before: char| before.is_alphanumeric() || "_\"".contains(before))
            };
            code.match_indices(&format!("{library}::"))
                .any(|(at, _)| starts(at))
        })
    };
    sources
        .files()
        .filter(|file| names(&file.code))
        .map(|file| file.path.as_str())
        .collect()
}

fn are_below(files: &[&str], modules: &[&str]) {
    let allowed = |file: &&&str| {
        modules.iter().any(|module| {
            file.strip_prefix(module)
                .is_some_and(|rest| rest.starts_with(['/', '.']))
        })
    };
    let others: Vec<_> = files.iter().filter(|file| !allowed(file)).collect();
    assert!(
        others.is_empty(),
        "only {modules:?} may, but {others:?} do as well"
    );
    assert!(!files.is_empty(), "nobody does: the name is wrong");
}

#[test]
fn tensors_stay_where_the_map_says() {
    let tensors = [
        "device",
        "nn",
        "optim",
        "infer",
        "train",
        "export",
        "import",
        "bench",
        "self_test",
    ];
    are_below(&naming(&Sources::read(), &["candle_core"]), &tensors);
}

#[test]
fn only_the_window_knows_how_it_is_drawn() {
    are_below(
        &naming(&Sources::read(), &["egui", "eframe", "egui_plot", "rfd"]),
        &[
            "cli/window",
            "window/desktop/native",
            "window/digit_map/view",
            "window/draw/view",
            "window/frame",
            "window/hardware/view",
            "window/inside/view",
            "window/lessons/view",
            "window/models/view",
            "window/my_digits/view",
            "window/plots",
            "window/results/view",
            "window/shell",
            "window/start",
            "window/style",
            "window/sweeps/view",
            "window/train/view",
            "window/wizard",
        ],
    );
}

#[test]
fn what_crosses_pipes_is_plain_data_whatever_it_stands_on() {
    let sources = Sources::read();
    let files = sources.closure("protocol");
    let paths: Vec<&str> = files.iter().map(|(file, _)| file.path.as_str()).collect();
    assert!(
        paths.contains(&"records/run.rs")
            && paths.contains(&"system/error.rs")
            && paths.contains(&"problem.rs"),
        "{paths:?}"
    );
    for (file, from) in files {
        for library in [
            "candle_core::",
            "candle_nn::",
            "egui::",
            "rayon::",
            "thread::",
            "mpsc::",
            "Mutex",
            "File::",
            "fs::",
        ] {
            assert!(
                !file.code.contains(library),
                "src/{}, which src/{from} names, is part of the protocol and names {library}",
                file.path
            );
        }
    }
}

#[test]
fn candles_own_pooling_and_convolution_are_never_called() {
    // What an exported program calls is for inference alone, or PyTorch's; the benchmark times
    // plain candle; the composed backend uses candle-nn's fused kernels if there are no
    // gradients; the trials of imported weights are for inference alone.
    let (export, plain, trials, composed) = (
        "export/",
        "bench/plain_candle.rs",
        "import/variant.rs",
        "nn/backend/composed",
    );
    let calls = [
        "max_pool2d(",
        ".conv2d(",
        "max_pool2d_with_stride(",
        "Tensor::max_pool2d",
        "Tensor::conv2d",
        "conv2d_with_algo",
        "conv_transpose2d",
    ];
    for file in Sources::read()
        .files()
        .filter(|file| !file.path.starts_with(export) && file.path != plain && file.path != trials)
    {
        for call in calls {
            // Ours is called by that name as well.
            assert!(
                !file.code.replace("backend.conv2d(", "").contains(call),
                "src/{} calls {call}",
                file.path
            );
        }
        assert!(
            file.path.starts_with(composed) || !file.code.contains("candle_nn::"),
            "src/{} calls candle-nn",
            file.path
        );
    }
}

#[test]
fn files_are_written_whole_and_randomness_is_seeded() {
    let elsewhere = |module: &str, calls: &[&str]| {
        for file in Sources::read()
            .files()
            .filter(|file| !file.path.starts_with(module))
        {
            for call in calls {
                assert!(!file.code.contains(call), "src/{} calls {call}", file.path);
            }
        }
    };
    elsewhere("system/files/", &["fs::write(", "File::create("]);
    // With a limit of its size, and never a pipe into which nobody writes.
    elsewhere(
        "system/files/",
        &[
            " File::open(",
            "(File::open(",
            "fs::File::open(",
            "fs::read(path",
            "fs::read(&",
            "fs::read_to_string(",
        ],
    );
    // An exported program draws nothing, and candle's generator is not ours.
    elsewhere(
        "math/random.rs",
        &["Tensor::rand", ".rand_like(", ".randn_like(", "rand::"],
    );
}

/// What stands between the brackets of each call of one of tracing's macros.
fn log_calls(code: &str) -> Vec<&str> {
    let starts = [
        "tracing::error!(",
        "tracing::warn!(",
        "tracing::info!(",
        "tracing::debug!(",
    ];
    let found = starts.iter().flat_map(|start| {
        code.match_indices(start)
            .map(|(at, start)| &code[at + start.len()..])
    });
    found.map(|rest| &rest[..closing_bracket(rest)]).collect()
}

fn closing_bracket(code: &str) -> usize {
    let mut depth = 1;
    let closes = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        depth == 0
    };
    code.find(closes).unwrap_or(code.len())
}

#[test]
fn messages_of_the_log_are_fixed_texts_so_that_diagnostics_can_leave_out_the_rest() {
    let mut calls = 0;
    for file in Sources::read().files() {
        for call in log_calls(&file.code) {
            calls += 1;
            assert!(
                !call.contains('{'),
                "src/{} puts a value into a message; make it a field: {call}",
                file.path
            );
        }
    }
    assert!(calls > 20, "only {calls} calls were found");
    assert_eq!(log_calls(r#"tracing::info!("{line}");"#), [r#""{line}""#]);
}
