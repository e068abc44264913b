//! A window that is minimized, or covered by another, is not drawn; everything else goes on.

use eframe::egui::{
    LogicOutput, RawInput, ViewportCommand, ViewportEvent, ViewportId, ViewportInfo,
};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use inkling::window::Action;
use inkling::window::Inkling;

use super::window::sized;

/// What eframe does instead of drawing a frame; gives what the window asked for.
fn update_minimized(
    window: &mut Harness<'static, Inkling>,
    events: Vec<ViewportEvent>,
) -> Vec<ViewportCommand> {
    let mut input = RawInput::default();
    input.viewports.insert(
        ViewportId::ROOT,
        ViewportInfo {
            minimized: Some(true),
            events,
            ..ViewportInfo::default()
        },
    );
    let ctx = window.ctx.clone();
    let LogicOutput {
        mut viewport_commands,
        ..
    } = ctx.run_logic(&input, |ctx| window.state_mut().update(ctx));
    viewport_commands
        .remove(&ViewportId::ROOT)
        .unwrap_or_default()
}

#[test]
fn what_the_engine_reports_is_taken_in() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.state_mut().apply(Action::Start);
    engine.serve();
    engine.train(12);
    let asked = update_minimized(&mut window, Vec::new());
    let app = window.state().app();
    let run = app.train.run.as_ref().unwrap();
    assert_eq!(run.now.step, 12);
    let title = format!("{:.0} % – Inkling", (run.fraction() * 100.0).floor());
    assert!(asked.contains(&ViewportCommand::Title(title)), "{asked:?}");
}

#[test]
fn before_it_closes_during_training_it_comes_to_the_front_and_asks() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.state_mut().apply(Action::Start);
    engine.serve();
    engine.train(12);
    let asked = update_minimized(&mut window, vec![ViewportEvent::Close]);
    for command in [
        ViewportCommand::CancelClose,
        ViewportCommand::Minimized(false),
        ViewportCommand::Focus,
    ] {
        assert!(
            asked.contains(&command),
            "{command:?} is not among {asked:?}"
        );
    }
    window.run_steps(2);
    window.get_by_label("Training is in progress");
}
