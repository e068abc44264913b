//! Repeated runs: the queue, and their one card among the models.

use egui_kittest::kittest::Queryable;
use inkling::runs::set_titles;

use crate::runs::repeats::{config, saved};
use crate::window::stage::{Panel, sized, stage};

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
                .get_all_by_label_contains("Mean test accuracy: 98.00 %")
                .count(),
            1,
            "one card"
        );
        assert!(harness.query_by_label_contains("99.00 %").is_none());
        harness
            .get_by_label_contains("Mean test accuracy: 98.00 %")
            .click();
        harness.run();
        harness.get_by_label_contains("3 runs: mean test accuracy 98.00 %");
        assert_eq!(
            harness
                .get_by_label("Validation accuracy of all runs")
                .value()
                .as_deref(),
            Some("mean 95.00 % after epoch 2")
        );
        harness.get_by_label("seed 8, 99.00 %").click();
        harness.run();
        harness.get_by_label_contains("99.00 % on Built-in digits, 100 images (95 % CI");
        assert_eq!(
            harness
                .get_all_by_label_contains("Mean test accuracy: 98.00 %")
                .count(),
            1,
            "still one card"
        );
    }
}

#[test]
fn repeats_are_queued_and_trained_one_after_another() {
    let (mut window, mut engine) = sized([900.0, 1800.0]);
    let config = window.state().app().ctx.config.clone();
    window
        .state_mut()
        .apply(inkling::window::Action::Configure(Box::new(
            inkling::run_config::RunConfig {
                repeats: 3,
                ..config
            },
        )));
    window.run_steps(3);
    window.get_by_label("Start").click();
    window.run_steps(3);
    for seed in 1..=3 {
        engine.serve();
        window.run_steps(3);
        let app = window.state().app();
        assert_eq!(
            (
                app.train.run.as_ref().unwrap().config.seed,
                app.train.queue.len() as u64
            ),
            (seed, 3 - seed)
        );
        engine.finish();
        window.run_steps(3);
    }
    assert!(!window.state().app().is_training());
}
