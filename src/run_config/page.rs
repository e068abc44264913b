//! The page about settings in `docs`.

use std::fmt::Write as _;

use super::{Kind, RunConfig, Section, Setting, Trials};

const INTRODUCTION: &str = "# Settings of a run

Each setting has one name: as an option of `inkling train`, `find-lr`, `find-batch-size` and `profile` (`--batch-size 64`), \
as the key of a run's `config` in JSON (`batch_size`; the network is `model` there), in a sweep (`--set batch-size=32,64`) \
and in the window. The defaults are those of the preset `balanced`; [training.md](training.md) has the other presets, and says more \
about networks and some of the settings.

This page is made from the table in `src/run_config/settings.rs`, by `INKLING_WRITE_DOCS=1 cargo test settings_page`.
";

/// The page, as Markdown.
pub fn settings_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for section in Section::ALL {
        let heading = section.label();
        let _ = write!(
            page,
            "\n## {heading}\n\n| option | default | values | |\n|---|---|---|---|\n"
        );
        for setting in section.settings() {
            let row = setting.row();
            let default = match setting.text(&RunConfig::default()) {
                text if text.is_empty() => String::new(),
                text => code(&text),
            };
            let (name, values, help) = (row.name, values(setting), row.help);
            let _ = writeln!(page, "| `--{name}` | {default} | {values} | {help} |");
        }
    }
    let same = |setting: &Setting| matches!(setting.row().trials, Trials::Same);
    let same: Vec<String> = Setting::ALL
        .iter()
        .copied()
        .filter(same)
        .map(|setting| code(setting.row().name))
        .collect();
    let _ = write!(
        page,
        "\nA sweep can vary all of them but {}, which are the same for all trials.\n",
        same.join(", ")
    );
    page
}

fn values(setting: Setting) -> String {
    let row = setting.row();
    let values = match (row.kind, row.range) {
        (Kind::Choice | Kind::Switch, _) => {
            let names = setting.choices().into_iter().map(|(name, _)| code(name));
            names.collect::<Vec<_>>().join(", ")
        }
        (_, Some(range)) => range.numbers(),
        (_, None) => code(row.value_name),
    };
    if row.unset.is_empty() {
        values
    } else {
        format!("{values}, or {}", code(row.unset))
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}
