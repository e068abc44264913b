//! Which trials asynchronous successive halving ends, on a table worked out by hand.

use inkling::sweep::{Asha, Trial};

use super::{definition, trial};

#[test]
fn rungs_are_powers_of_the_reduction_factor() {
    let rungs = |asha: Asha| {
        (1..=30)
            .filter(|&epoch| asha.is_rung(epoch))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        rungs(Asha {
            reduction: 3,
            min_epochs: 1
        }),
        [1, 3, 9, 27]
    );
    assert_eq!(
        rungs(Asha {
            reduction: 4,
            min_epochs: 2
        }),
        [2, 8]
    );
}

#[test]
fn a_trial_goes_on_if_it_is_among_the_best_third_of_those_that_came_as_far() {
    let definition = definition(&["learning-rate=1e-4..1e-2:log", "epochs=9"]);
    let asha = Asha {
        reduction: 3,
        min_epochs: 1,
    };
    // Trials in the order in which they reach the first rung, and whether each goes on: among the n
    // so far, the best max(1, n / 3) do.
    let table = [
        (0.90, true),
        (0.80, false),
        (0.95, true),
        (0.94, false),
        (0.93, false),
        (0.94, true),
        (0.96, true),
        (0.97, true),
        (0.95, true),
    ];
    let mut trials: Vec<Trial> = Vec::new();
    for (number, (accuracy, should_continue)) in (1..).zip(table) {
        trials.push(trial(
            &definition,
            number,
            vec![inkling::sweep::Value::Number(1e-3)],
            &[accuracy],
            None,
        ));
        let newest = trials.last().unwrap();
        assert_eq!(
            asha.should_continue(newest, &trials),
            should_continue,
            "trial {number}, {accuracy}"
        );
    }
}

#[test]
fn nothing_is_compared_between_rungs_or_after_the_last_epoch() {
    let definition = definition(&["learning-rate=1e-4..1e-2:log", "epochs=3"]);
    let asha = Asha {
        reduction: 3,
        min_epochs: 1,
    };
    let value = || vec![inkling::sweep::Value::Number(1e-3)];
    let good = trial(&definition, 1, value(), &[0.9, 0.95, 0.97], None);
    for (accuracies, should_continue) in [
        (&[0.1][..], false),
        (&[0.1, 0.1], true),
        (&[0.1, 0.1, 0.1], true),
    ] {
        let poor = trial(&definition, 2, value(), accuracies, None);
        assert_eq!(
            asha.should_continue(&poor, &[good.clone(), poor.clone()]),
            should_continue,
            "{accuracies:?}"
        );
    }
}
