//! Repeated runs: the queue, and their one card among the models.

use egui_kittest::kittest::Queryable;
use inkling::runs::set_titles;

use crate::runs::repeats::{config, saved};
use crate::window::stage::{Driven, Panel, Seen, sized, stage};

#[test]
fn repeated_runs_have_one_card_and_each_can_be_selected() {
    for size in [[700.0, 2000.0], [1280.0, 1400.0]] {
        let mut harness = stage(Panel::Models, size);
        let asked = config(3).repetitions("now");
        let mut runs: Vec<_> = asked
            .iter()
            .zip([0.98, 0.99, 0.97])
            .map(|(config, test)| saved(config, &[0.9, 0.95], Some(test)))
            .collect();
        runs.push(saved(&config(1), &[0.5], Some(0.5)));
        runs[3].folder = "runs/other".into();
        runs.reverse();
        set_titles(&mut runs);
        harness.state_mut().app.models.runs = Some(runs);
        harness.run();
        assert_eq!(
            harness
                .get_all_by_label_contains("Mean test accuracy: 98.00%")
                .count(),
            1,
            "one card"
        );
        assert!(!harness.shows("99.00%"));
        harness.click_containing("Mean test accuracy: 98.00%");
        harness.get_by_label_contains("3 runs: mean test accuracy 98.00%");
        assert_eq!(
            harness
                .get_by_label("Validation accuracy of all runs")
                .value()
                .as_deref(),
            Some("mean 95.00% after epoch 2")
        );
        harness.click("seed 8, 99.00%");
        harness.get_by_label("Built-in digits, 100 images");
        assert_eq!(
            harness
                .get_all_by_label_contains("Mean test accuracy: 98.00%")
                .count(),
            1,
            "still one card"
        );
    }
}

#[test]
fn repeats_are_queued_and_trained_one_after_another() {
    let (mut window, mut engine) = sized([900.0, 1800.0]);
    window.configure(|config| config.repeats = 3);
    window.click("Start");
    for seed in 1..=3 {
        window.serve(&mut engine);
        let app = window.app();
        assert_eq!(app.the_run().config.seed, seed);
        assert_eq!(app.train.queue.len() as u64, 3 - seed);
        engine.finish();
        window.run_steps(3);
    }
    assert!(!window.app().ctx.is_training());
}
