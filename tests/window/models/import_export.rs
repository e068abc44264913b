//! Exporting, importing and training further, on the models screen.

use std::path::PathBuf;

use egui_kittest::kittest::Queryable;
use inkling::problem::Problem;
use inkling::protocol::{Event, Job, JobEvent};
use inkling::records::{ModelRef, Replace};
use inkling::run_config::{ExportFormat, RunConfig, Setting};
use inkling::runs::RunEntry;
use inkling::system::TargetError;
use inkling::window::{Action, Activity, App, TrainAction};

use crate::fake_engine::{Answers, app, run_entry};
use crate::jobs::submitted;
use crate::window::stage::{Driven, Panel, Seen, Staged, ask, open, serve, stage_with};

fn run() -> RunEntry {
    run_entry("runs/one", &RunConfig::default(), Vec::new(), false)
}

fn list_run(harness: &mut Staged) {
    harness.state_mut().app.models.runs = Some(vec![run()]);
    harness.run();
}

#[test]
fn an_export_shows_what_it_will_hold_and_is_written_where_the_person_says() {
    let answers = Answers::file("/tmp/digits");
    let mut harness = stage_with(Panel::Models, [1280.0, 900.0], answers);
    list_run(&mut harness);
    ask(&mut harness, "Export…");
    harness.get_by_label_contains("2 files");
    harness.get_by_label("predict.py");
    harness.click_containing("1 tensor, 200,704 parameters");
    harness.get_by_label("256 × 784");
    ask(&mut harness, "8-bit weights");
    save_as(&mut harness);
    serve(&mut harness);
    harness.get_by_label("Evaluating the 8-bit model…");
    let heard = &harness.state().engine.heard;
    let written = heard
        .iter()
        .filter_map(submitted)
        .find_map(|(_, job)| match job {
            Job::Export {
                spec,
                to: Some(to),
                model,
                ..
            } => Some((spec.clone(), to.clone(), model.clone())),
            _ => None,
        });
    let (spec, to, model) = written.expect("nothing was exported");
    // The name is completed by the ending that other programs know it by.
    assert_eq!(spec.format, ExportFormat::Onnx);
    assert!(spec.quantize);
    assert_eq!(to, PathBuf::from("/tmp/digits.onnx"));
    assert_eq!(
        model,
        ModelRef::File(PathBuf::from("runs/one/model.safetensors"))
    );
    ask(&mut harness, "Cancel");
    harness.get_by_label("Save as…");
    harness.click("Close");
    assert!(harness.app().models.export.is_none());
}

#[test]
fn an_exported_file_is_named_after_its_model() {
    let answers = Answers {
        none: true,
        ..Answers::default()
    };
    let mut harness = stage_with(Panel::Models, [1280.0, 900.0], answers);
    let mut run = run();
    run.title = "My 7 (Speedrun)".to_owned();
    harness.state_mut().app.models.runs = Some(vec![run]);
    harness.run();
    ask(&mut harness, "Export…");
    harness.get_by_label("Save as…").click();
    harness.until(|app| app.shell.path_question.is_some());
    let question = harness.app().shell.path_question.as_ref().unwrap();
    assert!(
        question.text.ends_with("my-7-speedrun.onnx"),
        "{}",
        question.text
    );
}

/// Chooses the file to export to, in a dialog that is answered on another thread.
fn save_as(harness: &mut Staged) {
    harness.get_by_label("Save as…").click();
    harness.until(|app| app.ctx.jobs.doing(Activity::Export).is_some());
}

/// Answers the export that was submitted last with files in its way; returns what it was allowed to
/// replace.
fn refuse(harness: &mut Staged) -> Option<Replace> {
    let asked = harness.state_mut().engine.listen();
    let (id, replace) = asked
        .iter()
        .filter_map(submitted)
        .find_map(|(id, job)| match job {
            Job::Export {
                to: Some(_),
                replace,
                ..
            } => Some((id, *replace)),
            _ => None,
        })?;
    let paths = ["/tmp/digits.onnx", "/tmp/predict.py"]
        .map(PathBuf::from)
        .to_vec();
    let event = JobEvent::Failed(Problem::from(TargetError::Exist { paths }));
    harness.state().engine.send(Event::Job { id, event });
    harness.run();
    Some(replace)
}

#[test]
fn files_in_the_way_are_named_and_replaced_only_where_the_person_says_so() {
    // The name that is completed is one that the dialog did not ask about.
    for (file, confirmed) in [
        ("/tmp/digits.onnx", Replace::Requested),
        ("/tmp/digits", Replace::Nothing),
    ] {
        let answers = Answers::file(file);
        let mut harness = stage_with(Panel::Models, [1280.0, 900.0], answers);
        list_run(&mut harness);
        ask(&mut harness, "Export…");
        save_as(&mut harness);
        assert_eq!(refuse(&mut harness), Some(confirmed));
        harness.get_by_label_contains("/tmp/digits.onnx, /tmp/predict.py");
        if confirmed == Replace::Nothing {
            harness.click("Cancel");
            assert_eq!(refuse(&mut harness), None);
        } else {
            harness.click("Replace");
            assert_eq!(refuse(&mut harness), Some(Replace::Everything));
        }
    }
}

#[test]
fn an_import_is_asked_for_in_a_dialog_and_said() {
    for again in [false, true] {
        let answers = Answers::file("/tmp/net.pt");
        let mut harness = stage_with(Panel::Models, [1280.0, 900.0], answers);
        list_run(&mut harness);
        harness.get_by_label("Import…").click();
        harness.until(|app| app.ctx.jobs.doing(Activity::Import).is_some());
        // The screen lists the runs of the empty folder again as it is shown.
        harness.until(|app| app.models.runs.as_ref().is_some_and(Vec::is_empty));
        let mut before = run();
        if let (true, Ok(summary)) = (again, &mut before.summary) {
            summary.imported = Some("net.pt".to_owned());
        }
        harness.state_mut().app.models.runs = Some(vec![before]);
        serve(&mut harness);
        let said = harness.said("Test accuracy on Built-in digits, 100 images: 99.00%.");
        assert!(said, "{:?}", harness.app().ctx.notices);
        let remedy = &harness.app().last_notice().remedy;
        assert_eq!(
            remedy.starts_with("A file of this name was imported before. "),
            again,
            "{remedy}"
        );
        assert!(harness.app().ctx.jobs.doing(Activity::Import).is_none());
    }
}

#[test]
fn weights_that_can_be_read_in_two_ways_are_asked_about() {
    let (mut app, mut engine) = app();
    app.apply(Action::Drop(vec![PathBuf::from("/tmp/average.pt")]));
    app.serve(&mut engine);
    let imported = |app: &App| app.said("Imported");
    // Nothing is imported before somebody decides.
    assert_eq!(
        app.models.import_question.as_ref().unwrap().choices().len(),
        2
    );
    assert!(!imported(&app));
    let mut window = open(app, [1280.0, 800.0]);
    window.get_by_label_contains("71.5% with ReLU");
    window
        .get_by_label(
            "Tanh, pixels normalized with mean 0.1307 and standard deviation 0.3081 (90.3%)",
        )
        .click();
    window.until(|app| app.models.import_question.is_none());
    engine.serve();
    window.until(imported);
}

#[test]
fn a_run_that_starts_afresh_after_all_has_the_usual_learning_rate_again() {
    let mut harness = stage_with(Panel::Models, [1280.0, 900.0], Answers::default());
    harness.state_mut().app.models.runs = Some(vec![run()]);
    let app = &mut harness.state_mut().app;
    let usual = app.ctx.config.clone();
    assert_eq!(
        usual.learning_rate, 0.006,
        "a rate of which a tenth is not a round number"
    );
    let afresh = |app: &mut App| {
        let config = RunConfig {
            initial_weights: None,
            ..app.ctx.config.clone()
        };
        app.apply(TrainAction::Configure(Box::new(config)));
    };
    app.apply(TrainAction::TrainFurther("runs/one".into()));
    assert_eq!(app.train.text(&app.ctx, Setting::LearningRate), "0.0006");
    afresh(app);
    assert_eq!(app.ctx.config, usual);
    // Also with another network, and after a restart.
    app.apply(TrainAction::TrainFurther("runs/one".into()));
    app.ctx.settings = app.draw.settings_to_save(&app.ctx);
    app.apply(TrainAction::Configure(Box::new(RunConfig {
        model: inkling::run_config::ModelKind::Mlp,
        ..app.ctx.config.clone()
    })));
    assert_eq!(app.ctx.config.learning_rate, 0.006);
    // A rate that somebody chose stays.
    app.apply(TrainAction::TrainFurther("runs/one".into()));
    app.apply(TrainAction::Type(Setting::LearningRate, "0.001".to_owned()));
    afresh(app);
    assert_eq!(app.ctx.config.learning_rate, 0.001);
}

#[test]
fn a_run_is_trained_further_from_its_weights_until_another_network_is_chosen() {
    let mut harness = stage_with(Panel::Models, [1280.0, 900.0], Answers::default());
    list_run(&mut harness);
    harness.click("More");
    harness.click("Fine-tune");
    let app = &mut harness.state_mut().app;
    let config = app.ctx.config.clone();
    assert_eq!(
        config.initial_weights,
        Some(PathBuf::from("runs/one/model.safetensors"))
    );
    assert!((config.learning_rate - RunConfig::default().learning_rate / 10.0).abs() < 1e-12);
    app.apply(TrainAction::ApplyPreset(
        inkling::run_config::Preset::Compact,
    ));
    assert_eq!(
        (
            app.ctx.config.model,
            app.ctx.config.initial_weights.is_some()
        ),
        (config.model, true),
        "a preset keeps the weights and their network"
    );
    let other = RunConfig {
        model: inkling::run_config::ModelKind::Mlp,
        ..app.ctx.config.clone()
    };
    app.apply(TrainAction::Configure(Box::new(other)));
    assert_eq!(app.ctx.config.initial_weights, None);
}
