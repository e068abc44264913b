//! The closed lists of choices for a run: model, optimizer, schedule, augmentation, precision,
//! device, preset. How each is built is up to the modules that implement them, in one exhaustive
//! match each.

/// Declares an enum with one stable name (files, command line) and one label (window) per variant;
/// a former name is still understood.
macro_rules! choices {
    ($(#[$meta:meta])* $Enum:ident, $what:literal { $($(#[$vmeta:meta])* $Variant:ident = $name:literal, $label:literal;)+ }
     $(not offered { $($(#[$ometa:meta])* $Other:ident = $other:literal, $other_label:literal;)+ })?) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(into = "&'static str", try_from = "String")]
        pub enum $Enum { $($(#[$vmeta])* $Variant,)+ $($($(#[$ometa])* $Other,)+)? }

        impl $Enum {
            /// Every choice that is offered, in that order.
            pub const ALL: &'static [Self] = &[$(Self::$Variant,)+];

            /// The stable name in files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)+ $($(Self::$Other => $other,)+)? }
            }

            /// The name people see.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$Variant => $label,)+ $($(Self::$Other => $other_label,)+)? }
            }
        }

        impl schemars::JsonSchema for $Enum {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($Enum).into() }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [$($name,)+ $($($other,)+)?] })
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $Enum {
            type Err = UnknownChoiceError;
            fn from_str(text: &str) -> Result<Self, UnknownChoiceError> {
                let is_meant = |choice: &Self| choice.name().eq_ignore_ascii_case(text);
                let not_offered: &[Self] = &[$($(Self::$Other,)+)?];
                Self::ALL.iter().chain(not_offered).copied().find(is_meant).ok_or_else(|| UnknownChoiceError {
                    what: $what.to_owned(),
                    given: text.to_owned(),
                    known: Self::ALL.iter().map(|choice| choice.name()).collect::<Vec<_>>().join(", "),
                })
            }
        }

        impl From<$Enum> for &'static str {
            fn from(choice: $Enum) -> &'static str { choice.name() }
        }

        impl super::setting::Value for $Enum {
            const KIND: super::Kind = super::Kind::Choice;
            fn text(&self) -> String { self.name().to_owned() }
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: UnknownChoiceError| format!("one of {}", error.known))
            }
            fn describe(&self) -> Option<String> { Some(self.label().to_owned()) }
            fn choices() -> Vec<(&'static str, &'static str)> {
                Self::ALL.iter().map(|choice| (choice.name(), choice.label())).collect()
            }
        }

        impl TryFrom<String> for $Enum {
            type Error = UnknownChoiceError;
            fn try_from(text: String) -> Result<Self, UnknownChoiceError> { text.parse() }
        }
    };
}

/// A name that is not on its list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} \"{given}\"; choose one of {known}")]
pub struct UnknownChoiceError {
    /// The noun of the list: "model", "schedule".
    pub what: String,
    /// The given value.
    pub given: String,
    /// The names on the list, separated by commas.
    pub known: String,
}

choices! {
    /// The networks Inkling can build; `nn::models` builds them.
    ModelKind, "model" {
        /// No hidden layer: softmax regression, candle's example `linear`.
        Linear = "linear", "Linear";
        /// One hidden layer of 100, candle's example `mlp`.
        MlpSmall = "mlp-small", "Small MLP";
        /// Two hidden layers of 256, no convolution.
        Mlp = "mlp", "MLP";
        /// Two hidden layers of 512, the network of `PyTorch`'s quickstart.
        MlpLarge = "mlp-large", "Large MLP";
        /// `LeNet-5` (`LeCun` et al. 1998) with `ReLU`.
        LeNet = "lenet", "LeNet-5";
        /// The net of candle's MNIST example: conv5x5 32, pool, conv5x5 64, pool, fc 1024, relu,
        /// dropout 0.5, fc 10.
        ConvNet = "convnet", "ConvNet";
        /// The net of `PyTorch`'s MNIST example: conv3x3 32, relu, conv3x3 64, relu, pool, dropout
        /// 0.25, fc 128, relu, dropout 0.5, fc 10.
        PyTorchExample = "pytorch-example", "PyTorch example";
        /// Layers of a person's choice; at first the layers of Keras' MNIST example.
        Cnn = "cnn", "CNN";
        /// conv5x5 24, pool, relu, conv3x3 32, pool, batch norm, relu, fc 256, relu, fc 10: 99% in
        /// one epoch.
        Speedrun = "speedrun", "Speedrun";
        /// conv5x5 32, conv3x3 64, conv3x3 128, each with 2x2 pooling, batch norm and relu; fc 256,
        /// relu, fc 10.
        ConvNetBn = "convnet-bn", "ConvNet-BN";
        /// Five convolutions of 6 to 16 channels with batch norm and a global average: fewer than
        /// 6,000 parameters.
        Tiny = "tiny", "Tiny";
        /// Residual net of depth 8 (He et al. 2016, section 4.2, for 28x28): one block each of 16,
        /// 32 and 64 channels.
        ResNet8 = "resnet8", "ResNet-8";
        /// The same with two blocks each.
        ResNet14 = "resnet14", "ResNet-14";
        /// The same with three blocks each.
        ResNet20 = "resnet20", "ResNet-20";
        /// Three, four, six and three blocks of 16, 32, 64 and 128 channels.
        ResNet34 = "resnet34", "ResNet-34";
        /// A small vision transformer (Dosovitskiy et al. 2021) on a convolutional stem: 49 tokens,
        /// two blocks.
        Attention = "attention", "Attention";
    } not offered {
        /// The network of an ONNX file, as it is: it cannot be trained.
        Onnx = "onnx", "ONNX network";
    }
}

choices! {
    /// The nonlinearity between layers; `nn::ops::activate` computes it.
    #[derive(Default)]
    Activation, "activation" {
        /// `max(x, 0)`.
        #[default]
        Relu = "relu", "ReLU";
        /// `x` above zero and `0.01 x` below (Maas et al. 2013).
        LeakyRelu = "leaky-relu", "Leaky ReLU";
        /// `x Φ(x)` with the normal distribution's `Φ` (Hendrycks & Gimpel 2016).
        Gelu = "gelu", "GELU";
        /// `x σ(x)` with the logistic `σ` (Elfwing et al. 2018), also called swish.
        Silu = "silu", "SiLU";
        /// The hyperbolic tangent.
        Tanh = "tanh", "Tanh";
    }
}

choices! {
    /// How weights are initialized; `nn::initialization` computes those that depend on
    /// the training images.
    #[derive(Default)]
    Initialization, "initialization" {
        /// Random with a standard deviation that depends on fan-in: He et al. 2015, or as in
        /// `PyTorch`.
        #[default]
        Random = "random", "Random";
        /// Orthonormal, scaled so that every layer's output has unit variance on training images
        /// (Mishkin & Matas 2016).
        Lsuv = "lsuv", "LSUV (unit variance)";
        /// The same, with principal components of the training images as the first filters.
        Pca = "pca", "PCA (principal components)";
        /// The same with filters that whiten each pixel by its neighbors (ZCA whitening; Bell &
        /// Sejnowski 1997).
        Zca = "zca", "ZCA (whitening)";
    }
}

choices! {
    /// How weights follow gradients; `optim` builds them.
    OptimizerKind, "optimizer" {
        /// Adam with decoupled weight decay (Loshchilov & Hutter 2019).
        AdamW = "adamw", "AdamW";
        /// Stochastic gradient descent with momentum (Sutskever et al. 2013).
        Sgd = "sgd", "SGD with momentum";
        /// Adam (Kingma & Ba 2015); weight decay is part of the gradient.
        Adam = "adam", "Adam";
        /// Means of rows and columns in place of Adam's squares (Shazeer & Stern 2018): next to no
        /// state.
        Adafactor = "adafactor", "Adafactor";
        /// Evolved sign momentum (Chen et al. 2023): half of Adam's state.
        Lion = "lion", "Lion";
        /// Stochastic gradient Langevin dynamics (Welling & Teh 2011): samples weights instead of
        /// settling.
        Sgld = "sgld", "SGLD (Langevin)";
        /// SGLD preconditioned by the gradients' running squares (Li et al. 2016).
        Psgld = "psgld", "pSGLD (preconditioned)";
    }
}

impl OptimizerKind {
    /// What the learning rate is multiplied by if batches are this many times as large: for SGD
    /// the same (Goyal et al. 2017, <https://arxiv.org/abs/1706.02677>), for adaptive optimizers
    /// its square root (Malladi et al. 2022, <https://arxiv.org/abs/2205.10287>).
    pub fn rate_factor(self, batch_ratio: f64) -> f64 {
        if self == Self::Sgd {
            batch_ratio
        } else {
            batch_ratio.sqrt()
        }
    }
}

choices! {
    /// How the learning rate moves over a run; `optim::schedule` computes it.
    ScheduleKind, "schedule" {
        /// The same rate throughout.
        Constant = "constant", "Constant";
        /// A tenth of the rate after 50% of the steps, a hundredth after 75%.
        Step = "step", "Step decay";
        /// Linear warm-up over the first 5% of steps, then a half cosine down to zero.
        Cosine = "cosine", "Cosine";
        /// Up to the peak over 30% of steps, then down (Smith & Topin 2018).
        OneCycle = "one-cycle", "One cycle";
    }
}

choices! {
    /// How training images are varied each time they are seen; `data::augment` does it.
    Augmentation, "augmentation" {
        /// As they are.
        Off = "off", "Off";
        /// Small turns, shifts, scalings, slants and elastic distortions, as between two careful
        /// writers.
        Gentle = "gentle", "Gentle";
        /// A little more of each, and thicker and thinner strokes.
        Medium = "medium", "Medium";
        /// Much more of each: digits that some would find hard to read.
        Strong = "strong", "Strong";
    }
}

choices! {
    /// The precision products are computed in.
    Precision, "precision" {
        /// 32-bit floats throughout.
        F32 = "f32", "f32 (32-bit)";
        /// f32, whose products an NVIDIA GPU (compute capability 8.0 or newer) may round to 10 bits
        /// behind the point; f32 elsewhere.
        Tf32 = "tf32", "tf32 (NVIDIA)";
        /// bfloat16 products, f32 weights.
        Bf16 = "bf16", "bf16 (mixed)";
        /// float16 products with loss scaling, f32 weights.
        F16 = "f16", "f16 (mixed)";
    }
}

impl Precision {
    /// Whether products come out otherwise in it than in f32 on such a device.
    pub const fn differs_on(self, device: DeviceChoice) -> bool {
        match self {
            Self::F32 => false,
            Self::Tf32 => matches!(device, DeviceChoice::Cuda),
            Self::Bf16 | Self::F16 => true,
        }
    }

    /// Those that differ from each other on such a device, f32 first.
    pub fn on(device: DeviceChoice) -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(move |&precision| precision == Self::F32 || precision.differs_on(device))
    }
}

choices! {
    /// How a model file stores weights; they are always computed with in f32.
    WeightFormat, "weight format" {
        /// As they are.
        F32 = "f32", "32-bit floats";
        /// Rounded, in half the space.
        F16 = "f16", "16-bit floats";
    }
}

choices! {
    /// The formats of exported models; `export` writes each.
    ExportFormat, "format" {
        /// Weights with a description, for candle, `PyTorch` and Inkling.
        Safetensors = "safetensors", "safetensors";
        /// The whole model as operators, for onnxruntime, tract and others.
        Onnx = "onnx", "ONNX";
        /// A state dict, and the module it belongs to.
        PyTorch = "pytorch", "PyTorch";
        /// A small Rust program.
        Candle = "candle", "candle (Rust)";
        /// One page that recognizes what is drawn on it.
        Html = "html", "Web page";
        /// The model's facts, in words and as JSON.
        Card = "card", "Model card";
        /// One page with the curves.
        Report = "report", "Report";
        /// All of it.
        Zip = "zip", "Everything (zip)";
    }
}

impl ExportFormat {
    /// Whether a model of this kind can be exported in it: the layers of an imported ONNX network
    /// are not known to Inkling.
    pub const fn exists_for(self, model: ModelKind) -> bool {
        model.is_trainable()
            || !matches!(self, Self::PyTorch | Self::Candle | Self::Html | Self::Zip)
    }

    /// Whether it is a single file for a model of this kind.
    pub const fn is_one_file_for(self, model: ModelKind) -> bool {
        match self {
            Self::Safetensors | Self::Html | Self::Report | Self::Zip => true,
            // No script belongs to a file that was imported.
            Self::Onnx => !model.is_trainable(),
            Self::PyTorch | Self::Candle | Self::Card => false,
        }
    }

    /// The usual name of a file of it.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Safetensors => "model.safetensors",
            Self::Onnx => "model.onnx",
            Self::PyTorch => "model.pt",
            Self::Candle => "main.rs",
            Self::Html => "model.html",
            Self::Card => "model-card.md",
            Self::Report => "report.html",
            Self::Zip => "model.zip",
        }
    }

    /// Its content and purpose.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Safetensors => {
                "The weights with their names and a description. Can be loaded by candle, PyTorch and Inkling."
            }
            Self::Onnx => {
                "The whole model in one file that runs in ONNX Runtime, tract, browsers and on phones, with a script that recognizes images."
            }
            Self::PyTorch => {
                "The weights as a state dict and the network as a readable Python module."
            }
            Self::Candle => "A small Rust program that recognizes images, and its weights.",
            Self::Html => {
                "One page to draw on, for any browser; it works offline, and its source is made to be read."
            }
            Self::Card => {
                "A description of the model with its accuracy and limitations, as Markdown and JSON."
            }
            Self::Report => {
                "A web page with training curves, confusion matrix and misclassified images; it works offline."
            }
            Self::Zip => "All formats in one archive.",
        }
    }

    /// Whether an ONNX file is part of it.
    pub const fn has_onnx(self) -> bool {
        matches!(self, Self::Onnx | Self::Zip)
    }

    /// Whether weights are part of it.
    pub const fn has_weights(self) -> bool {
        !matches!(self, Self::Card | Self::Report)
    }
}

choices! {
    /// The formats of exported data sets.
    DatasetFormat, "format" {
        /// Class folders of PNG images.
        Png = "png", "PNG folders";
        /// The four files of MNIST's format.
        Idx = "idx", "IDX files";
        /// Tables of labels and pixels.
        Csv = "csv", "CSV";
        /// Strokes, for drawings only.
        Ink = "ink", "Ink (JSON)";
    }
}

choices! {
    /// Where tensors live.
    DeviceChoice, "device" {
        /// The best device that is known to be right on this machine.
        Auto = "auto", "Automatic";
        /// The processor.
        Cpu = "cpu", "CPU";
        /// An NVIDIA GPU.
        Cuda = "cuda", "CUDA (NVIDIA GPU)";
        /// An Apple GPU.
        Metal = "metal", "Metal (Apple GPU)";
    }
}

impl DeviceChoice {
    /// The device it is to an engine, never `Auto`: who knows of a better one than the processor
    /// names it.
    #[must_use]
    pub const fn resolved(self) -> Self {
        match self {
            Self::Auto => Self::Cpu,
            named => named,
        }
    }
}

choices! {
    /// Where drawings are read.
    #[derive(Default)]
    InferenceChoice, "reading device" {
        /// On the device that suits this machine: its GPU if that may be used and reads as the
        /// processor does.
        #[default]
        Automatic = "auto", "Automatic";
        /// On the device that was measured to be fastest.
        Fastest = "fastest", "Fastest measured";
        /// On the processor.
        Cpu = "cpu", "CPU";
        /// On an NVIDIA GPU.
        Cuda = "cuda", "CUDA (NVIDIA GPU)";
        /// On an Apple GPU.
        Metal = "metal", "Metal (Apple GPU)";
    }
}

impl InferenceChoice {
    /// The device it names, if it names one.
    #[must_use]
    pub const fn device(self) -> Option<DeviceChoice> {
        match self {
            Self::Automatic | Self::Fastest => None,
            Self::Cpu => Some(DeviceChoice::Cpu),
            Self::Cuda => Some(DeviceChoice::Cuda),
            Self::Metal => Some(DeviceChoice::Metal),
        }
    }
}

choices! {
    /// Named starting points; `RunConfig::preset` spells each out.
    Preset, "preset" {
        /// The smallest run worth watching: a minute at most.
        QuickLook = "quick", "Quick look";
        /// 99% in one epoch.
        OneEpoch = "one-epoch", "One epoch";
        /// The default: accurate within a minute.
        Balanced = "balanced", "Balanced";
        /// A larger net and more epochs for the last tenth of a percent.
        Best = "best", "Best";
        /// What fewer than 6,000 parameters can learn.
        Compact = "compact", "Compact";
    }
}

choices! {
    /// The images of a data set that a model is evaluated on.
    EvaluationSplit, "split" {
        /// Every labeled image it has.
        All = "all", "all images";
        Train = "train", "training split";
        /// Held out from that, chosen by the run's seed.
        Validation = "validation", "validation split";
        /// Its own test images; one image in seven if it has none.
        Test = "test", "test split";
    }
}
