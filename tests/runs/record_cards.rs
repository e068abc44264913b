//! Record cards: the images that are hard for every run, and cards that cannot be used.

use std::fs;

use inkling::records::{Evaluation, RecordCard, Sample, Suggestion};
use inkling::run_config::Classes;
use inkling::runs::hard_images;

use crate::fake_engine::evaluation;

/// An evaluation with these mistakes: the image, the answer, and whether the label is suspected.
fn with_mistakes(mistakes: &[(u64, u8, bool)]) -> Evaluation {
    let any = evaluation();
    let sample = any.samples[0].clone();
    let samples = mistakes.iter().map(|&(index, answer, suspected)| Sample {
        index,
        label: 4,
        answer,
        suggestion: suspected.then_some(Suggestion {
            label: answer,
            probability: 0.9,
        }),
        ..sample.clone()
    });
    Evaluation {
        samples: samples.collect(),
        ..any
    }
}

#[test]
fn images_are_hard_that_more_than_half_of_the_runs_misclassify() {
    let evaluations = [
        with_mistakes(&[(7, 9, true), (20, 1, false)]),
        with_mistakes(&[(7, 9, false), (20, 2, false), (31, 0, false)]),
        with_mistakes(&[(7, 6, true), (20, 2, false), (31, 0, true)]),
        with_mistakes(&[(7, 9, false)]),
    ];
    let hard = hard_images(&evaluations, &Classes::Digits);
    let told: Vec<_> = hard
        .iter()
        .map(|image| {
            (
                image.index,
                image.answer.as_str(),
                image.runs,
                image.doubtful,
            )
        })
        .collect();
    // Two of four are not more than half.
    assert_eq!(told, [(7, "9", 4, true), (20, "2", 3, false)]);
    assert!(hard.iter().all(|image| image.label == "4"));
    assert_eq!(hard_images(&[], &Classes::Digits), []);
}

#[test]
fn a_card_that_cannot_be_used_is_refused_and_left_out_of_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.json");
    let damaged = [
        r#"{"version": 1}"#,
        "no JSON",
        r#"{"version": 2, "measured_at": "", "program": "", "machine": "", "device": "cpu", "parameters": 1, "test_images": 1, "config": {}, "runs": [], "hard": []}"#,
        r#"{"version": 1, "measured_at": "", "program": "", "machine": "", "device": "cpu", "parameters": 1, "test_images": 1, "config": {}, "runs": [], "hard": []}"#,
    ];
    for text in damaged {
        fs::write(&path, text).unwrap();
        let error = RecordCard::load(&path).unwrap_err();
        assert!(error.to_string().contains("card.json"), "{error}");
        assert_eq!(RecordCard::list(folder.path()), []);
    }
}
