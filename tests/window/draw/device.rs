//! Which device reads drawings: what the engine is told, what its findings become, and the line
//! that says so.

use eframe::egui::Key;
use eframe::egui::accesskit::Role;
use egui_kittest::kittest::Queryable;
use inkling::hardware::{Hardware, Metal};
use inkling::infer::{Agreement, DeviceComparison, DeviceRejection, DeviceTrial};
use inkling::nn::ComputeError;
use inkling::problem::Problem;
use inkling::protocol::{Command, EngineExit, Event};
use inkling::records::ModelRef;
use inkling::run_config::{DeviceChoice, InferenceChoice, Precision};
use inkling::window::{Action, App, Checked, DrawAction, MachineAction, ModelsAction, TrainAction};

use crate::fake_engine::{FakeEngine, app, checked, reads};
use crate::window::stage::{Driven, Panel, Seen, Staged, serve, stage};

/// An app on a machine with an Apple GPU that was found sound.
fn on_a_mac() -> (App, FakeEngine) {
    let (mut app, mut engine) = app();
    app.ctx.hardware = Some(Hardware {
        metal: Some(Metal::default()),
        ..Hardware::default()
    });
    app.apply(MachineAction::CheckDevice(DeviceChoice::Metal));
    app.until(|app| is_checked(app, DeviceChoice::Metal));
    engine.reads = reads(&[(DeviceChoice::Cpu, 100.0), (DeviceChoice::Metal, 900.0)]);
    app.serve(&mut engine);
    (app, engine)
}

fn is_checked(app: &App, device: DeviceChoice) -> bool {
    matches!(app.ctx.checks.get(&device), Some(Checked::Done(_)))
}

fn told(engine: &FakeEngine) -> Vec<(InferenceChoice, Vec<DeviceChoice>)> {
    let of = |command: &Command| match command {
        Command::ChooseInferenceDevice { choice, usable } => Some((*choice, usable.clone())),
        _ => None,
    };
    engine.heard.iter().filter_map(of).collect()
}

#[test]
fn on_a_processor_alone_the_line_is_calm() {
    let (app, _engine) = app();
    assert_eq!(app.device_summary(), "Recognition on the CPU: 0.05 ms");
    assert!(app.draw.inference_rejections(&app.ctx).is_empty() && app.ctx.notices.is_empty());
    let reason = app.why_not_inference(InferenceChoice::Cuda).unwrap();
    assert!(reason.contains("NVIDIA"), "{reason}");
    for choice in [
        InferenceChoice::Automatic,
        InferenceChoice::Fastest,
        InferenceChoice::Cpu,
    ] {
        assert_eq!(app.why_not_inference(choice), None);
    }
}

#[test]
fn a_device_that_passed_its_check_is_offered_to_the_engine() {
    let (app, engine) = on_a_mac();
    assert_eq!(
        told(&engine),
        [(InferenceChoice::Automatic, vec![DeviceChoice::Metal])]
    );
    assert_eq!(
        app.device_summary(),
        "Recognition on Metal: 0.9 ms (CPU 0.1 ms)"
    );
    assert!(
        app.ctx.why_not_device(DeviceChoice::Metal).is_some(),
        "but not for training"
    );
}

#[test]
fn gradients_that_are_wrong_on_metal_do_not_matter_for_reading_but_a_reading_does() {
    let (mut app, mut engine) = on_a_mac();
    let mut report = checked(DeviceChoice::Metal);
    report.checks[0].found = Some(0.9);
    assert!(report.passed_inference().is_ok());
    assert!(
        inkling::self_test::SelfTestReport {
            device: DeviceChoice::Cuda,
            ..report.clone()
        }
        .passed_inference()
        .is_err()
    );
    report.checks[0].subject = inkling::self_test::Subject::Inference;
    app.ctx
        .checks
        .insert(DeviceChoice::Metal, Checked::Done(Box::new(Ok(report))));
    app.apply(DrawAction::ChooseInferenceDevice(InferenceChoice::Fastest));
    engine.serve();
    assert_eq!(
        told(&engine).last(),
        Some(&(InferenceChoice::Fastest, Vec::new()))
    );
    assert!(
        app.why_not_inference(InferenceChoice::Metal)
            .unwrap()
            .contains("Recognition")
    );
}

#[test]
fn the_choice_is_told_once_and_again_to_an_engine_that_knows_nothing_yet() {
    let (mut app, mut engine) = on_a_mac();
    for _ in 0..2 {
        app.apply(DrawAction::ChooseInferenceDevice(InferenceChoice::Cpu));
        app.serve(&mut engine);
        let last = told(&engine).last().map(|told| told.0);
        assert_eq!((last, told(&engine).len()), (Some(InferenceChoice::Cpu), 2));
    }
    let settings = app.draw.settings_to_save(&app.ctx);
    assert_eq!(settings.inference_device, InferenceChoice::Cpu);
    engine.die();
    app.poll();
    engine.serve();
    assert_eq!((engine.engines(), told(&engine).len()), (2, 3));
}

#[test]
fn figures_of_another_model_are_not_shown() {
    let (mut app, mut engine) = on_a_mac();
    app.apply(DrawAction::UseModel(ModelRef::File(
        "another.safetensors".into(),
    )));
    app.serve(&mut engine);
    assert_eq!(app.device_summary(), "Recognition on the CPU");
    assert!(app.draw.inference_report(&app.ctx).is_none());
}

#[test]
fn a_device_that_is_not_used_says_why_and_only_once() {
    let (mut app, _engine) = on_a_mac();
    let agreement = Agreement {
        images: 256,
        matching: 244,
        max_difference: 0.43,
    };
    let flaws = [
        (DeviceRejection::Disagrees(agreement), "12 of 256"),
        (
            DeviceRejection::Slow {
                images: 9,
                seconds: 5.2,
            },
            "9 drawings",
        ),
        (
            DeviceRejection::Failed(Problem::from(ComputeError::Failed {
                message: "the driver is gone".to_owned(),
            })),
            "driver is gone",
        ),
    ];
    for (flaw, words) in flaws {
        let mut report = reads(&[(DeviceChoice::Cpu, 100.0)]);
        app.on_event(Event::InferenceDevice(report.clone()));
        report.trials.push(DeviceTrial {
            device: DeviceChoice::Metal,
            outcome: Err(flaw),
        });
        app.on_event(Event::InferenceDevice(report.clone()));
        assert_eq!(app.device_summary(), "Recognition on the CPU: 0.1 ms");
        let said = app.draw.inference_rejections(&app.ctx);
        assert!(
            said.len() == 1 && said[0].starts_with("Metal is not used") && said[0].contains(words),
            "{said:?}"
        );
        let notice = app.ctx.notices.last().unwrap();
        assert_eq!(notice.message.what, said[0]);
        let id = notice.id;
        app.apply(Action::Dismiss(id));
        app.on_event(Event::InferenceDevice(report));
        assert!(app.ctx.notices.is_empty(), "it is known");
    }
}

#[test]
fn while_a_run_is_followed_its_own_device_is_named() {
    let (mut app, mut engine) = on_a_mac();
    app.train(&mut engine, 10);
    assert_eq!(
        app.device_summary(),
        "Recognition on the CPU (shared with training)"
    );
}

/// On this app's machine, an NVIDIA GPU is found that everything is there for, and it passes its
/// check.
fn find_a_gpu(app: &mut App) {
    app.ctx.hardware = Some(Hardware {
        gpus: vec![inkling::hardware::Gpu::default()],
        ..Hardware::default()
    });
    app.apply(MachineAction::CheckDevice(DeviceChoice::Cuda));
    app.until(|app| is_checked(app, DeviceChoice::Cuda));
}

/// An app on such a machine.
fn with_a_gpu() -> (App, FakeEngine) {
    let (mut app, mut engine) = app();
    find_a_gpu(&mut app);
    app.serve(&mut engine);
    (app, engine)
}

#[test]
fn the_model_moves_to_the_gpu_by_itself_and_the_drawing_with_it() {
    let (mut app, mut engine) = app();
    app.apply(DrawAction::PenDown([50.0, 50.0]));
    app.apply(DrawAction::PenUp);
    assert!(
        app.draw.prediction().is_none(),
        "the first engine has not answered yet"
    );
    find_a_gpu(&mut app);
    assert_eq!(engine.engines(), 2, "the second is in a separate process");
    app.serve(&mut engine);
    assert_eq!(
        told(&engine).last(),
        Some(&(InferenceChoice::Automatic, vec![DeviceChoice::Cuda]))
    );
    assert!(
        app.draw.prediction().is_some(),
        "the second read what the first had not"
    );
    app.apply(DrawAction::ChooseInferenceDevice(InferenceChoice::Cpu));
    assert_eq!(engine.engines(), 2, "nothing is gained by moving back");
}

#[test]
fn the_model_does_not_move_while_the_engine_has_work() {
    let (mut app, mut engine) = app();
    app.apply(ModelsAction::Evaluate {
        model: ModelRef::Starter,
        data: inkling::run_config::DataSpec::builtin(),
    });
    find_a_gpu(&mut app);
    assert_eq!(engine.engines(), 1, "the measurement would be lost");
    app.serve(&mut engine);
    assert_eq!(engine.engines(), 2, "it is over");
}

#[test]
fn automatic_means_the_gpu_that_passed_its_check() {
    let (plain, _engine) = app();
    assert_eq!(
        plain.ctx.device_for(DeviceChoice::Auto, Precision::F32),
        DeviceChoice::Cpu
    );
    let (mut app, mut engine) = with_a_gpu();
    assert_eq!(
        app.ctx.device_for(DeviceChoice::Auto, Precision::F32),
        DeviceChoice::Cuda
    );
    assert_eq!(
        app.ctx.device_for(DeviceChoice::Cpu, Precision::F32),
        DeviceChoice::Cpu
    );
    app.apply(TrainAction::Configure(Box::default()));
    app.apply(TrainAction::Start);
    engine.serve();
    assert_eq!(
        engine.run.as_ref().unwrap().config.device,
        DeviceChoice::Cuda
    );
    assert_eq!(
        app.ctx.config.device,
        DeviceChoice::Auto,
        "the choice stays what it was"
    );
}

#[test]
fn a_process_that_was_lost_is_not_moved_to_again_by_itself() {
    let (mut app, mut engine) = with_a_gpu();
    app.apply(DrawAction::ChooseInferenceDevice(InferenceChoice::Cuda));
    engine.serve();
    assert_eq!(
        told(&engine).last(),
        Some(&(InferenceChoice::Cuda, vec![DeviceChoice::Cuda]))
    );
    let engines = engine.engines();
    engine.send(Event::EngineExited(EngineExit::Hung { seconds: 30 }));
    app.poll();
    engine.serve();
    assert_eq!(engine.engines(), engines + 1);
    assert_eq!(
        told(&engine).last(),
        Some(&(InferenceChoice::Cuda, Vec::new()))
    );
    app.apply(DrawAction::ChooseInferenceDevice(InferenceChoice::Cuda));
    engine.serve();
    assert_eq!(
        told(&engine).last(),
        Some(&(InferenceChoice::Cuda, vec![DeviceChoice::Cuda])),
        "told to, it is"
    );
}

#[test]
fn devices_that_machines_like_this_cannot_have_are_not_offered() {
    if cfg!(target_os = "macos") {
        return;
    }
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    harness.click_containing("Recognition on the CPU");
    assert!(harness.is_disabled("CUDA (NVIDIA GPU)"));
    assert!(
        harness.shows("No working NVIDIA GPU was found"),
        "what cannot be chosen says why"
    );
    assert!(!harness.shows("Metal") && !harness.shows("Apple"));
}

/// A stage on a machine with an Apple GPU that was found sound, where the engine finds this.
fn stage_on_a_mac(found: DeviceComparison) -> Staged {
    let mut harness = stage(Panel::Draw, [900.0, 600.0]);
    let stage = harness.state_mut();
    stage.app.ctx.hardware = Some(Hardware {
        metal: Some(Metal::default()),
        ..Hardware::default()
    });
    stage.app.ctx.checks.insert(
        DeviceChoice::Metal,
        Checked::Done(Box::new(Ok(checked(DeviceChoice::Metal)))),
    );
    stage.engine.reads = found;
    stage
        .app
        .apply(DrawAction::ChooseInferenceDevice(InferenceChoice::Fastest));
    serve(&mut harness);
    harness
}

#[test]
fn where_drawings_are_read_is_said_and_the_figures_are_a_click_away() {
    let mut harness = stage_on_a_mac(reads(&[
        (DeviceChoice::Cpu, 100.0),
        (DeviceChoice::Metal, 900.0),
    ]));
    harness.click("Recognition on Metal: 0.9 ms (CPU 0.1 ms)");
    for figure in ["Metal", "1.8 ms", "3e-6", "256 of 256"] {
        harness.get_by_label(figure);
    }
    harness.get_by_label_contains("same 256 images");
    assert!(!harness.has("CUDA (NVIDIA GPU)"), "no Mac has it");
    harness.state_mut().engine.reads = reads(&[(DeviceChoice::Cpu, 100.0)]);
    harness
        .get_by_role_and_label(Role::RadioButton, "CPU")
        .click();
    serve(&mut harness);
    assert_eq!(
        harness.app().ctx.settings.inference_device,
        InferenceChoice::Cpu
    );
    assert!(matches!(
        harness.state().engine.heard.last(),
        Some(Command::ChooseInferenceDevice {
            choice: InferenceChoice::Cpu,
            ..
        })
    ));
    harness.get_by_label("Recognition on the CPU: 0.1 ms");
}

#[test]
fn the_place_of_reading_is_chosen_by_keyboard_too() {
    let mut harness = stage_on_a_mac(reads(&[
        (DeviceChoice::Cpu, 100.0),
        (DeviceChoice::Metal, 900.0),
    ]));
    harness
        .get_by_label_contains("Recognition on Metal")
        .focus();
    harness.run();
    harness.key(Key::Enter);
    harness
        .get_by_role_and_label(Role::RadioButton, "Automatic")
        .focus();
    harness.run();
    harness.key_press(Key::Space);
    serve(&mut harness);
    assert_eq!(
        harness.app().ctx.settings.inference_device,
        InferenceChoice::Automatic
    );
}

#[test]
fn a_device_that_is_not_used_is_pointed_out() {
    let mut found = reads(&[(DeviceChoice::Cpu, 100.0)]);
    let agreement = Agreement {
        images: 256,
        matching: 200,
        max_difference: 0.9,
    };
    found.trials.push(DeviceTrial {
        device: DeviceChoice::Metal,
        outcome: Err(DeviceRejection::Disagrees(agreement)),
    });
    let mut harness = stage_on_a_mac(found);
    harness.click("Recognition on the CPU: 0.1 ms");
    harness.get_by_label_contains(
        "Metal is not used for recognition: it disagreed with the CPU on 56 of 256 images",
    );
}
