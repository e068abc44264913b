//! The dialog that shows where the time of a training step goes.

use eframe::egui::{Key, accesskit::Role};
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::records::benchmark::Side;
use inkling::records::{Profile, ProfileRow, Span, SpanKind};
use inkling::run_config::{DeviceChoice, Precision};
use inkling::window::{Action, ProfileState};

use super::window::sized;

fn profile() -> Profile {
    let layer = |kind, name: &str, start: f64, length: f64| Span {
        kind,
        name: name.to_owned(),
        thread: 0,
        start,
        length,
        bytes: 4000,
    };
    let spans = vec![
        layer(SpanKind::Data, "", 0.0, 100.0),
        layer(SpanKind::Forward, "conv1", 100.0, 2000.0),
        layer(SpanKind::Loss, "loss", 2100.0, 100.0),
        layer(SpanKind::Backward, "conv1", 2200.0, 4000.0),
        layer(SpanKind::Optimizer, "", 6200.0, 800.0),
        Span {
            thread: 1,
            ..layer(SpanKind::Loading, "", 500.0, 1500.0)
        },
    ];
    let row = |span: &Span| ProfileRow {
        kind: span.kind,
        name: span.name.clone(),
        seconds: span.length / 1e6,
        bytes: span.bytes,
        flops: 1_000_000,
        threads: (span.thread == 0 && span.kind != SpanKind::Data).then_some(1.5),
    };
    Profile {
        side: Side {
            device: DeviceChoice::Cpu,
            precision: Precision::F32,
            threads: 2,
            batch_size: 128,
        },
        steps: 1,
        step_seconds: 0.008,
        rows: spans.iter().map(row).collect(),
        machine_rate: Some(1e9),
        steps_at: vec![[0.0, 8000.0]],
        worker_spans: vec![
            layer(SpanKind::Forward, "conv1", 150.0, 1900.0),
            Span {
                thread: 1,
                ..layer(SpanKind::Forward, "conv1", 400.0, 900.0)
            },
        ],
        spans,
    }
}

#[test]
fn the_dialog_shows_steps_and_layers_in_every_size() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        window.get_by_label("Profile a step…").click_accesskit();
        window.run_steps(3);
        window.get_by_label("Recording progress");
        assert!(
            window
                .get_by_label("Save trace…")
                .accesskit_node()
                .is_disabled()
        );
        let close = window.get_by_label("Cancel").rect();
        assert!(
            close.bottom() < size[1] && close.top() > 0.0,
            "{size:?}: {close:?}"
        );
        engine.serve();
        engine.finish_profile(profile());
        window.run_steps(3);
        assert_eq!(
            window.get_by_label("Close").rect().min.y,
            close.min.y,
            "{size:?}: nothing moves"
        );
        window.get_by_label(
            "A step of 128 images takes 8.0 ms (16,000 images/s): waiting for data 1 %, forward pass 25 %, loss 1 %, backward pass 50 %, \
             optimiser 10 %, other 13 %.",
        );
        window.get_by_role_and_label(Role::Figure, "Flame graph of a step");
        window.get_by_label("conv1, backward");
        assert!(
            window.query_all_by_label("1.5 of 2").count() >= 2,
            "threads at work"
        );
        assert!(
            !window
                .get_by_label("Save trace…")
                .accesskit_node()
                .is_disabled()
        );
        window.get_by_label("Record again").click();
        window.run_steps(3);
        let app = window.state().app();
        assert!(
            app.train
                .profile
                .as_ref()
                .is_some_and(|view| view.state == ProfileState::Running)
        );
        assert!(app.ctx.jobs.profile().is_some());
    }
}

#[test]
fn it_opens_and_closes_by_keyboard_and_not_during_training() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    window.get_by_label("Profile a step…").focus();
    window.run_steps(2);
    window.key_press(Key::Enter);
    window.run_steps(3);
    engine.serve();
    assert!(window.state().app().train.profile.is_some());
    window.key_press(Key::Escape);
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    assert!(
        window.state().app().train.profile.is_none() && window.state().app().ctx.jobs.is_empty()
    );
    window.state_mut().apply(Action::Start);
    engine.serve();
    engine.train(2);
    window.run_steps(3);
    assert!(
        window
            .get_by_label("Profile a step…")
            .accesskit_node()
            .is_disabled()
    );
}
