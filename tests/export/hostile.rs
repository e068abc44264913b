//! A model file whose every word is chosen by somebody hostile, in every kind of export: what is
//! exported has the same structure as with harmless words, and no hidden characters. `.ci/exports`
//! compiles, runs and parses the same.

use std::path::PathBuf;

use inkling::export::{ExportedModel, export};
use inkling::nn::ModelFile;
use inkling::nn::onnx::proto::ModelProto;
use inkling::records::{EpochRecord, ExportSpec};
use inkling::run_config::{Activation, Classes, DataSpec, ExportFormat, ModelKind};
use inkling::text::visible::is_hidden;
use prost::Message;

use super::untrained_model;
use crate::fake_engine::summary;

/// What ends comments, strings, table cells, elements and lines in the languages of the exports.
const ATTACK: &str = "a\nfn b() {}\r\n#![c] */ \"\"\" ''' \" ' ` \\ \\\" \\u{41} ${d} {e} {{f}}%g | h |\n---\n- i\n# j\n</title></script><script>k</script>\
                      <img src=l onerror=m> & &lt; <!-- --> [n](javascript:o) ![p](http://q.example/r.png) https://s.example www.t.example u@v.example \
                      \u{0}\u{7}\u{8}\u{7f}\u{85}\u{9b}31m\u{1b}[2J\u{1b}]0;w\u{7} \u{2028}\u{2029}\u{202e}\u{2066}\u{feff}\u{e0041} x";

fn epoch(epoch: u32) -> EpochRecord {
    let (step, seconds) = (70 * u64::from(epoch), 10.0);
    EpochRecord {
        epoch,
        step,
        train_loss: 0.3,
        train_accuracy: 0.9,
        validation_loss: 0.25,
        validation_accuracy: 0.92,
        seconds,
    }
}

/// A model in which every text is this one.
fn model_that_says(text: &str) -> ExportedModel {
    let mut exported = untrained_model(ModelKind::LeNet, Activation::Relu);
    // Of a path, only the part after the last slash is told.
    let data: DataSpec =
        serde_json::from_value(serde_json::json!([text, text.replace('/', "")])).unwrap();
    let card = &mut exported.file.card;
    card.data = data.clone();
    card.config.data = data;
    card.config.initial_weights = Some(PathBuf::from(text));
    card.labels = named_after(text);
    let mut run = summary(&card.config, vec![epoch(1), epoch(2)], false);
    text.clone_into(&mut run.machine);
    text.clone_into(&mut run.finished_at);
    run.imported = Some(text.to_owned());
    exported.run = Some(run);
    exported
}

/// Ten classes whose names are pieces of this text, as far as names may have them.
fn named_after(text: &str) -> Classes {
    let visible: Vec<char> = text.chars().filter(|c| !is_hidden(*c)).collect();
    let piece = |class: usize| {
        visible
            .iter()
            .cycle()
            .skip(class * 30)
            .take(30.min(visible.len()))
            .collect::<String>()
    };
    let names: Vec<String> = (0..10)
        .map(|class| format!("{class} {}", piece(class).trim()))
        .collect();
    Classes::of_names(&names).unwrap()
}

/// The files of a format, for a model that says this, saved under a name that says it too.
fn files(text: &str, format: ExportFormat) -> Vec<(String, Vec<u8>)> {
    let name: String = text
        .chars()
        .filter(|c| !"/\\\0".contains(*c))
        .take(60)
        .collect();
    let export = export(
        &model_that_says(text),
        &ExportSpec::new(format),
        &format!("{name}.x"),
    )
    .unwrap();
    export
        .files()
        .iter()
        .map(|file| (file.info.name.clone(), file.bytes.clone()))
        .collect()
}

/// For each format: its text files with hostile words and with harmless ones.
fn texts(format: ExportFormat) -> Vec<(String, String)> {
    let [hostile, harmless] = [ATTACK, "a"].map(|text| files(text, format));
    assert_eq!(hostile.len(), harmless.len());
    let pairs = hostile.into_iter().zip(harmless);
    pairs
        .filter_map(|((_, one), (_, other))| {
            Some((String::from_utf8(one).ok()?, String::from_utf8(other).ok()?))
        })
        .collect()
}

#[test]
fn no_export_has_hidden_characters_or_more_lines_than_with_harmless_words() {
    for &format in ExportFormat::ALL {
        for (hostile, harmless) in texts(format) {
            let hidden = hostile.chars().find(|&c| c != '\n' && is_hidden(c));
            assert_eq!(hidden, None, "{format}:\n{hostile}");
            assert_eq!(
                hostile.lines().count(),
                harmless.lines().count(),
                "{format}:\n{hostile}"
            );
        }
    }
}

#[test]
fn the_elements_of_the_page_are_those_of_a_harmless_one() {
    fn tags(page: &str) -> Vec<String> {
        let elements = page.split('<').skip(1).map(|rest| {
            rest.split_once('>')
                .expect("an element that is not closed")
                .0
        });
        // What attributes say may differ, within their quotes.
        elements
            .map(|element| {
                element
                    .split('"')
                    .step_by(2)
                    .collect::<Vec<_>>()
                    .join("\"\"")
            })
            .collect()
    }
    let [(hostile, harmless)] = texts(ExportFormat::Report).try_into().unwrap();
    assert_eq!(tags(&hostile), tags(&harmless));
    assert_eq!(hostile.matches('>').count(), harmless.matches('>').count());
    assert!(hostile.contains("&lt;script&gt;k&lt;/script&gt;"));
}

#[test]
fn no_word_of_the_model_begins_or_ends_an_element_or_a_script_of_the_web_page() {
    let [(hostile, harmless)] = texts(ExportFormat::Html).try_into().unwrap();
    for mark in ['<', '>'] {
        assert_eq!(
            hostile.matches(mark).count(),
            harmless.matches(mark).count()
        );
    }
    assert!(hostile.contains("\\u003c"));
}

#[test]
fn the_rust_program_has_two_lines_of_documentation_and_strings_that_end() {
    let [(hostile, _), (manifest, _)] = texts(ExportFormat::Candle).try_into().unwrap();
    assert_eq!(
        hostile
            .lines()
            .filter(|line| line.starts_with("//!"))
            .count(),
        2
    );
    assert!(hostile.lines().nth(2).unwrap().is_empty(), "{hostile}");
    let labels = hostile
        .lines()
        .find(|line| line.starts_with("const LABELS"))
        .unwrap();
    // Without what is escaped, each label is a string of its own.
    let unescaped = labels.replace("\\\\", "").replace("\\\"", "");
    assert_eq!(unescaped.matches('"').count(), 20, "{labels}");
    let path = manifest
        .lines()
        .find(|line| line.starts_with("path = "))
        .unwrap();
    assert_eq!(
        path.replace("\\\\", "")
            .replace("\\\"", "")
            .matches('"')
            .count(),
        2,
        "{path}"
    );
}

#[test]
fn the_python_module_has_one_docstring_that_ends_where_it_should() {
    let [(hostile, harmless)] = texts(ExportFormat::PyTorch).try_into().unwrap();
    let unescaped = hostile.replace("\\\\", "").replace("\\\"", "");
    assert_eq!(
        unescaped.matches("\"\"\"").count(),
        harmless.matches("\"\"\"").count()
    );
    for (hostile, harmless) in unescaped.lines().zip(harmless.lines()).skip(12) {
        assert_eq!(
            hostile.matches('"').count(),
            harmless.matches('"').count(),
            "{hostile}"
        );
    }
}

#[test]
fn the_card_has_no_markup_but_its_own() {
    let (hostile, harmless) = texts(ExportFormat::Card).into_iter().next().unwrap();
    for (hostile, harmless) in hostile.lines().zip(harmless.lines()) {
        let unescaped = ["\\\\", "\\|", "\\]", "\\:"]
            .iter()
            .fold(hostile.to_owned(), |text, escape| text.replace(escape, ""));
        assert_eq!(
            unescaped.matches('|').count(),
            harmless.matches('|').count(),
            "{hostile}"
        );
        assert!(
            !unescaped.contains(['<', '>'])
                && !unescaped.contains("](")
                && !unescaped.contains("://"),
            "{hostile}"
        );
    }
}

#[test]
fn onnx_and_safetensors_say_it_in_one_line() {
    let onnx = files(ATTACK, ExportFormat::Onnx).swap_remove(0).1;
    let model = ModelProto::decode(onnx.as_slice()).unwrap();
    let metadata = model
        .metadata_props
        .iter()
        .flat_map(|entry| [&entry.key, &entry.value]);
    let graph = model.graph.as_ref().unwrap();
    let docs = graph
        .input
        .iter()
        .chain(&graph.output)
        .map(|value| &value.doc_string);
    for text in metadata
        .chain(docs)
        .chain([&model.doc_string, &graph.doc_string, &graph.name])
    {
        assert!(!text.contains(is_hidden), "{text:?}");
    }
    let bytes = files("a", ExportFormat::Safetensors).swap_remove(0).1;
    assert_eq!(
        ModelFile::from_bytes(&bytes, "a".as_ref())
            .unwrap()
            .card
            .labels,
        named_after("a")
    );
}

#[test]
fn long_words_are_cut_off_where_people_read_them() {
    let long = "ab ".repeat(10_000);
    let mut exported = model_that_says(&long);
    exported.file.card.labels = Classes::Digits;
    let export = export(&exported, &ExportSpec::new(ExportFormat::Zip), "a.zip").unwrap();
    for file in export.files() {
        let Ok(text) = std::str::from_utf8(&file.bytes) else {
            continue;
        };
        // JSON is for programs, and exact.
        let limit = match file.info.name.as_str() {
            name if name.ends_with("json") => 10 * long.len(),
            // With all of its weights.
            "model.html" => 240_000,
            _ => 30_000,
        };
        assert!(
            text.len() < limit,
            "{} has {} bytes",
            file.info.name,
            text.len()
        );
    }
}
