//! Another machine to train on: the dialog that asks for it, and what is sent there.

use eframe::egui::Key;
use eframe::egui::accesskit::Role;
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::problem::Message;
use inkling::protocol::{Command, EngineExit, Event, Job, Question};
use inkling::records::{BundleId, ExportSpec, ModelRef, ReceivedBundle};
use inkling::run_config::{DeviceChoice, ExportFormat, Precision};
use inkling::window::{
    Action, App, MachineAction, ModelsAction, ReachState, Screen, SearchAction, SearchKind,
    TrainAction,
};

use crate::fake_engine::{FakeEngine, app};
use crate::window::stage::{Driven, Seen, Window, open_more, place_within, sized};

/// How far the dialog is.
fn reached(app: &App) -> &ReachState {
    &app.machine
        .machine_dialog
        .as_ref()
        .expect("the dialog")
        .state
}

/// Opens the list of machines under "More settings", and the dialog from there.
fn ask(window: &mut Window) {
    open_more(window);
    window
        .get_by_role_and_label(Role::ComboBox, "Machine")
        .click_accesskit();
    window.run_steps(3);
    window.activate("Another machine…");
}

fn type_host(window: &mut Window, host: &str) {
    window.type_into("SSH host", host);
    window.key(Key::Enter);
}

#[test]
fn a_machine_is_shown_before_it_is_used_and_its_gpu_is_what_automatic_means() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        ask(&mut window);
        let cancel = place_within(&window, "Cancel", size);
        type_host(&mut window, "gpu-box");
        window.until(|app| matches!(reached(app), ReachState::Reached(_)));
        window.get_by_label_contains("Self-test passed");
        let top = window.rect("Cancel").top();
        assert_eq!(top, cancel.top(), "{size:?}: the buttons stay");
        window.click("Use this machine");
        let app = window.app();
        assert!(app.machine.machine_dialog.is_none());
        assert_eq!(
            app.ctx.other_machine.as_ref().unwrap().host.name(),
            "gpu-box"
        );
        assert_eq!(app.ctx.settings.hosts, ["gpu-box"]);
        let list = window.get_by_role_and_label(Role::ComboBox, "Machine");
        let heard = list.accesskit_node().description().unwrap();
        assert!(heard.starts_with("gpu-box"), "{heard}");
        window.start(&mut engine);
        let Some((_, Job::Train { config, .. })) = engine.asked().last() else {
            panic!("{:?}", engine.heard)
        };
        assert_eq!(config.device, DeviceChoice::Cuda);
        window.act(MachineAction::UseThis);
        let app = window.app();
        assert!(
            app.ctx.other_machine.as_ref().is_some(),
            "a run that trains there stays there"
        );
        assert!(app.ctx.why_not_move().unwrap().contains("during training"));
    }
}

/// The window with gpu-box in use, three drawings kept, and My digits among the data.
fn on_gpu_box(window: &mut Window, home: &std::path::Path) {
    let drawing = |digit: u8| {
        format!(
            "{{\"strokes\":[[[{digit}.0,0.0],[9.5,40.0]]],\"pen\":4.0,\"label\":\"{digit}\"}}\n"
        )
    };
    std::fs::create_dir_all(home.join("data")).unwrap();
    std::fs::write(
        home.join("data/my-digits.jsonl"),
        (0..3).map(drawing).collect::<String>(),
    )
    .unwrap();
    window.apply(MachineAction::Ask(Some("gpu-box".to_owned())));
    window.until(|app| matches!(reached(app), ReachState::Reached(_)));
    window.apply(MachineAction::Use);
    window.configure(|config| config.data = "builtin+mine".parse().unwrap());
}

#[test]
fn my_digits_are_asked_about_before_they_are_sent() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        let home = engine.home.path().to_owned();
        on_gpu_box(&mut window, &home);
        let actions = [
            Action::Train(TrainAction::Start),
            Action::Search(SearchAction::Open(SearchKind::LearningRate)),
            Action::Sweep(inkling::window::SweepAction::Start),
        ];
        window.apply(Action::Show(Screen::Sweep));
        for action in actions {
            window.apply(action);
            window.until(|app| app.my_digits.drawings().len() == 3);
            window.get_by_label("Send My digits to gpu-box?");
            window.get_by_label_contains("needs your 3 drawings");
            window.get_by_label_contains("30 days");
            place_within(&window, "Cancel", size);
            window.click("Cancel");
            let app = window.app();
            assert!(
                app.machine.sending_question.is_none()
                    && app.train.run.is_none()
                    && app.ctx.jobs.is_empty()
                    && !app.ctx.is_sweeping()
            );
        }
        window.act(TrainAction::Start);
        window.key(Key::Escape);
        assert!(window.app().train.run.is_none(), "Escape means no");
        engine.listen();
        assert_eq!(engine.asked().count(), 0);

        window.act(TrainAction::Start);
        window.click("Send");
        engine.listen();
        let asked = engine.asked().last();
        assert!(matches!(asked, Some((_, Job::Train { .. }))), "{asked:?}");
        assert_eq!(
            window.app().machine.may_send_my_digits(&window.app().ctx),
            Some(true)
        );
        assert!(
            std::fs::read_to_string(home.join("my-digits-recipients.json"))
                .unwrap()
                .contains("gpu-box")
        );
    }
}

#[test]
fn drawings_that_are_kept_are_recognized_elsewhere_only_if_they_may_be_sent() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    let home = engine.home.path().to_owned();
    on_gpu_box(&mut window, &home);
    engine.serve();
    let asked = |commands: &[Command]| {
        commands.iter().any(|command| {
            matches!(
                command,
                Command::Read {
                    what: Question::Drawings(_),
                    ..
                }
            )
        })
    };
    window.apply(Action::Show(Screen::MyDigits));
    window.until(|app| app.my_digits.drawings().len() == 3);
    window.run_steps(3);
    window.get_by_label_contains("the other machine would need your drawings");
    assert!(!asked(&engine.listen()));
    inkling::data::Recipients::in_file(&home.join("my-digits-recipients.json"))
        .add("gpu-box")
        .unwrap();
    window.act(Action::Show(Screen::MyDigits));
    assert!(asked(&engine.listen()));
}

/// How many data sets lie on the other machine.
fn sent(app: &App) -> Option<usize> {
    app.machine.sent.bundles.as_ref().map(Vec::len)
}

#[test]
fn what_was_sent_is_listed_beside_the_machine_and_deleted() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, engine) = sized(size);
        let home = engine.home.path().to_owned();
        let bundle = |name: &str, what: &str, in_use: bool| ReceivedBundle {
            id: BundleId(name.repeat(64)),
            what: what.to_owned(),
            bytes: 47_040_032,
            last_used: "2026-11-28T08:12:00Z".to_owned(),
            in_use,
        };
        *engine.received.lock().unwrap() = vec![
            bundle("a", "MNIST (70,000 images)", true),
            bundle("b", "My digits (3 images)", false),
        ];
        on_gpu_box(&mut window, &home);
        window.apply(Action::Show(Screen::Hardware));
        window.until(|app| sent(app) == Some(2));
        window.get_by_label("Sent to gpu-box");
        window.get_by_label("My digits (3 images)");
        let buttons: Vec<_> = window
            .get_all_by_role_and_label(Role::Button, "Delete")
            .collect();
        assert_eq!(
            buttons
                .iter()
                .map(|button| button.accesskit_node().is_disabled())
                .collect::<Vec<_>>(),
            [true, false],
            "one is in use"
        );
        buttons[1].click_accesskit();
        drop(buttons);
        window.run_steps(2);
        window.until(|app| sent(app) == Some(1));
        assert!(!window.has("My digits (3 images)"));
        window.get_by_label("My digits are not sent there unless you agree.");
        inkling::data::Recipients::in_file(&home.join("my-digits-recipients.json"))
            .add("gpu-box")
            .unwrap();
        window.act(Action::Show(Screen::Hardware));
        window.activate("Withdraw");
        assert_eq!(
            window.app().machine.may_send_my_digits(&window.app().ctx),
            Some(false)
        );
        assert!(
            inkling::data::Recipients::in_file(&home.join("my-digits-recipients.json"))
                .list()
                .is_empty()
        );
    }
}

fn machine(app: &mut App, action: MachineAction) {
    app.apply(action);
}

fn app_on_gpu_box() -> (App, FakeEngine) {
    let (mut app, engine) = app();
    machine(&mut app, MachineAction::Ask(None));
    machine(&mut app, MachineAction::Type("gpu-box".to_owned()));
    machine(&mut app, MachineAction::Connect);
    app.until(|app| matches!(reached(app), ReachState::Reached(_)));
    machine(&mut app, MachineAction::Use);
    (app, engine)
}

#[test]
fn this_machine_is_one_click_away() {
    let (mut app, _engine) = app_on_gpu_box();
    machine(&mut app, MachineAction::UseThis);
    assert!(app.ctx.other_machine.as_ref().is_none());
    assert_eq!(
        app.ctx.device_for(DeviceChoice::Auto, Precision::F32),
        DeviceChoice::Cpu
    );
    machine(&mut app, MachineAction::Ask(Some("gpu-box".to_owned())));
    assert!(
        matches!(reached(&app), ReachState::Connecting(_)),
        "a host that was used is connected to at once"
    );
}

#[test]
fn what_cannot_be_reached_is_said_and_an_answer_that_comes_too_late_is_dropped() {
    let (mut window, _engine) = sized([1280.0, 800.0]);
    ask(&mut window);
    type_host(&mut window, "-oProxyCommand=x");
    let refused = Message::not_a_host("-oProxyCommand=x");
    assert_eq!(*reached(window.app()), ReachState::Failed(refused));
    type_host(&mut window, "nowhere");
    window.until(|app| matches!(reached(app), ReachState::Failed(_)));
    window.get_by_label_contains("no such host");
    for action in [
        MachineAction::Type("gpu-box".to_owned()),
        MachineAction::Connect,
        MachineAction::Type("gpu-bo".to_owned()),
    ] {
        window.apply(action);
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    window.settle();
    assert_eq!(*reached(window.app()), ReachState::Typing);
    window.act(MachineAction::Use);
    assert!(window.app().ctx.other_machine.as_ref().is_none());
    window.key(Key::Escape);
    assert!(window.app().machine.machine_dialog.is_none());
}

#[test]
fn a_machine_that_is_lost_gives_way_to_this_one() {
    let (mut app, mut engine) = app_on_gpu_box();
    app.serve(&mut engine);
    engine.send(Event::EngineExited(EngineExit::Disconnected {
        machine: "gpu-box".to_owned(),
        reason: "timed out".to_owned(),
    }));
    app.until(|app| app.said("gpu-box"));
    assert!(app.ctx.other_machine.as_ref().is_none());
}

#[test]
fn an_open_export_panel_is_no_work_but_an_export_is() {
    let (mut app, mut engine) = app();
    app.apply(ModelsAction::OpenExport(ModelRef::Starter));
    app.serve(&mut engine);
    assert!(app.models.export.is_some());
    assert_eq!(
        app.ctx.why_not_move(),
        None,
        "the panel is open, and nothing is computed"
    );
    let spec = ExportSpec {
        quantize: true,
        ..ExportSpec::new(ExportFormat::Onnx)
    };
    app.apply(ModelsAction::ChangeExport(spec));
    assert!(
        app.ctx.why_not_move().is_some(),
        "until the engine has answered"
    );
    app.serve(&mut engine);
    assert_eq!(app.ctx.why_not_move(), None);
}
