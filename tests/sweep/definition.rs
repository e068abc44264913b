//! What a sweep can be, and a sentence for each mistake.

use inkling::problem::Explain;
use inkling::sweep::{
    Asha, DefinitionError, DefinitionFile, Range, SamplerKind, SettingRange, SweepDefinition,
    Value, seconds,
};

use super::definition;

fn message(error: &DefinitionError) -> String {
    error.message().to_string()
}

#[test]
fn settings_are_given_by_their_names_on_the_command_line() {
    let definition = definition(&[
        "learning-rate=1e-4..1e-2:log",
        "batch_size=32, 64,128",
        "epochs=2..5",
        "weight-decay=0..0.1:3",
        "model=tiny",
        "clip-norm=off,1",
    ]);
    assert_eq!(definition.base.model.name(), "tiny");
    let ranges: Vec<&Range> = definition
        .space
        .iter()
        .map(|dimension| &dimension.range)
        .collect();
    let numbers = |numbers: &[f64]| Range::Values {
        values: numbers.iter().copied().map(Value::Number).collect(),
    };
    assert_eq!(
        ranges[0],
        &Range::Interval {
            low: 1e-4,
            high: 1e-2,
            log: true
        }
    );
    assert_eq!(ranges[1], &numbers(&[32.0, 64.0, 128.0]));
    assert_eq!(
        ranges[2],
        &Range::Interval {
            low: 2.0,
            high: 5.0,
            log: false
        }
    );
    assert_eq!(ranges[3], &numbers(&[0.0, 0.05, 0.1]));
    assert_eq!(
        ranges[4],
        &Range::Values {
            values: vec![Value::Name("off".to_owned()), Value::Number(1.0)]
        }
    );
    assert_eq!(definition.problems(), []);
}

#[track_caller]
fn assert_says(text: &str, error: &DefinitionError, words: &str) {
    let said = message(error);
    assert!(said.contains(words), "{text}: {said}");
}

#[test]
fn each_mistake_in_a_setting_has_a_sentence() {
    for (text, words) in [
        ("lr", "does not name a setting"),
        ("rate=1", "No setting is called \"rate\""),
        ("learning-rate=", "too few values"),
        ("learning-rate=1..2..3", "not a range"),
        ("learning-rate=1e-4..x", "not a range"),
        ("learning-rate=1e-4..1e-2:cubic", "not a range"),
        ("learning-rate=1e-4..1e-2:1", "not a range"),
        ("learning-rate=0..1:log:3", "cannot begin at 0"),
    ] {
        let error = SettingRange::parse(text).unwrap_err();
        assert_says(text, &error, words);
    }
    for (text, words) in [
        ("epochs=2.5", "2.5 is not a value of epochs"),
        ("model=vgg", "Choose one of linear, mlp-small, mlp"),
        ("nesterov=maybe", "on or off"),
    ] {
        let error = definition(&[])
            .set(SettingRange::parse(text).unwrap())
            .unwrap_err();
        assert_says(text, &error, words);
    }
}

type Change = fn(&mut SweepDefinition);

#[test]
fn each_mistake_in_a_definition_has_a_sentence() {
    let with = |settings: &[&str], change: &dyn Fn(&mut SweepDefinition)| {
        let mut definition = definition(settings);
        change(&mut definition);
        definition
            .problems()
            .iter()
            .map(message)
            .collect::<Vec<_>>()
    };
    let check = |problems: Vec<String>, words: &str| {
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(words), "{words}: {problems:?}");
    };
    check(with(&[], &|_| {}), "No setting varies.");
    for (setting, words) in [
        ("learning-rate=1e-2..1e-4", "Write the lower number first."),
        ("learning-rate=0..0.1:log", "Begin above 0"),
        (
            "learning-rate=1e-4..20",
            "The learning rate is out of range (got 20).",
        ),
        (
            "epochs=0..3",
            "The number of epochs is out of range (got 0).",
        ),
        ("model=mlp,vgg", "vgg is not a value of network."),
        ("model=1..3", "names and have no range"),
        (
            "batch-size=32,64,32",
            "The value 32 of batch-size is listed twice.",
        ),
    ] {
        check(with(&[setting], &|_| {}), words);
    }
    let cases: [(Change, &str); 9] = [
        (
            |it| it.sampler = SamplerKind::Grid,
            "A grid needs single values of learning-rate",
        ),
        (|it| it.trials = None, "Limit it with --trials or --time."),
        (
            |it| it.trials = Some(0),
            "The number of trials is out of range (got 0).",
        ),
        (
            |it| it.parallel = 0,
            "The number of parallel trials is out of range (got 0).",
        ),
        (
            |it| it.seconds = Some(f64::NAN),
            "The time for the sweep in seconds is out of range",
        ),
        (
            |it| {
                it.pruner = Some(Asha {
                    reduction: 1,
                    min_epochs: 1,
                });
            },
            "The reduction factor is out of range",
        ),
        (
            |it| {
                it.pruner = Some(Asha {
                    reduction: 3,
                    min_epochs: 0,
                });
            },
            "The minimum number of epochs is out of range",
        ),
        (
            |it| it.space.push(it.space[0].clone()),
            "learning-rate is given twice.",
        ),
        (
            |it| it.base.epochs = 0,
            "The number of epochs is out of range",
        ),
    ];
    for (change, words) in cases {
        check(with(&["learning-rate=1e-4..1e-2"], &change), words);
    }
    let large = with(
        &["seed=1..100", "epochs=1..100", "batch-size=1..100"],
        &|definition| definition.sampler = SamplerKind::Grid,
    );
    assert!(large[0].contains("1000000 combinations"), "{large:?}");
}

#[test]
fn a_file_says_the_same_as_the_command_line() {
    let text = r#"
        preset = "quick"
        trials = 20
        time = "30m"
        [set]
        learning-rate = "1e-4..1e-2:log"
        batch-size = [32, 64, 128]
        augmentation = ["off", "gentle"]
        epochs = 4
    "#;
    let file = DefinitionFile::parse(text).unwrap();
    assert_eq!((file.trials, file.time.as_deref()), (Some(20), Some("30m")));
    let mut of_file = definition(&[]);
    file.settings()
        .unwrap()
        .into_iter()
        .for_each(|range| of_file.set(range).unwrap());
    let mut typed = definition(&[
        "augmentation=off,gentle",
        "batch-size=32,64,128",
        "epochs=4",
        "learning-rate=1e-4..1e-2:log",
    ]);
    assert_eq!(of_file, typed);
    typed
        .set(SettingRange::parse("learning-rate=0.01").unwrap())
        .unwrap();
    assert_eq!(typed.space.len(), 2, "what is said last counts");

    for (text, words) in [
        ("trails = 3", "line 1: unknown field `trails`"),
        ("\ntrials = many", "line 2"),
        ("[set]\nlr = true", "The definition of the sweep"),
    ] {
        let error = DefinitionFile::parse(text).unwrap_err();
        assert_says(text, &error, words);
    }
}

#[test]
fn durations_have_units() {
    for (text, expected) in [
        ("90", 90.0),
        ("90s", 90.0),
        ("1.5 m", 90.0),
        ("2h", 7200.0),
        ("1d", 86_400.0),
    ] {
        assert_eq!(seconds(text), Ok(expected));
    }
    for text in ["", "m", "-3m", "3 weeks", "inf"] {
        assert!(
            message(&seconds(text).unwrap_err()).contains("is not a duration"),
            "{text}"
        );
    }
}
