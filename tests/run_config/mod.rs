//! What a run is: presets, files, and values no run can have.

pub mod settings;

use inkling::run_config::{
    Augmentation, Chosen, Classes, ClassesError, ConfigError, DataSource, DataSpec, HiddenLayer,
    HiddenLayers, ModelKind, OptimizerKind, Preset, RunConfig, Setting, VERSION, Widths,
    similar_names,
};

#[test]
fn what_a_file_leaves_out_is_plain() {
    let text = r#"{"version": 1, "data": "mnist", "preset": "balanced", "model": "convnet", "epochs": 5, "batch_size": 128,
        "precision": "f32", "device": "auto", "optimizer": "sgd", "learning_rate": 0.002, "weight_decay": 0.01,
        "schedule": "one-cycle", "seed": 7, "threads": 2}"#;
    let read: RunConfig = serde_json::from_str(text).unwrap();
    assert_eq!((read.version, read.seed, read.threads), (1, 7, Some(2)));
    assert_eq!(
        (read.optimizer, read.momentum, read.nesterov),
        (OptimizerKind::Sgd, 0.9, true)
    );
    assert_eq!(
        (read.label_smoothing, read.clip_norm, read.accumulation),
        (0.0, None, 1)
    );
    assert_eq!(
        (
            read.weight_averaging,
            read.early_stopping,
            read.augmentation
        ),
        (None, None, Augmentation::Off)
    );
    assert_eq!(read.problems(), []);
}

#[test]
fn what_is_written_is_read_again() {
    let config = RunConfig {
        clip_norm: Some(1.5),
        weight_averaging: Some(0.99),
        early_stopping: Some(3),
        augmentation: Augmentation::Strong,
        accumulation: 4,
        nesterov: false,
        ..RunConfig::default()
    };
    assert_eq!(config.version, VERSION);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<RunConfig>(&text).unwrap(), config);
}

#[test]
fn no_preset_is_called_like_a_network() {
    let labels: Vec<&str> = Preset::ALL.iter().map(|preset| preset.label()).collect();
    let shared = ModelKind::ALL
        .iter()
        .find(|model| labels.contains(&model.label()));
    assert_eq!(shared, None, "a preset and a network with the same name");
}

/// What becomes of a configuration.
type Change = fn(&mut RunConfig);

#[test]
fn a_preset_is_recognized_until_one_of_its_values_changes() {
    for &preset in Preset::ALL {
        let config = RunConfig {
            seed: 99,
            threads: Some(3),
            ..RunConfig::preset(preset)
        };
        assert_eq!(config.problems(), []);
        assert_eq!(config.matching_preset(), Some(preset));
        let changes: [Change; 4] = [
            |run| run.label_smoothing = 0.123,
            |run| run.augmentation = other(run.augmentation),
            |run| run.weight_averaging = Some(0.123),
            |run| run.momentum = 0.123,
        ];
        for change in changes {
            let mut changed = config.clone();
            change(&mut changed);
            assert_eq!(changed.matching_preset(), None, "{preset}");
        }
    }
}

fn other(augmentation: Augmentation) -> Augmentation {
    if augmentation == Augmentation::Strong {
        Augmentation::Off
    } else {
        Augmentation::Strong
    }
}

#[test]
fn each_value_that_cannot_be_is_named() {
    let newer = RunConfig {
        version: VERSION + 1,
        ..RunConfig::default()
    };
    let version = newer.version;
    assert_eq!(newer.problems(), [ConfigError::NewerVersion { version }]);
    let cases: [(Change, Setting, &str); 11] = [
        (|run| run.momentum = 1.0, Setting::Momentum, "1"),
        (|run| run.momentum = f64::NAN, Setting::Momentum, "NaN"),
        (
            |run| run.label_smoothing = -0.1,
            Setting::LabelSmoothing,
            "-0.1",
        ),
        (
            |run| run.label_smoothing = f64::NAN,
            Setting::LabelSmoothing,
            "NaN",
        ),
        (
            |run| run.clip_norm = Some(f64::INFINITY),
            Setting::ClipNorm,
            "inf",
        ),
        (
            |run| run.clip_norm = Some(f64::NAN),
            Setting::ClipNorm,
            "NaN",
        ),
        (|run| run.accumulation = 1025, Setting::Accumulation, "1025"),
        (
            |run| run.weight_averaging = Some(0.0),
            Setting::WeightAveraging,
            "0",
        ),
        (
            |run| run.weight_averaging = Some(f64::NAN),
            Setting::WeightAveraging,
            "NaN",
        ),
        (
            |run| run.early_stopping = Some(1001),
            Setting::EarlyStopping,
            "1001",
        ),
        (|run| run.threads = Some(0), Setting::Threads, "0"),
    ];
    for (change, setting, given) in cases {
        let mut config = RunConfig::default();
        change(&mut config);
        let given = given.to_owned();
        assert_eq!(
            config.problems(),
            [ConfigError::OutOfRange { setting, given }]
        );
    }
}

#[test]
fn a_path_with_a_plus_is_looked_for_only_where_a_person_types_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a+b");
    std::fs::write(&path, "").unwrap();
    let typed: DataSpec = path.to_str().unwrap().parse().unwrap();
    assert_eq!(typed.sources(), [DataSource::Path(path.clone())]);
    // In files it is a list, so that nothing has to be looked for, and comes back as it was.
    let stored = serde_json::to_string(&typed).unwrap();
    assert!(stored.starts_with('['), "{stored}");
    assert_eq!(serde_json::from_str::<DataSpec>(&stored).unwrap(), typed);
    let text = serde_json::to_string(path.to_str().unwrap()).unwrap();
    let found: DataSpec = serde_json::from_str(&text).unwrap();
    assert_eq!(
        found.sources().len(),
        2,
        "the file system was asked about a name in a file"
    );
    for (text, sources) in [
        ("\"mnist+builtin\"", 2),
        ("\"/some/folder\"", 1),
        ("[\"mnist\", \"c++\"]", 2),
    ] {
        assert_eq!(
            serde_json::from_str::<DataSpec>(text)
                .unwrap()
                .sources()
                .len(),
            sources,
            "{text}"
        );
    }
    for text in ["\"\"", "[]", "7"] {
        assert!(serde_json::from_str::<DataSpec>(text).is_err(), "{text}");
    }
}

#[test]
fn little_data_gets_smaller_batches_and_more_epochs() {
    let balanced = RunConfig::preset(Preset::Balanced);
    let fitted = |images, chosen| {
        balanced
            .fit_to(images, chosen)
            .map(|fitted| (fitted.batch_size, fitted.epochs))
    };
    // 44 images: batches of 8, 6 of them an epoch.
    assert_eq!(fitted(44, Chosen::default()), Some((8, 67)));
    assert_eq!(fitted(300, Chosen::default()), Some((64, 80)));
    assert_eq!(fitted(5, Chosen::default()), Some((4, 200)));
    // Enough of both.
    assert_eq!(fitted(5_500, Chosen::default()), None);
    assert_eq!(fitted(60_000, Chosen::default()), None);
    // What a person has chosen is theirs.
    let mut chosen = Chosen {
        batch_size: true,
        epochs: true,
    };
    assert_eq!(fitted(44, chosen), None);
    chosen.batch_size = false;
    assert_eq!(fitted(44, chosen), Some((8, 12)));
    let fitted = balanced.fit_to(44, Chosen::default()).unwrap();
    assert_eq!(
        (fitted.preset, fitted.learning_rate, fitted.problems()),
        (None, balanced.learning_rate, Vec::new())
    );
}

#[test]
fn classes_are_those_of_the_first_source_that_says_what_they_are() {
    for (data, classes, known) in [
        ("builtin", Classes::Digits, true),
        ("mnist+builtin", Classes::Digits, true),
        ("fashion-mnist", Classes::Clothing, true),
        ("some/folder+kmnist", Classes::Hiragana, true),
        ("some/folder", Classes::Digits, false),
    ] {
        let spec: DataSpec = data.parse().unwrap();
        assert_eq!(
            (spec.classes(), spec.known_classes()),
            (classes.clone(), known.then_some(classes)),
            "{data}"
        );
    }
}

#[test]
fn classes_are_stored_as_their_names() {
    for (classes, count) in Classes::KNOWN.into_iter().zip([10, 10, 10, 26]) {
        let names: Vec<String> = classes.clone().into();
        assert_eq!(
            (Classes::of_names(&names), names.len(), classes.len()),
            (Ok(classes), count, count)
        );
    }
    let pets = Classes::of_names(&["cat", "dog"]).unwrap();
    assert_eq!(
        (pets.len(), pets.name(1_u8), pets.name(2_u8), pets.plural()),
        (2, "dog", "?", "the classes cat and dog".to_owned())
    );
    assert_eq!(serde_json::to_string(&pets).unwrap(), r#"["cat","dog"]"#);
    assert_eq!(
        serde_json::from_str::<Classes>(r#"["cat","dog"]"#).unwrap(),
        pets
    );
    assert_eq!(
        Classes::of_names(&["a"; 1]),
        Err(ClassesError::Count { given: 1 })
    );
    assert_eq!(
        Classes::of_names(&vec!["a"; 101]),
        Err(ClassesError::Count { given: 101 })
    );
    assert_eq!(
        Classes::of_names(&["a", "b", "a"]),
        Err(ClassesError::Duplicate("a".to_owned()))
    );
    for name in ["", " ", "red\u{1b}[31m", "two\nlines", &"long ".repeat(9)] {
        assert!(
            matches!(Classes::of_names(&["a", name]), Err(ClassesError::Name(_))),
            "{name:?}"
        );
    }
}

#[test]
fn numbers_are_taken_for_whatever_classes_a_model_has_of_them() {
    let signs = Classes::numbered(24).unwrap();
    assert_eq!(
        (Classes::numbered(3), signs.len(), signs.name(24_u8)),
        (Ok(Classes::Digits), 25, "24")
    );
    assert!(Classes::numbered(100).is_err());
    let alphabet = Classes::numbered(25).unwrap();
    assert!(
        Classes::Letters.accept(&alphabet)
            && signs.accept(&Classes::Digits)
            && Classes::Clothing.accept(&Classes::Digits)
    );
    assert!(
        !Classes::Letters.accept(&signs) && !Classes::Letters.accept(&Classes::Digits),
        "digits are not letters"
    );
    assert!(
        !Classes::Clothing.accept(&signs)
            && !Classes::Digits.accept(&Classes::Clothing)
            && !signs.accept(&Classes::Letters)
    );
}

#[test]
fn sets_of_different_things_are_not_mixed() {
    let config = |data: &str| RunConfig {
        data: data.parse().unwrap(),
        ..RunConfig::default()
    };
    let mixed = |first: &str, other: &str| ConfigError::MixedClasses {
        first: first.to_owned(),
        other: other.to_owned(),
    };
    assert_eq!(
        config("mnist+fashion-mnist").problems(),
        [mixed("MNIST", "Fashion-MNIST")]
    );
    assert_eq!(
        config("some/folder+kmnist+builtin").problems(),
        [mixed("Kuzushiji-MNIST", "Built-in digits")]
    );
    assert_eq!(mixed("", "").setting(), Some(Setting::Data));
    for data in [
        "mnist+builtin+emnist-digits+mine",
        "some/folder+fashion-mnist",
        "kmnist",
    ] {
        assert_eq!(config(data).problems(), [], "{data}");
    }
}

#[test]
fn widths_are_written_with_hyphens_and_read_with_commas_too() {
    for text in ["128-64", "128,64", "128, 64", " 128 64 "] {
        let widths: Widths = text.parse().unwrap();
        assert_eq!(
            (widths.values(), widths.to_string().as_str()),
            (&[128, 64][..], "128-64"),
            "{text}"
        );
    }
    for text in [
        "",
        "-",
        "0",
        "128-0",
        "2049",
        "1.5",
        "128x64",
        "99999999",
        "1-1-1-1-1-1-1-1-1",
        "a",
    ] {
        assert!(text.parse::<Widths>().is_err(), "{text}");
    }
    let config = RunConfig {
        model: ModelKind::Mlp,
        widths: Some("12-7".parse().unwrap()),
        ..RunConfig::default()
    };
    let text = serde_json::to_string(&config).unwrap();
    assert!(text.contains(r#""widths":[12,7]"#), "{text}");
    assert_eq!(serde_json::from_str::<RunConfig>(&text).unwrap(), config);
    assert_eq!(config.title(), "MLP (12-7) on Built-in digits");
    for wrong in [
        "[]",
        "[0]",
        "[2049]",
        "[1,1,1,1,1,1,1,1,1]",
        "[-1]",
        "[70000]",
        "\"12\"",
    ] {
        assert!(
            serde_json::from_str::<RunConfig>(&text.replace("[12,7]", wrong)).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn hidden_layers_are_written_as_in_papers() {
    for text in [
        "32C3-MP2-64C5P2-128",
        "32c3,mp2,64c5p2,128",
        " 32C3 MP2 64C5P2 128 ",
    ] {
        let layers: HiddenLayers = text.parse().unwrap();
        assert_eq!(layers.to_string(), "32C3-MP2-64C5P2-128", "{text}");
        let convolution = |filters, kernel, padding| HiddenLayer::Convolution {
            filters,
            kernel,
            stride: 1,
            padding,
            has_activation: true,
        };
        assert_eq!(
            layers.as_slice(),
            [
                convolution(32, 3, 0),
                HiddenLayer::MaxPooling,
                convolution(64, 5, 2),
                HiddenLayer::Dense {
                    neurons: 128,
                    has_activation: true
                }
            ]
        );
    }
    for text in [
        "none",
        "128",
        "128L-D0.5-64",
        "4C5P2S2L-BN",
        "8C3P1-MP2-BN-D0.25-16R-16R-32RS2-GAP-LN-10",
        "8C4S4-T2-T4-LN-GAP",
    ] {
        let layers: HiddenLayers = text.parse().unwrap();
        assert_eq!(layers.to_string(), text);
    }
    for (text, reason, index) in [
        ("", "write none for a network without hidden layers", None),
        ("MP2-32C3", "MP2 must follow a convolution", Some(0)),
        ("32C3-MP3", "MP3 is not a layer", Some(1)),
        ("32C3-x", "x is not a layer", Some(1)),
        ("none-128", "none is not a layer", Some(0)),
        ("32C3-D1.5", "D1.5 is not a layer", Some(1)),
        ("32C3-MP2-MP2", "MP2 must follow a convolution", Some(2)),
        (
            "32C3S2-MP2",
            "MP2 must follow a convolution with a stride of 1",
            Some(1),
        ),
        (
            "32C3-128-32C3",
            "32C3 must come before transformer blocks, GAP and dense layers",
            Some(2),
        ),
        (
            "32C3-GAP-16R",
            "16R must come before transformer blocks",
            Some(2),
        ),
        ("16R-BN", "BN must follow a convolution or its MP2", Some(1)),
        ("128-BN", "BN must follow a convolution or its MP2", Some(1)),
        ("128-GAP", "GAP must come before dense layers", Some(1)),
        (
            "8C3-LN",
            "LN must follow a transformer block, GAP or a dense layer",
            Some(1),
        ),
        (
            "8C4S4-T2-GAP-T2",
            "T2 must come before GAP and dense layers",
            Some(3),
        ),
        (
            "8C4S4-T2-16",
            "GAP must come between a transformer block and 16",
            Some(2),
        ),
        (
            "8C4S4-T2",
            "GAP must follow the last transformer block",
            Some(1),
        ),
        (
            "8C4S4-T3-GAP",
            "8 channels cannot be split among the 3 heads of T3",
            Some(1),
        ),
        ("8C4S4-T0-GAP", "at least one head", Some(1)),
        (
            "8C3-T2-GAP",
            "an image of at most 16x16 pixels, which become its tokens, not 26x26",
            Some(1),
        ),
        (
            "0C3",
            "a layer has from 1 to 2048 filters or neurons, not 0",
            Some(0),
        ),
        (
            "0R",
            "a layer has from 1 to 2048 filters or neurons, not 0",
            Some(0),
        ),
        (
            "32C3-2049",
            "a layer has from 1 to 2048 filters or neurons, not 2049",
            Some(1),
        ),
        ("32C12", "needs a kernel of 1 to 11 pixels", Some(0)),
        ("32C3P3", "less padding", Some(0)),
        ("32C3S5", "needs a stride of 1 to 4", Some(0)),
        ("32RS0", "needs a stride of 1 to 4", Some(0)),
        ("D0", "needs a share from 0.01 to 0.95", Some(0)),
        (
            "8C11-MP2-8C11",
            "the image is too small for 8C11 by then",
            Some(2),
        ),
        (
            "8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8-8",
            "more than 24 layers",
            Some(24),
        ),
    ] {
        let refused = text.parse::<HiddenLayers>().unwrap_err();
        assert!(
            refused.reason.contains(reason),
            "{text}: {}",
            refused.reason
        );
        assert_eq!(refused.index, index, "{text}");
    }
    let config = RunConfig {
        model: ModelKind::Cnn,
        layers: Some("8C3-MP2-20".parse().unwrap()),
        ..RunConfig::default()
    };
    let text = serde_json::to_string(&config).unwrap();
    assert!(text.contains(r#""layers":"8C3-MP2-20""#), "{text}");
    assert_eq!(serde_json::from_str::<RunConfig>(&text).unwrap(), config);
    assert!(serde_json::from_str::<RunConfig>(&text.replace("8C3", "8C30")).is_err());
    assert_eq!(
        (config.title().as_str(), config.problems().len()),
        ("CNN (8C3-MP2-20) on Built-in digits", 0)
    );
    // They belong to a CNN, whose usual ones need not be written out.
    let other = RunConfig {
        model: ModelKind::Mlp,
        ..config.clone()
    };
    assert_eq!(
        other.problems(),
        [ConfigError::Layers {
            model: ModelKind::Mlp,
            given: "8C3-MP2-20".to_owned()
        }]
    );
    assert_eq!(other.network(), ModelKind::Mlp.into());
    let usual = RunConfig {
        layers: Some(HiddenLayers::DEFAULT),
        ..config
    };
    assert_eq!(
        (usual.network(), usual.network().label().as_str()),
        (ModelKind::Cnn.into(), "CNN")
    );
}

#[test]
fn every_model_has_as_many_widths_as_it_takes() {
    for &model in ModelKind::ALL {
        for count in 1..=8 {
            let widths = Widths::new(&vec![5; count]);
            let config = RunConfig {
                model,
                widths,
                ..RunConfig::default()
            };
            let fits = model.width_counts().contains(&count);
            let problems = if fits {
                Vec::new()
            } else {
                vec![ConfigError::Widths {
                    model,
                    given: widths.unwrap(),
                }]
            };
            assert_eq!(config.problems(), problems, "{model}");
            assert_eq!(
                config.network().chosen_widths(),
                widths.filter(|_| fits),
                "{model}"
            );
        }
    }
    // A preset has its own.
    let mut config = RunConfig {
        widths: Some("5".parse().unwrap()),
        ..RunConfig::preset(Preset::QuickLook)
    };
    assert_eq!(config.matching_preset(), None);
    config.apply_preset(Preset::QuickLook);
    assert_eq!(
        (config.widths, config.matching_preset()),
        (None, Some(Preset::QuickLook))
    );
}

#[test]
fn data_sets_are_found_by_names_written_in_any_way_and_meant_by_names_like_them() {
    for (typed, name) in [
        ("FashionMNIST", "fashion-mnist"),
        ("fashion_mnist", "fashion-mnist"),
        ("MNIST+Builtin", "mnist+builtin"),
        ("EMNIST Letters", "emnist-letters"),
    ] {
        assert_eq!(typed.parse::<DataSpec>().unwrap().to_string(), name);
    }
    // Names in files stand as they are.
    let stored: DataSpec = serde_json::from_str("\"FashionMNIST\"").unwrap();
    assert_eq!(
        stored,
        DataSpec::single(DataSource::Path("FashionMNIST".into()))
    );
    for (typed, meant) in [
        ("mnits", &["mnist"][..]),
        ("fashion", &["fashion-mnist"]),
        ("emnist", &["emnist-digits", "emnist-letters"]),
        ("bultin", &["builtin"]),
        ("cifar10", &[]),
        ("./mnits", &[]),
        ("x", &[]),
    ] {
        assert_eq!(similar_names(typed), meant, "{typed}");
    }
}
