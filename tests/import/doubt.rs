//! Weights whose network cannot be told, or not built: nothing is imported without a word. The two
//! files were trained by `PyTorch` on 30,000 built-in digits, a few epochs: a `LeNet` with average
//! pooling, tanh and MNIST's normalization, and one with maximum pooling, sigmoid and pixels from 0
//! to 1.

use std::path::PathBuf;

use inkling::data::Split;
use inkling::import::{ImportError, TrialImages};
use inkling::infer::starter_file;
use inkling::nn::Net;
use inkling::problem::Explain;
use inkling::progress::{Progress, Unwatched};
use inkling::records::{ImportFinding, ImportSpec, Normalization, Trials};
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
fn average_pooling_and_a_sigmoid_are_not_taken_for_what_inkling_builds() {
    for name in [
        "lenet-average-pooling.safetensors",
        "lenet-sigmoid.safetensors",
    ] {
        let spec = ImportSpec::of(file(name));
        let refused = import(&spec).unwrap_err();
        let ImportError::Undecided { trials, .. } = &refused else {
            panic!("{refused}")
        };
        let offered = trials.readings[0];
        assert_eq!(trials.images, 1000);
        assert_eq!(offered.reading.network, ModelKind::LeNet.into());
        let message = refused.message();
        for words in ["LeNet-5", "1,000 images of Built-in digits"] {
            assert!(message.what.contains(words), "{}", message.what);
        }
        for words in ["--accept", "torch.onnx.export"] {
            assert!(message.remedy.contains(words), "{}", message.remedy);
        }
        // Whoever accepts it gets the best that there is, and is told how good that is.
        let accept = true;
        let imported = import(&ImportSpec { accept, ..spec }).unwrap();
        let ImportFinding::Recognized { accuracy, sure, .. } = imported.finding else {
            panic!("described")
        };
        assert!(!sure, "{accuracy}");
        assert!((accuracy - offered.accuracy).abs() < 1e-9, "{accuracy}");
    }
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
    assert_eq!(trials.readings[0].reading.network, ModelKind::Mlp.into());
    // Where nothing is left open, nothing is asked.
    let named = ImportSpec {
        activation: Some(Activation::Relu),
        normalization: Some(Normalization::MNIST),
        ..ImportSpec::of(path)
    };
    assert!(matches!(
        import(&named).unwrap().finding,
        ImportFinding::Recognized { sure: true, .. }
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
    assert_eq!(undecided(&spec).tried_on, DataSpec::builtin());

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
    let ImportFinding::Recognized {
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
    // The images at hand do not help where digits are recognized better.
    let blank = |_: &mut dyn Progress| {
        Ok(Some(TrialImages {
            data: data.clone(),
            images: Split {
                images: vec![0; 784 * 100],
                labels: (0..100).map(|index| index % 10).collect(),
            },
        }))
    };
    let average = ImportSpec::of(file("lenet-average-pooling.safetensors"));
    match inkling::import::import(&average, &mut { blank }, &mut Unwatched) {
        Err(ImportError::Undecided { trials, .. }) => {
            assert_eq!(trials.tried_on, DataSpec::builtin());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn pixels_from_0_to_255_are_recognized() {
    // The starter model with MNIST's normalization moved into its first layer, which then takes
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
        matches!(imported.finding, ImportFinding::Recognized { sure: true, accuracy, .. } if accuracy > 0.95)
    );
}
