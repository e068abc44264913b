//! `inkling completions`: what lets a shell complete commands and options, and the titles of runs
//! and the names of data sets, for which the scripts ask this program at every completion.

use clap::builder::{Arg, ValueHint};
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::{Shell, generate};

use super::failure::Failure;
use super::output::Output;
use crate::run_config::data_set_names;
use crate::runs::{LATEST, Store};
use crate::system::paths::Paths;
use crate::text::format::joined;

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell: its script is printed to standard output
    #[arg(required_unless_present = "names")]
    shell: Option<Shell>,
    /// Print these names instead, one a line
    #[arg(long, hide = true)]
    names: Option<Names>,
}

/// Names that only this installation knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Names {
    Runs,
    Data,
}

impl Names {
    /// Those that an argument takes, by how the help calls its value.
    fn of(argument: &Arg) -> Option<Self> {
        match argument.get_value_names()?.first()?.as_str() {
            "MODEL" | "RUN" => Some(Self::Runs),
            "DATA" => Some(Self::Data),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Data => "data",
        }
    }
}

/// Prints the script, or names.
pub fn run(arguments: &CompletionsArgs) -> Result<(), Failure> {
    let mut output = Output::new(false);
    match (arguments.names, arguments.shell) {
        (Some(Names::Runs), _) => {
            let runs = Store::new(Paths::find().runs).list();
            let titles = runs.iter().map(|run| run.title.as_str());
            std::iter::once(LATEST)
                .chain(titles)
                .try_for_each(|name| output.script(name))
        }
        (Some(Names::Data), _) => data_set_names().try_for_each(|name| output.script(name)),
        (None, Some(shell)) => output.script(script(shell).trim_end()),
        (None, None) => Ok(()),
    }
}

/// The script, made from the definitions of the commands and their options.
fn script(shell: Shell) -> String {
    let mut commands = super::Cli::command();
    if shell == Shell::Zsh {
        commands = hinted(commands);
    }
    let mut script = Vec::new();
    generate(shell, &mut commands, "inkling", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => bash(&script, &commands),
        Shell::Fish => script + &fish(&commands),
        Shell::Zsh => zsh(&script),
        _ => script,
    }
}

/// An argument that takes names.
struct Taking<'c> {
    names: Names,
    /// The commands that lead to it, without the program.
    path: Vec<&'c str>,
    /// Its option; `None` if it has its place among the arguments.
    option: Option<&'c str>,
}

fn taking(commands: &Command) -> Vec<Taking<'_>> {
    let mut all = Vec::new();
    let mut waiting = vec![(Vec::new(), commands)];
    while let Some((path, command)) = waiting.pop() {
        for argument in command.get_arguments() {
            all.extend(Names::of(argument).map(|names| Taking {
                names,
                path: path.clone(),
                option: argument.get_long(),
            }));
        }
        for command in command.get_subcommands() {
            let name = [command.get_name()];
            waiting.push(([path.as_slice(), &name].concat(), command));
        }
    }
    all
}

/// What bash completes itself is quoted for the quotes that the word began with; without any such
/// name, it completes files.
fn bash(script: &str, commands: &Command) -> String {
    let cases = |names: Names| {
        let these = taking(commands);
        let these = these.iter().filter(|taking| taking.names == names);
        let patterns = these.map(|Taking { path, option, .. }| {
            let command =
                joined(["inkling"].iter().chain(path), "__subcmd__").replace('-', "__subcmd__");
            match option {
                Some(option) => format!("'{command} --{option}'"),
                None => format!("'{command} '[!-]*"),
            }
        });
        format!(
            "        {}) names={} ;;\n",
            joined(patterns, "|"),
            names.name()
        )
    };
    let ask = BASH.replace("CASES\n", &(cases(Names::Runs) + &cases(Names::Data)));
    let hook = "    case \"${cmd}\" in\n";
    ask + &script.replace(
        hook,
        &format!("    _inkling_names \"$cmd $prev\" \"$cur\" && return 0\n{hook}"),
    )
}

const BASH: &str = r#"_inkling_names() {
    local names name word="${COMP_WORDS[COMP_CWORD]}"
    [[ $2 == -* ]] && return 1
    case "$1" in
CASES
        *) return 1 ;;
    esac
    while IFS= read -r name; do
        case "$word" in
            \'*) name="${name//\'/\'\\\'\'}" ;;
            \"*)
                name="${name//\\/\\\\}"
                name="${name//\"/\\\"}"
                name="${name//\$/\\\$}"
                name="${name//\`/\\\`}"
                ;;
            *) printf -v name %q "$name" ;;
        esac
        [[ $name == "$2"* ]] && COMPREPLY+=("$name")
    done < <(inkling completions --names "$names" 2>/dev/null)
    return 0
}

"#;

/// Lines for each argument: fish itself quotes what it completes.
fn fish(commands: &Command) -> String {
    let line = |Taking {
                    names,
                    path,
                    option,
                }: &Taking<'_>| {
        let (first, others) = path.split_first().unwrap_or((&"", &[]));
        let within = joined(
            others
                .iter()
                .map(|command| format!("; and __fish_seen_subcommand_from {command}")),
            "",
        );
        let option = option.map_or_else(String::new, |option| format!(" -l {option} -r"));
        format!(
            "complete -c inkling -n \"__fish_inkling_using_subcommand {first}{within}\"{option} -k -a \"(inkling completions --names {} 2>/dev/null)\"\n",
            names.name()
        )
    };
    taking(commands).iter().map(line).collect()
}

/// The value hints of zsh's completion, and what the script contains for
/// each.
const HINTS: [(Names, ValueHint, &str); 2] = [
    (Names::Runs, ValueHint::Hostname, ":_hosts'"),
    (Names::Data, ValueHint::Username, ":_users'"),
];

fn hinted(command: Command) -> Command {
    let hint = |argument: Arg| {
        let names = Names::of(&argument);
        match HINTS.into_iter().find(|(of, ..)| Some(*of) == names) {
            Some((_, hint, _)) => argument.value_hint(hint),
            None => argument,
        }
    };
    command.mut_args(hint).mut_subcommands(hinted)
}

/// zsh itself quotes what it completes.
fn zsh(script: &str) -> String {
    let script = HINTS
        .into_iter()
        .fold(script.to_owned(), |script, (names, _, hint)| {
            script.replace(hint, &format!(":_inkling_names {}'", names.name()))
        });
    script.replacen("\n_inkling() {", &format!("{ZSH}\n_inkling() {{"), 1)
}

const ZSH: &str = r#"
_inkling_names() {
    local -a names
    names=(${(f)"$(inkling completions --names ${@[-1]} 2>/dev/null)"})
    compadd -a names
    _files
}
"#;
