//! The table of the settings of a run. From its rows are made: the options of every command that
//! trains, the rows of the window, what a sweep can vary, what a comparison and a model card say,
//! and the page `docs/settings.md`. Their order is the same everywhere.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::setting::Bound::{At, Beyond};
use super::setting::{DEFAULT, Kind, OFF, Range, Row, Section, Trials, Value};
use super::{
    HiddenLayer, HiddenLayers, Initialization, ModelKind, OptimizerKind, RunConfig,
    UnknownChoiceError, Widths,
};
use crate::text::format::{count, joined, plain};

/// Declares [`Setting`] with a row for each, section by section: its field, name, label and help,
/// and what does not follow from the type of its field.
macro_rules! settings {
    ($($section:ident {
        $($Setting:ident = $field:ident, $name:literal, $label:literal, $help:literal { $($column:ident: $value:expr),* $(,)? })+
    })+) => {
        /// A setting of a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(into = "&'static str", try_from = "String")]
        pub enum Setting { $($($Setting,)+)+ }

        impl Setting {
            pub const ALL: &'static [Self] = &[$($(Self::$Setting,)+)+];

            pub const fn row(self) -> &'static Row {
                match self {
                    $($(Self::$Setting => {
                        static ROW: Row = Row {
                            name: $name,
                            label: $label,
                            section: Section::$section,
                            help: $help,
                            $($column: $value,)*
                            ..Row::of(
                                stringify!($field),
                                |config| &config.$field,
                                |config| config.$field.text(),
                                |config, text| Value::read(text).map(|value| config.$field = value),
                                |config| config.$field.describe(),
                            )
                        };
                        &ROW
                    })+)+
                }
            }
        }
    };
}

settings! {
    Main {
        Data = data, "data", "Data",
        "Training data: builtin, mine, mnist, fashion-mnist, kmnist, emnist-digits, emnist-letters, a path, or several joined with +." { value_name: "DATA" }
        Network = model, "network", "Network",
        "Network to train." {
            former: &["model"],
            trials: Trials::OneOther,
            describe: |config| Some(config.network().label()),
        }
        Widths = widths, "widths", "Widths",
        "Widths of the hidden layers, such as 128-64; an MLP has as many layers as there are widths." {
            value_name: "N-N-…",
            unset: DEFAULT,
            applies: |config| !config.model.widths().is_empty(),
            trials: Trials::Of(widths_around),
            describe: told_elsewhere,
        }
        Layers = layers, "layers", "Layers",
        "Hidden layers of your own network, such as 32C3-MP2-64C3P1-BN-MP2-128: convolutions of 32 and 64 filters of 3x3 (P1: a padding of 1, S2: a stride of 2, L: no activation), 2x2 max pooling (MP2), batch normalization (BN) and a dense layer of 128 neurons. 64R: a residual block; T4: a transformer block with 4 heads; GAP: global average pooling; LN: layer normalization; D0.5: dropout; none: no hidden layer." {
            value_name: "L-L-…",
            unset: DEFAULT,
            excludes: Some(Setting::Widths),
            applies: |config| config.model == ModelKind::Cnn,
            trials: Trials::Of(layers_around),
            describe: told_elsewhere,
        }
        InitialWeights = initial_weights, "initial-weights", "Initial weights",
        "Model file or folder of a run to start from: its weights, network and activation are used." {
            former: &["from"],
            value_name: "MODEL",
        }
        Epochs = epochs, "epochs", "Epochs",
        "Passes over the training set." {
            range: Some(Range { high: At(1000.0), ..Range::whole("the number of epochs") }),
            trials: Trials::Halves,
        }
        BatchSize = batch_size, "batch-size", "Batch size",
        "Images per batch." {
            range: Some(Range { high: At(8192.0), ..Range::whole("the batch size") }),
            trials: Trials::Halves,
            describe: |config| {
                let growing = if config.growing_batches { ", growing" } else { "" };
                Some(format!("{}{growing}", config.batch_size))
            },
        }
        Augmentation = augmentation, "augmentation", "Augmentation",
        "Random changes to the training images." { trials: Trials::Choices }
        Precision = precision, "precision", "Precision",
        "Precision of matrix multiplications and convolutions; weights, sums and the loss are always f32." { trials: Trials::OneOther }
    }
    Optimization {
        Activation = activation, "activation", "Activation",
        "The non-linearity between layers; without it, a deep network could represent no more than a single layer." { trials: Trials::Choices }
        Initialization = initialization, "initialization", "Initialization",
        "How the weights are initialized." {
            former: &["init"],
            excludes: Some(Setting::InitialWeights),
            applies: |config| config.initial_weights.is_none(),
            trials: Trials::Choices,
            describe: |config| {
                let chosen = config.initialization;
                (chosen != Initialization::Random).then(|| chosen.label().to_owned())
            },
        }
        Optimizer = optimizer, "optimizer", "Optimizer",
        "How weights are updated from gradients." {
            trials: Trials::Choices,
            describe: |config| {
                let label = config.optimizer.label();
                let nesterov = if config.nesterov { " (Nesterov)" } else { "" };
                Some(match config.optimizer {
                    OptimizerKind::Sgd => format!("{label} {}{nesterov}", config.momentum),
                    _ => label.to_owned(),
                })
            },
        }
        LearningRate = learning_rate, "learning-rate", "Learning rate",
        "Size of the weight updates, at its maximum over the schedule. Too large and training diverges; too small and it is slow." {
            former: &["lr"],
            range: Some(Range { low: Beyond(0.0), high: At(10.0), example: "0.001", ..Range::real("the learning rate") }),
            trials: Trials::Around(0.0),
            describe: |config| Some(format!("{} ({})", plain(config.learning_rate), config.schedule.label())),
        }
        Schedule = schedule, "schedule", "Schedule",
        "How the learning rate changes during the run." {
            trials: Trials::Choices,
            describe: told_elsewhere,
        }
        Momentum = momentum, "momentum", "Momentum",
        "Fraction of SGD's previous update that is carried over to the next one; 0.9 is typical." {
            range: Some(Range { high: Beyond(1.0), example: "0.9", ..Range::real("the momentum") }),
            applies: |config| config.optimizer == OptimizerKind::Sgd,
            trials: Trials::Between(0.8, 0.99),
            describe: told_elsewhere,
        }
        Nesterov = nesterov, "nesterov", "Nesterov",
        "Nesterov momentum of SGD: evaluates the gradient after the momentum step (Sutskever et al. 2013)." {
            applies: |config| config.optimizer == OptimizerKind::Sgd,
            trials: Trials::Choices,
            describe: told_elsewhere,
        }
        GrowingBatches = growing_batches, "growing-batches", "Growing batches",
        "From epoch to epoch, batches grow as far as the gradient noise scale allows, and the learning rate with them: fewer and larger steps, which let a GPU compute more at a time (McCandlish et al. 2018). The batch size setting applies to the first epoch." {
            trials: Trials::Choices,
            describe: told_elsewhere,
        }
        WeightDecay = weight_decay, "weight-decay", "Weight decay",
        "Shrinks weights towards zero at each step, scaled by the learning rate, except biases and normalization parameters. 0 turns it off." {
            range: Some(Range { high: At(1.0), example: "0.01", ..Range::real("the weight decay") }),
            trials: Trials::Around(1e-5),
        }
    }
    Regularization {
        LabelSmoothing = label_smoothing, "label-smoothing", "Label smoothing",
        "Spreads this fraction of the target probability over all classes, so that the network is less overconfident. 0 turns it off; 0.1 is typical." {
            range: Some(Range { high: At(0.5), example: "0.1", ..Range::real("label smoothing") }),
            trials: Trials::Between(0.0, 0.2),
            describe: |config| (config.label_smoothing > 0.0).then(|| plain(config.label_smoothing)),
        }
        ClipNorm = clip_norm, "clip-norm", "Clip norm",
        "Scales gradients down when their global norm exceeds this value; 1 is typical." {
            unset: OFF,
            placeholder: "off",
            range: Some(Range {
                low: Beyond(0.0),
                example: "1",
                if_empty: Some("to turn clipping off"),
                ..Range::real("the norm for gradient clipping")
            }),
            trials: Trials::List(&["off", "0.5", "1", "2"]),
            describe: |config| Some(format!("global norm {}", config.clip_norm?)),
        }
        Accumulation = accumulation, "accumulation", "Accumulation",
        "Gradient accumulation: combines the gradients of this many batches into one optimizer step, like a larger batch. 1 turns it off." {
            range: Some(Range { high: At(1024.0), unit: "batches", ..Range::whole("gradient accumulation") }),
            trials: Trials::List(&["1", "2", "4"]),
            describe: |config| {
                let batches = config.accumulation;
                (batches > 1).then(|| format!("{batches} batches per step"))
            },
        }
        WeightAveraging = weight_averaging, "weight-averaging", "Weight averaging",
        "Exponential moving average (EMA) of the weights, with this decay per step, such as 0.999; the averaged weights are validated and saved." {
            unset: OFF,
            placeholder: "off",
            range: Some(Range {
                low: Beyond(0.0),
                high: Beyond(1.0),
                example: "0.999",
                if_empty: Some("to turn averaging off"),
                ..Range::real("the decay for weight averaging")
            }),
            trials: Trials::List(&["off", "0.99", "0.999"]),
            describe: |config| Some(format!("EMA, decay {} per step", config.weight_averaging?)),
        }
        EarlyStopping = early_stopping, "early-stopping", "Early stopping",
        "Ends the run after this many epochs in a row without improvement on the validation set, and saves the best epoch's weights." {
            unset: OFF,
            placeholder: "never",
            range: Some(Range {
                high: At(1000.0),
                unit: "epochs",
                if_empty: Some("to train all epochs"),
                ..Range::whole("the patience of early stopping")
            }),
            trials: Trials::List(&["off", "2", "5"]),
            describe: |config| {
                let epochs = count(config.early_stopping?.into(), "epoch");
                Some(format!("after {epochs} without improvement"))
            },
        }
        TrainingImages = training_images, "training-images", "Training images",
        "Trains on this many of the training images, as many of each class as possible. With few of them, the network learns them by heart." {
            unset: DEFAULT,
            placeholder: "all",
            range: Some(Range { if_empty: Some("to train on all"), ..Range::whole("the number of training images") }),
            describe: |config| Some(count(config.training_images?.into(), "image")),
        }
    }
    Execution {
        Device = device, "device", "Device",
        "Device to train on." {
            is_of_machine: true,
        }
        Threads = threads, "threads", "Threads",
        "CPU threads for training." {
            is_of_machine: true,
            unset: DEFAULT,
            placeholder: "one per core",
            range: Some(Range {
                high: At(1024.0),
                if_empty: Some("for one per core"),
                ..Range::whole("the number of threads")
            }),
            describe: |config| {
                let threads = config.threads.map(|threads| threads.to_string());
                Some(threads.unwrap_or_else(|| "one per core".to_owned()))
            },
        }
        Seed = seed, "seed", "Seed",
        "Seed of the random number generator: the same seed on the same machine gives exactly the same weights." {
            range: Some(Range { low: At(0.0), ..Range::whole("the seed") }),
            trials: Trials::List(&["1", "2", "3"]),
        }
        Repeats = repeats, "repeats", "Repeats",
        "Trains this many runs, each with the next seed, one after another; their mean accuracy with its 95% interval shows how much of a difference is due to chance." {
            former: &["repeat"],
            range: Some(Range { high: At(100.0), ..Range::whole("the number of runs") }),
            describe: told_elsewhere,
        }
        SealedTest = sealed_test, "sealed-test", "Sealed test",
        "Does not read the test images, so that they cannot influence any choice. Measure the accuracy on them once everything is decided, with inkling eval." {}
        ActivationCheckpointing = activation_checkpointing, "activation-checkpointing", "Activation checkpointing",
        "Keeps only some of the layers' outputs for the backward pass, which computes the others again: less memory for the same gradients, but each step takes longer (Chen et al. 2016)." {
            former: &["checkpoint-activations"],
        }
        Autotune = autotune, "autotune", "Autotune",
        "An NVIDIA GPU tries several algorithms for each matrix multiplication, uses the fastest, and remembers it. Without autotuning, the same settings give exactly the same weights each time; with it, they may differ by rounding until every shape is known." {}
        MemoryLimit = memory_limit, "memory-limit", "Memory limit",
        "Most memory Inkling may use while training, in MiB. If a batch needs more, it is split into micro-batches, which gives the same gradients." {
            is_of_machine: true,
            unset: OFF,
            placeholder: "none",
            value_name: "MIB",
            range: Some(Range {
                low: Beyond(0.0),
                unit: "MiB",
                example: "500",
                if_empty: Some("for no limit"),
                ..Range::whole("the memory limit")
            }),
            describe: |config| Some(format!("{} MiB", config.memory_limit?)),
        }
    }
}

const fn told_elsewhere(_: &RunConfig) -> Option<String> {
    None
}

/// As wide as they are, half as wide, and twice.
fn widths_around(config: &RunConfig) -> Vec<String> {
    let network = config.network();
    let times = |factor: f32| {
        let scaled = |&width: &u16| (f32::from(width) * factor).round() as u16;
        let widths: Vec<u16> = network.widths().iter().map(scaled).collect();
        Widths::new(&widths).map(|widths| widths.to_string())
    };
    [0.5, 1.0, 2.0].into_iter().filter_map(times).collect()
}

/// Without a further dense layer and with one.
fn layers_around(config: &RunConfig) -> Vec<String> {
    let own = config.network().hidden_layers();
    let dense = HiddenLayer::Dense {
        neurons: 128,
        has_activation: true,
    };
    let deeper = HiddenLayers::new(&[own.as_slice(), &[dense]].concat());
    let both = [Ok(own), deeper].into_iter().flatten();
    both.map(|layers| layers.to_string()).collect()
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.row().name)
    }
}

impl From<Setting> for &'static str {
    fn from(setting: Setting) -> Self {
        setting.row().name
    }
}

impl TryFrom<String> for Setting {
    type Error = UnknownChoiceError;

    fn try_from(name: String) -> Result<Self, UnknownChoiceError> {
        Self::parse(&name)
    }
}

const INTRODUCTION: &str = "# Settings of a run

Each setting has one name. It is an option of `inkling train`, `find-lr`, `find-batch-size` and `profile` (`--batch-size 64`), \
and the key of a run's `config` in JSON (`batch_size`; the network is `model` there). A sweep varies it under that name \
(`--set batch-size=32,64`), and the window shows it. The defaults come from the preset `balanced`. [Training](training.md) has the other presets and more about some settings, \
and [Networks](networks.md) describes the architectures.

This page is made from the table in `src/run_config/settings.rs`, by `INKLING_WRITE_DOCS=1 cargo test settings_page`.
";

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
    let same = Setting::ALL.iter().copied().filter(same);
    let _ = write!(
        page,
        "\nA sweep can vary all of them but {}, which are the same for all trials.\n",
        joined(same.map(|setting| code(setting.row().name)), ", ")
    );
    page
}

fn values(setting: Setting) -> String {
    let row = setting.row();
    let values = match (row.kind, row.range) {
        (Kind::Choice | Kind::Switch, _) => joined(
            setting.choices().into_iter().map(|(name, _)| code(name)),
            ", ",
        ),
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
