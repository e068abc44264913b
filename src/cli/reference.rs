//! The page `docs/cli.md`, from the definitions that the command line is parsed by.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory};

use super::man::{ENVIRONMENT, EXIT_STATUSES};
use crate::run_config::Setting;
use crate::text::format::joined;

const INTRODUCTION: &str = "# Command line

Training, evaluation, recognition, sweeps, export, import and benchmarks work from the terminal too. `inkling COMMAND --help` prints what is on this page, and `inkling man COMMAND` \
a manual page. `inkling completions bash` (or `zsh`, `fish`, `powershell`) prints a completion script; the first three also complete \
the titles of runs and the names of data sets.

Results go to standard output, and everything else to standard error. With `--json`, standard output has one JSON object per line; \
[Automation](automation.md) shows how to use it from scripts, Python, Make and a notebook. Options that choose \
a run's settings are listed in [Settings](settings.md).

This page is made from the program's own definitions, by `INKLING_WRITE_DOCS=1 cargo test command_line_page`.
";

const EXAMPLES: &str = "
## Examples

```sh
inkling train                                      # built-in digits, preset Balanced
inkling train --data mnist --preset one-epoch --out my-run
inkling train --data mnist --preset one-epoch --repeats 5    # five seeds: the mean accuracy and its interval
inkling train --config my-run --seed 2             # the settings of a run, another seed
inkling train --initial-weights my-run --data mnist --epochs 3
inkling train --reproduce my-run                   # trains it again: are the weights the same?
inkling train --resume                             # continues the run that was interrupted last
inkling train --resume --save                      # or saves its last completed epoch as a model
inkling train --data mnist --hosts gpu-box         # trains on another machine over SSH; results are saved here
inkling runs list                                  # titles, accuracies and dates of all runs
inkling eval --model latest --data mnist           # a run's title, the beginning of it, its folder or a file
inkling eval --model my-run --model other-run --data mnist    # both, averaged
inkling compare my-run other-run                   # is one significantly better?
inkling predict --model my-run drawing.png ink.json folder
inkling export --model my-run --format onnx --out digits.onnx
inkling import model.onnx                          # from PyTorch, Keras or elsewhere
inkling sweep --data mnist --set learning-rate=1e-4..1e-2:log --set batch-size=32,64,128
inkling find-lr --data mnist                       # suggests a learning rate
inkling find-batch-size --data mnist               # the time to an accuracy with each batch size
inkling profile --network convnet --trace step.json
inkling hardware --self-test                       # checks that this machine computes correctly
inkling bench                                      # measures this machine in less than a minute
```
";

const EXIT: &str = "
Ctrl-C stops a run and saves the model of its last completed epoch. Before the first epoch completes, a stopped run can be resumed. \
SIGTERM and SIGHUP interrupt a run, which can then be resumed with `inkling train --resume`.
";

pub fn command_line_page() -> String {
    let mut program = super::Cli::command().disable_help_subcommand(true);
    // Names commands after those they belong to.
    program.build();
    let mut page = INTRODUCTION.to_owned();
    page += "\n## Commands\n\n| command | |\n|---|---|\n";
    for command in program.get_subcommands() {
        let name = command.get_name();
        let about = text(command.get_about());
        let _ = writeln!(page, "| [`{name}`](#inkling-{name}) | {about} |");
    }
    page += EXAMPLES;
    page += "\n## Exit status\n\n| status | |\n|---|---|\n";
    table(&mut page, &EXIT_STATUSES);
    page += EXIT;
    page += "\n## Environment variables\n\n| variable | |\n|---|---|\n";
    table(&mut page, &ENVIRONMENT);
    page += "\n## Options of every command\n\n| option | |\n|---|---|\n";
    for argument in program.get_arguments() {
        row(&mut page, argument);
    }
    for command in program.get_subcommands() {
        section(&mut page, command, 2);
    }
    page
}

fn section(page: &mut String, command: &Command, level: usize) {
    let (marks, name) = ("#".repeat(level), command.get_display_name());
    let heading = name.unwrap_or_default().replacen('-', " ", level - 1);
    let about = text(command.get_about());
    let _ = write!(page, "\n{marks} {heading}\n\n{about}.\n");
    if command.has_subcommands() {
        for command in command.get_subcommands() {
            section(page, command, level + 1);
        }
        return;
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = write!(page, "\n```text\n{usage}\n```\n");
    let own = |argument: &&Arg| {
        !argument.is_hide_set() && !argument.is_global_set() && argument.get_id() != "help"
    };
    let (settings, arguments): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(own)
        .partition(|argument| is_setting(argument));
    if !arguments.is_empty() {
        *page += "\n| option | |\n|---|---|\n";
    }
    for argument in arguments {
        row(page, argument);
    }
    if !settings.is_empty() {
        *page += "\nIt also takes the options in [Settings](settings.md).\n";
    }
}

/// Whether it is on the page of settings, with the same words.
fn is_setting(argument: &Arg) -> bool {
    let help = text(argument.get_help());
    Setting::ALL.iter().any(|setting| {
        let row = setting.row();
        Some(row.name) == argument.get_long() && row.help.trim_end_matches('.') == help
    })
}

fn row(page: &mut String, argument: &Arg) {
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names = joined(short.into_iter().chain(long), ", ");
    let values = argument.get_value_names().unwrap_or_default();
    let values = joined(values.iter().map(ToString::to_string), " ");
    let takes_value = argument.get_action().takes_values();
    let option = match (names.is_empty(), takes_value) {
        (true, _) => values,
        (false, true) => format!("{names} {values}"),
        (false, false) => names,
    };
    let mut help = text(argument.get_help());
    let choices = argument.get_possible_values();
    let choices = choices.iter().filter(|choice| !choice.is_hide_set());
    let choices = joined(
        choices.map(|choice| format!("`{}`", choice.get_name())),
        ", ",
    );
    if takes_value && !choices.is_empty() {
        let _ = write!(help, " [{choices}]");
    }
    let defaults = argument.get_default_values().iter();
    let defaults = joined(defaults.map(|value| format!("`{}`", value.display())), ", ");
    if takes_value && !defaults.is_empty() {
        let _ = write!(help, " [default: {defaults}]");
    }
    table(page, &[(option.trim(), &help)]);
}

fn table(page: &mut String, rows: &[(&str, &str)]) {
    let cell = |text: &str| text.replace('|', r"\|");
    for (name, about) in rows {
        let _ = writeln!(page, "| `{}` | {} |", cell(name), cell(about));
    }
}

fn text(help: Option<&StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default()
}
