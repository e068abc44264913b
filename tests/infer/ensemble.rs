//! Several networks, or one with dropout, that classify together.

use std::path::{Path, PathBuf};

use inkling::infer::{Classifier, Classify, EnsembleError};
use inkling::nn::{ModelFile, Net};
use inkling::problem::{Code, Problem};
use inkling::progress::Unwatched;
use inkling::records::{Calibration, Ensemble, ModelRef, Uncertainty};
use inkling::run_config::{
    Activation, Classes, DataSource, DataSpec, ModelKind, PublicDataset, WeightFormat,
};

use super::image;
use crate::support::{model_file, opened};
use crate::synthetic::squares;

fn write(folder: &Path, model: ModelKind, seed: u64, temperature: f32) -> PathBuf {
    let file = model_file(model, Activation::Relu);
    let net = Net::new(model, Activation::Relu, 10, seed).unwrap();
    let calibration = Calibration {
        temperature,
        digit_threshold: seed as f32,
    };
    let card = inkling::nn::ModelCard {
        calibration,
        ..file.card
    };
    let path = folder.join(format!("{seed}.safetensors"));
    std::fs::write(
        &path,
        ModelFile { net, card }.to_bytes(WeightFormat::F32).unwrap(),
    )
    .unwrap();
    path
}

fn open(models: &[PathBuf], dropout_passes: Option<u32>) -> Classifier {
    Classifier::load(&ModelRef::Ensemble(Ensemble {
        models: models.to_owned(),
        dropout_passes,
    }))
    .unwrap()
    .unwrap()
}

#[test]
fn the_probabilities_of_an_ensemble_are_the_mean_of_its_members() {
    let folder = tempfile::tempdir().unwrap();
    let models = [
        write(folder.path(), ModelKind::LeNet, 1, 0.5),
        write(folder.path(), ModelKind::Mlp, 2, 2.0),
    ];
    let alone: Vec<_> = models
        .iter()
        .map(|path| opened(path).classify(image(3)).unwrap())
        .collect();
    let ensemble = open(&models, None);
    let together = ensemble.classify(image(3)).unwrap();
    for (digit, &probability) in together.probabilities.iter().enumerate() {
        let mean = f32::midpoint(alone[0].probabilities[digit], alone[1].probabilities[digit]);
        assert!((probability - mean).abs() < 1e-6);
        let deviation = (alone[0].probabilities[digit] - alone[1].probabilities[digit]).abs() / 2.0;
        assert!(
            (together.uncertainty.as_ref().unwrap().deviations[digit] - deviation).abs() < 1e-6
        );
    }
    assert!(
        (together.digit_score - f32::midpoint(alone[0].digit_score, alone[1].digit_score)).abs()
            < 1e-4
    );
    assert_eq!(together.uncertainty.as_ref().unwrap().members, 2);
    assert_eq!(
        together.model.parameters,
        alone[0].model.parameters + alone[1].model.parameters
    );
    assert!(matches!(together.model.reference, ModelRef::Ensemble(_)));
    let raw = [
        write(folder.path(), ModelKind::LeNet, 1, 1.0),
        write(folder.path(), ModelKind::Mlp, 2, 1.0),
    ];
    let raw = open(&raw, None).classify(image(3)).unwrap().probabilities;
    assert_eq!(
        ensemble
            .clone()
            .uncalibrated()
            .classify(image(3))
            .unwrap()
            .probabilities,
        raw,
        "as without temperatures"
    );
    assert!(
        ensemble.is_digit(image(3).pixels(), 1.5) && !ensemble.is_digit(image(3).pixels(), 1.4),
        "the mean of thresholds 1 and 2"
    );
}

#[test]
fn images_are_measured_as_they_are_classified() {
    let folder = tempfile::tempdir().unwrap();
    let models = [
        write(folder.path(), ModelKind::LeNet, 1, 1.0),
        write(folder.path(), ModelKind::LeNet, 2, 1.0),
    ];
    let ensemble = open(&models, None);
    let split = squares(300, 1);
    let measured = ensemble.measure(&split, &mut Unwatched).unwrap();
    let loss: f64 = (0..300)
        .map(|index| {
            let prediction = ensemble
                .classify(inkling::ink::Image::try_from(split.image(index)).unwrap())
                .unwrap();
            assert_eq!(prediction.digit, measured.answers[index]);
            assert!((prediction.digit_score - measured.digit_scores()[index]).abs() < 1e-4);
            -f64::from(prediction.probabilities[usize::from(split.labels[index])]).ln()
        })
        .sum();
    assert!((measured.evaluation.loss - loss / 300.0).abs() < 1e-4);
    assert_eq!(
        ensemble.digits(&split.images, &mut Unwatched).unwrap(),
        measured.answers
    );
}

#[test]
fn passes_with_dropout_differ_and_are_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let model = write(folder.path(), ModelKind::ConvNet, 1, 1.0);
    let plain = opened(&model).classify(image(3)).unwrap();
    let dropout = open(std::slice::from_ref(&model), Some(200));
    let [first, second] = [0, 1].map(|_| dropout.classify(image(3)).unwrap());
    assert_eq!(
        (&first.probabilities, &first.uncertainty),
        (&second.probabilities, &second.uncertainty)
    );
    let uncertainty = first.uncertainty.as_ref().unwrap();
    assert_eq!(uncertainty.members, 200);
    assert!(
        uncertainty.mutual_information > 1e-4
            && uncertainty
                .deviations
                .iter()
                .all(|&deviation| deviation > 1e-3)
    );
    assert!(
        (first.digit_score - plain.digit_score).abs() < 1e-5,
        "what looks like a digit is decided without dropout"
    );
    // The mean over masks is near the network without dropout.
    let largest = first
        .probabilities
        .iter()
        .zip(&plain.probabilities)
        .map(|(mean, plain)| (mean - plain).abs())
        .fold(0.0, f32::max);
    assert!(largest < 0.05, "{largest}");
}

#[test]
fn uncertainty_is_split_into_what_members_share_and_what_they_disagree_about() {
    let certain =
        |digit: usize| std::array::from_fn::<f32, 10, _>(|each| f32::from(u8::from(each == digit)));
    let even = [0.1; 10];
    let (agreed, mean) = Uncertainty::of(&[&even, &even]);
    assert!(
        (agreed.entropy - 10f32.log2()).abs() < 1e-5
            && agreed.mutual_information < 1e-5
            && mean == even
    );
    let (disagreed, mean) = Uncertainty::of(&[&certain(3), &certain(5)]);
    assert!((disagreed.entropy - 1.0).abs() < 1e-6 && disagreed.expected_entropy().abs() < 1e-6);
    assert_eq!(
        (
            mean[3],
            mean[5],
            disagreed.deviations[3],
            disagreed.deviations[0]
        ),
        (0.5, 0.5, 0.5, 0.0)
    );
    let (sure, _) = Uncertainty::of(&[certain(3).as_slice(); 4]);
    assert_eq!((sure.entropy, sure.mutual_information), (0.0, 0.0));
}

#[test]
fn what_makes_no_ensemble_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = write(folder.path(), ModelKind::Mlp, 1, 1.0);
    let refused = |models: Vec<PathBuf>, dropout_passes| match Classifier::load(
        &ModelRef::Ensemble(Ensemble {
            models,
            dropout_passes,
        }),
    ) {
        Err(problem) => problem,
        Ok(_) => panic!("no refusal"),
    };
    assert_eq!(
        refused(Vec::new(), None),
        EnsembleError::Models { given: 0 }.into()
    );
    assert_eq!(
        refused(vec![model.clone(); 65], None),
        EnsembleError::Models { given: 65 }.into()
    );
    assert_eq!(
        refused(vec![model.clone()], Some(1)),
        EnsembleError::DropoutPasses { given: 1 }.into()
    );
    assert_eq!(
        refused(vec![model.clone()], Some(10)),
        EnsembleError::NoDropout {
            path: model.clone(),
            model: ModelKind::Mlp
        }
        .into()
    );
    let missing = Ensemble::of(vec![model, folder.path().join("missing.safetensors")]);
    assert!(matches!(
        Classifier::load(&ModelRef::Ensemble(missing)),
        Err(problem) if problem.code == Code::Model
    ));
}

#[test]
fn models_of_different_things_are_no_ensemble() {
    let folder = tempfile::tempdir().unwrap();
    let digits = write(folder.path(), ModelKind::Mlp, 1, 1.0);
    let mut other = ModelFile::load(&digits).unwrap();
    other.card.data = DataSpec::single(DataSource::Named(PublicDataset::Kmnist));
    other.card.labels = Classes::Hiragana;
    let path = folder.path().join("kana.safetensors");
    std::fs::write(&path, other.to_bytes(WeightFormat::F32).unwrap()).unwrap();
    let refused = Classifier::load(&ModelRef::Ensemble(Ensemble {
        models: vec![digits, path],
        dropout_passes: None,
    }))
    .unwrap_err();
    let problem = EnsembleError::DifferentClasses {
        first: Classes::Digits,
        other: Classes::Hiragana,
    };
    assert_eq!(refused, Problem::from(problem));
}
