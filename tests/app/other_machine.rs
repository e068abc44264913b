//! Another machine to train on: what the window asks, shows and does.

use inkling::problem::EngineExit;
use inkling::protocol::{Event, Job};
use inkling::records::{ExportSpec, ModelRef};
use inkling::run_config::{DeviceChoice, ExportFormat, Precision};
use inkling::window::messages::Message;
use inkling::window::{Action, App, MachineAction, ReachState};

use crate::fake_engine::{FakeEngine, app};
use crate::jobs::submitted;

fn machine(app: &mut App, action: MachineAction) {
    app.apply(Action::Machine(action));
}

/// Waits for what comes from other threads.
fn settled(app: &mut App, done: impl Fn(&App) -> bool) {
    for _ in 0..500 {
        app.poll();
        if done(app) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("nothing came");
}

fn state(app: &App) -> &ReachState {
    &app.machine
        .machine_dialog
        .as_ref()
        .expect("the dialog")
        .state
}

fn on_gpu_box() -> (App, FakeEngine) {
    let (mut app, engine) = app();
    machine(&mut app, MachineAction::Ask(None));
    machine(&mut app, MachineAction::Type("gpu-box".to_owned()));
    machine(&mut app, MachineAction::Connect);
    settled(&mut app, |app| matches!(state(app), ReachState::Reached(_)));
    machine(&mut app, MachineAction::Use);
    (app, engine)
}

#[test]
fn a_machine_is_shown_before_it_is_used_and_its_gpu_is_what_automatic_means() {
    let (mut app, mut engine) = on_gpu_box();
    assert!(app.machine.machine_dialog.is_none());
    assert_eq!(app.other_machine().unwrap().host.name(), "gpu-box");
    assert_eq!(app.ctx.settings.hosts, ["gpu-box"]);
    assert_eq!(
        app.device_for(DeviceChoice::Auto, Precision::F32),
        DeviceChoice::Cuda
    );
    app.apply(Action::Start);
    engine.serve();
    app.poll();
    let asked = engine.heard.iter().find_map(submitted).expect("a job");
    assert!(matches!(asked.1, Job::Train { config, .. } if config.device == DeviceChoice::Cuda));
    machine(&mut app, MachineAction::UseThis);
    assert!(
        app.other_machine().is_some(),
        "a run that trains there stays there"
    );
    assert!(app.why_not_move().unwrap().contains("during training"));
}

#[test]
fn this_machine_is_one_click_away() {
    let (mut app, _engine) = on_gpu_box();
    machine(&mut app, MachineAction::UseThis);
    assert!(app.other_machine().is_none());
    assert_eq!(
        app.device_for(DeviceChoice::Auto, Precision::F32),
        DeviceChoice::Cpu
    );
    machine(&mut app, MachineAction::Ask(Some("gpu-box".to_owned())));
    assert!(
        matches!(state(&app), ReachState::Connecting(_)),
        "a host that was used is connected to at once"
    );
}

#[test]
fn what_cannot_be_reached_is_said_and_an_answer_that_comes_too_late_is_dropped() {
    let (mut app, _engine) = app();
    machine(&mut app, MachineAction::Ask(None));
    machine(&mut app, MachineAction::Type("-oProxyCommand=x".to_owned()));
    machine(&mut app, MachineAction::Connect);
    assert_eq!(
        *state(&app),
        ReachState::Failed(Message::not_a_host("-oProxyCommand=x"))
    );
    machine(&mut app, MachineAction::Type("nowhere".to_owned()));
    machine(&mut app, MachineAction::Connect);
    settled(&mut app, |app| matches!(state(app), ReachState::Failed(_)));
    assert!(
        matches!(state(&app), ReachState::Failed(message) if message.what.contains("no such host")),
        "{:?}",
        state(&app)
    );
    machine(&mut app, MachineAction::Type("gpu-box".to_owned()));
    machine(&mut app, MachineAction::Connect);
    machine(&mut app, MachineAction::Type("gpu-bo".to_owned()));
    std::thread::sleep(std::time::Duration::from_millis(100));
    app.poll();
    assert_eq!(*state(&app), ReachState::Typing);
    machine(&mut app, MachineAction::Use);
    assert!(app.other_machine().is_none());
}

#[test]
fn a_machine_that_is_lost_gives_way_to_this_one() {
    let (mut app, mut engine) = on_gpu_box();
    engine.serve();
    app.poll();
    engine.send(Event::EngineExited(EngineExit::Disconnected {
        machine: "gpu-box".to_owned(),
        reason: "timed out".to_owned(),
    }));
    settled(&mut app, |app| {
        app.ctx
            .notices
            .iter()
            .any(|notice| notice.message.what.contains("gpu-box"))
    });
    assert!(app.other_machine().is_none());
}

#[test]
fn an_open_export_panel_is_no_work_but_an_export_is() {
    let (mut app, mut engine) = app();
    app.apply(Action::OpenExport(ModelRef::Starter));
    engine.serve();
    app.poll();
    assert!(app.models.export.is_some());
    assert_eq!(
        app.why_not_move(),
        None,
        "the panel is open, and nothing is computed"
    );
    let spec = ExportSpec {
        quantize: true,
        ..ExportSpec::new(ExportFormat::Onnx)
    };
    app.apply(Action::ChangeExport(spec));
    assert!(
        app.why_not_move().is_some(),
        "until the engine has answered"
    );
    engine.serve();
    app.poll();
    assert_eq!(app.why_not_move(), None);
}
