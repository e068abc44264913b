//! The steps of a run, as they are saved with it: every one of a short run, few of a long one.

use inkling::records::{StepCurve, StepPoint};
use inkling::run_config::WeightFormat::F32;
use inkling::runs::{FinishedRun, Store};

use super::outcome;

fn point(step: u64) -> StepPoint {
    StepPoint {
        step,
        loss: step as f32,
        accuracy: 0.5,
        learning_rate: 1.0 / step as f32,
    }
}

fn curve(steps: u64) -> StepCurve {
    let mut curve = StepCurve::default();
    (1..=steps).for_each(|step| curve.add(point(step)));
    curve
}

#[test]
fn a_short_run_keeps_every_step_and_a_long_one_the_means_of_several() {
    let short: Vec<StepPoint> = (1..=2000).map(point).collect();
    assert_eq!(curve(2000).points(), short);
    let long = curve(2003);
    assert_eq!(long.points().len(), 1002);
    assert_eq!(
        long.points()[0],
        StepPoint {
            loss: 1.5,
            ..point(2)
        }
    );
    assert_eq!(
        long.points()[1000],
        StepPoint {
            loss: 2001.5,
            ..point(2002)
        }
    );
    assert_eq!(
        long.points()[1001],
        point(2003),
        "the last one has not got its second step yet"
    );
    for steps in [10_000, 1_000_000] {
        let long = curve(steps);
        assert!(
            (1000..=2001).contains(&long.points().len()),
            "{}",
            long.points().len()
        );
        assert_eq!(long.points().last().unwrap().step, steps);
        let mean = |points: &[StepPoint]| {
            points
                .iter()
                .map(|point| f64::from(point.loss))
                .sum::<f64>()
                / points.len() as f64
        };
        assert!((mean(long.points()) / (steps as f64 / 2.0) - 1.0).abs() < 1e-2);
    }
}

#[test]
fn a_curve_that_is_saved_halfway_goes_on_as_if_it_had_not_been() {
    for half in [1, 1999, 2001, 4003] {
        let saved = serde_json::to_string(&curve(half)).unwrap();
        let mut resumed: StepCurve = serde_json::from_str(&saved).unwrap();
        (half + 1..=9000).for_each(|step| resumed.add(point(step)));
        assert_eq!(resumed, curve(9000), "after {half}");
    }
}

#[test]
fn the_steps_of_a_saved_run_are_read_back_and_older_runs_have_none() {
    let root = tempfile::tempdir().unwrap();
    let outcome = outcome();
    let saved = Store::new(root.path()).save(&outcome, F32, None).unwrap();
    let run = FinishedRun::load(&saved.folder).unwrap();
    assert_eq!(&run.summary, &saved);
    assert_eq!(run.steps.as_slice(), outcome.curve.points());
    assert!(run.steps.len() > 2, "more than its epochs");

    let file = saved.folder.join("steps.csv");
    let table = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{table}half a li\n9,NaN,1,1\n9,1,1,1,1\n")).unwrap();
    assert_eq!(
        FinishedRun::load(&saved.folder).unwrap().steps,
        run.steps,
        "what is not a step is left out"
    );
    std::fs::remove_file(&file).unwrap();
    assert_eq!(
        FinishedRun::load(&saved.folder).unwrap(),
        FinishedRun {
            steps: Vec::new(),
            ..run
        }
    );
}
