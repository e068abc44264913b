//! Weights whose network cannot be told, or not built: nothing is imported without a word. The two
//! files were trained by `PyTorch` on 30,000 built-in digits, a few epochs: a `LeNet` with average
//! pooling, tanh and MNIST's normalisation, and one with maximum pooling, sigmoid and pixels from 0
//! to 1.

use std::path::PathBuf;

use inkling::data::Split;
use inkling::import::{ImportError, TrialImages, Trials};
use inkling::infer::starter_file;
use inkling::nn::Net;
use inkling::problem::Explain;
use inkling::progress::{Progress, Unwatched};
use inkling::records::{Doubt, ImportFinding, ImportSpec, Normalization, TriedActivation};
use inkling::run_config::{Activation, Augmentation, DataSpec, ModelKind, RunConfig};

use super::{import, write};
use crate::synthetic::{square_set, train};
use crate::train::watcher::Watcher;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/import")
        .join(name)
}

fn undecided(spec: &ImportSpec) -> Trials {
    match import(spec).unwrap_err() {
        ImportError::Undecided { trials, path } => {
            assert_eq!(path, spec.path);
            *trials
        }
        other => panic!("{other}"),
    }
}

#[test]
fn average_pooling_is_not_taken_for_maximum_pooling() {
    let path = file("lenet-average-pooling.safetensors");
    // Whatever else is named: the pooling is what is wrong.
    let named = ImportSpec {
        activation: Some(Activation::Tanh),
        normalization: Some(Normalization::MNIST),
        ..ImportSpec::of(path.clone())
    };
    let mut said = Vec::new();
    for spec in [&ImportSpec::of(path), &named] {
        let refused = import(spec).unwrap_err();
        let ImportError::Undecided { trials, .. } = &refused else {
            panic!("{refused}")
        };
        assert_eq!(
            (trials.model, trials.doubt, trials.images),
            (ModelKind::LeNet, Doubt::NotSupported, 1000)
        );
        let best = trials.readings[0];
        // A hard tanh is hardly different.
        let near = [
            TriedActivation::Own(Activation::Tanh),
            TriedActivation::HardTanh,
        ];
        assert!(
            best.reading.average_pooling && near.contains(&best.reading.activation),
            "{best:?}"
        );
        assert_eq!(best.reading.normalization, Normalization::MNIST);
        assert!(
            best.accuracy > 0.85 && trials.supported.accuracy < best.accuracy - 0.05,
            "{trials:?}"
        );
        assert!(
            trials.supported.reading.settings().is_some()
                && trials.readings.contains(&trials.supported),
            "{trials:?}"
        );
        said.push(refused.message());
    }
    let message = &said[0];
    for words in [
        "LeNet-5",
        "average pooling",
        "1,000 built-in digits",
        "Tanh",
    ] {
        assert!(message.what.contains(words), "{}", message.what);
    }
    assert!(message.remedy.contains("--accept"), "{}", message.remedy);
    // Whoever accepts it gets the best that there is, and is told how good that is.
    let imported = import(&ImportSpec {
        accept: true,
        ..named
    })
    .unwrap();
    let ImportFinding::Recognised { accuracy, sure, .. } = imported.finding else {
        panic!("described")
    };
    assert!(!sure && accuracy < 0.85, "{accuracy}");
}

#[test]
fn a_sigmoid_is_not_taken_for_another_activation() {
    let trials = undecided(&ImportSpec::of(file("lenet-sigmoid.safetensors")));
    assert_eq!(
        (trials.model, trials.doubt),
        (ModelKind::LeNet, Doubt::NotSupported)
    );
    let best = trials.readings[0].reading;
    assert_eq!(
        (best.activation, best.normalization.std),
        (TriedActivation::Sigmoid, 1.0),
        "{best:?}"
    );
    assert!(!best.average_pooling);
}

#[test]
fn a_network_that_reads_too_little_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fresh.safetensors");
    write(
        &path,
        &Net::new(ModelKind::Mlp, Activation::Relu, 10, 5).unwrap(),
    );
    let trials = undecided(&ImportSpec::of(path.clone()));
    assert_eq!(
        (trials.model, trials.doubt),
        (ModelKind::Mlp, Doubt::LowAccuracy)
    );
    // Where nothing is left open, nothing is asked.
    let named = ImportSpec {
        activation: Some(Activation::Relu),
        normalization: Some(Normalization::MNIST),
        ..ImportSpec::of(path)
    };
    assert!(matches!(
        import(&named).unwrap().finding,
        ImportFinding::Recognised { sure: true, .. }
    ));
}

#[test]
fn a_network_that_learned_from_other_images_is_tried_on_those() {
    // It knows squares, and no digits.
    let config = RunConfig {
        model: ModelKind::Mlp,
        epochs: 4,
        batch_size: 50,
        augmentation: Augmentation::Off,
        ..RunConfig::default()
    };
    let trained = train(&config, &square_set(1000, 100), &mut Watcher::default())
        .unwrap()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("squares.safetensors");
    write(&path, &trained.net);
    let spec = ImportSpec::of(path);
    assert_eq!(undecided(&spec).doubt, Doubt::LowAccuracy);

    let data: DataSpec = "some/squares".parse().unwrap();
    let mut asked = 0;
    let mut squares = |_: &mut dyn Progress| {
        asked += 1;
        Ok(Some(TrialImages {
            data: data.clone(),
            images: square_set(0, 300).test,
        }))
    };
    let imported = inkling::import::import(&spec, &mut squares, &mut Unwatched).unwrap();
    let ImportFinding::Recognised {
        accuracy,
        images,
        tried_on,
        sure,
        calibrated,
        ..
    } = imported.finding
    else {
        panic!("described")
    };
    assert!(accuracy > 0.95 && sure && !calibrated, "{accuracy}");
    assert_eq!((images, tried_on, asked), (300, data.clone(), 1));
    assert_eq!(imported.file.card.config.activation, config.activation);
    assert_eq!(
        imported.file.card.normalization,
        trained.net.normalization()
    );
    // The images at hand do not help where digits are recognised better.
    let blank = |_: &mut dyn Progress| {
        Ok(Some(TrialImages {
            data: data.clone(),
            images: Split {
                images: vec![0; 784 * 100],
                labels: (0..100).map(|index| index % 10).collect(),
            },
        }))
    };
    let average = ImportSpec {
        activation: Some(Activation::Tanh),
        normalization: Some(Normalization::MNIST),
        ..ImportSpec::of(file("lenet-average-pooling.safetensors"))
    };
    match inkling::import::import(&average, &mut { blank }, &mut Unwatched) {
        Err(ImportError::Undecided { trials, .. }) => {
            assert_eq!(trials.tried_on, DataSpec::builtin());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn pixels_from_0_to_255_are_recognised() {
    // The starter model with MNIST's normalisation moved into its first layer, which then takes
    // pixels as they are.
    let net = starter_file().unwrap().net;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.safetensors");
    let mut weights = net.weights().unwrap();
    let Normalization { mean, std } = Normalization::MNIST;
    let (kernels, rest) = weights.split_at_mut(1);
    for (kernel, bias) in kernels[0].chunks_mut(25).zip(rest[0].iter_mut()) {
        *bias -= mean / std * kernel.iter().sum::<f32>();
        kernel.iter_mut().for_each(|weight| *weight /= 255.0 * std);
    }
    net.set_weights(&weights).unwrap();
    write(&path, &net);
    let imported = import(&ImportSpec {
        activation: Some(Activation::Relu),
        ..ImportSpec::of(path)
    })
    .unwrap();
    assert!(
        (imported.file.card.normalization.std - 1.0 / 255.0).abs() < 1e-6,
        "{:?}",
        imported.file.card.normalization
    );
    assert!(
        matches!(imported.finding, ImportFinding::Recognised { sure: true, accuracy, .. } if accuracy > 0.95)
    );
}
