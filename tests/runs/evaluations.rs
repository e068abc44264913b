//! Evaluations that a person asked for: they stay with the run of their model.

use std::fs;

use inkling::records::SplitEvaluation;
use inkling::run_config::EvaluationSplit;
use inkling::run_config::WeightFormat::F32;
use inkling::runs::{FinishedRun, Store};

use super::{names, outcome};

#[test]
fn an_evaluation_is_kept_with_its_run_and_a_damaged_one_is_ignored() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path().join("runs"));
    let saved = store.save(&outcome(), F32, None).unwrap();
    let folder = &saved.folder;
    let tested = saved.test.clone().unwrap();
    assert_eq!(
        FinishedRun::load(folder).unwrap().evaluation,
        Some(tested.clone()),
        "the one after training"
    );

    let mut evaluation = SplitEvaluation {
        data: "mine".parse().unwrap(),
        split: EvaluationSplit::All,
        ..tested.clone()
    };
    evaluation.evaluation.accuracy = 0.25;
    store.keep_evaluation(folder, &evaluation).unwrap();
    assert_eq!(
        names(folder),
        [
            "evaluation.json",
            "history.csv",
            "model.safetensors",
            "run.json",
            "steps.csv"
        ]
    );
    let run = FinishedRun::load(folder).unwrap();
    assert_eq!(
        (run.evaluation, run.summary.test.as_ref()),
        (Some(evaluation.clone()), Some(&tested)),
        "with all of its figures and images"
    );
    assert_eq!(
        store.newest().map(|run| run.summary.folder),
        Some(folder.clone())
    );

    let file = folder.join("evaluation.json");
    let whole = fs::read(&file).unwrap();
    let long = [&whole[..], &vec![b' '; 9 << 20]].concat();
    for unusable in [&b""[..], b"{}", b"[1]", &whole[..whole.len() / 2], &long] {
        fs::write(&file, unusable).unwrap();
        assert_eq!(
            FinishedRun::load(folder).unwrap().evaluation,
            Some(tested.clone()),
            "{} bytes",
            unusable.len()
        );
    }

    store.delete(folder).unwrap();
    assert!(
        store.keep_evaluation(folder, &evaluation).is_err() && !folder.exists(),
        "nothing is written where no run is"
    );
    store.restore(folder).unwrap();
    fs::remove_file(&saved.model_path).unwrap();
    store.delete(folder).unwrap();
    assert!(
        store.list().is_empty(),
        "a damaged run is deleted with its evaluation"
    );
}
