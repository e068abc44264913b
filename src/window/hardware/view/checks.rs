//! The self-test, on the Hardware screen and in the wizard: whether each device computes correctly.
//! The benchmark: starting it, its progress, and its results.

use eframe::egui::{CollapsingHeader, Ui};

use crate::bench::{busy, disturbance, heading, sections, text, workload};
use crate::protocol::Job;
use crate::records::benchmark::{BUSY, Effort, Report, Saved};
use crate::run_config::{DeviceChoice, Precision};
use crate::self_test;
use crate::text::format::remaining;
use crate::text::visible;
use crate::window::style::{self, icons, table};
use crate::window::{Action, Activity, App, Checked, MachineAction, Pushes as _, RunningJob};

/// Draws a card for the CPU and for every other device that has been tested.
pub fn self_test(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    for &device in &[DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Metal] {
        let checked = app.ctx.checks.get(&device);
        if device == DeviceChoice::Cpu || checked.is_some() {
            card(ui, device, checked, actions);
        }
    }
}

fn card(ui: &mut Ui, device: DeviceChoice, checked: Option<&Checked>, actions: &mut Vec<Action>) {
    style::full_card(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        ui.label(style::hint(if device == DeviceChoice::Cpu {
            "Self-test".to_owned()
        } else {
            format!("Self-test: {}", device.label())
        }));
        let report = match checked {
            Some(Checked::Running) => {
                ui.horizontal(|ui| {
                    ui.spinner();
                    ui.strong("Running the self-test…");
                });
                return;
            }
            None => {
                style::strong(ui, "Not run yet");
                style::weak(ui, ABOUT);
                None
            }
            Some(Checked::Done(found)) => match &**found {
                Ok(report) => {
                    result(ui, report);
                    Some(report)
                }
                Err(problem) => {
                    let message = problem.message.clone();
                    verdict(ui, false, &message.what);
                    style::weak(ui, message.remedy);
                    None
                }
            },
        };
        ui.add_space(4.0);
        let again = if checked.is_none() {
            "Run self-test"
        } else {
            "Run again"
        };
        ui.button(again)
            .on_hover_text(ABOUT)
            .pushes(actions, || MachineAction::CheckDevice(device));
        if let Some(report) = report {
            let each = CollapsingHeader::new("All checks")
                .id_salt(device)
                .default_open(report.failed() > 0);
            each.show(ui, |ui| table::show(ui, &self_test::sections(report)));
        }
    });
}

fn result(ui: &mut Ui, report: &self_test::Report) {
    let passed = report.failed() == 0;
    verdict(ui, passed, &report.verdict());
    if passed {
        style::weak(ui, PASSED);
    }
    for reason in
        Precision::on(report.device).filter_map(|precision| report.passed(precision).err())
    {
        style::note(ui, reason);
    }
}

const ABOUT: &str = "Compares every operation and its gradient with a reference computation in every number format, trains a small network and \
                    recognises some digits. Takes a few seconds.";
const PASSED: &str = "All operations, gradients, a short training run and recognition gave correct results in every number format.";

fn verdict(ui: &mut Ui, passed: bool, text: &str) {
    ui.horizontal_top(|ui| {
        icons::icon(
            ui,
            if passed {
                icons::Icon::Done
            } else {
                icons::Icon::Problem
            },
        );
        style::strong(ui, text);
    });
}

pub fn benchmark(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.heading("Benchmark");
    if let Some(running) = app
        .ctx
        .jobs
        .doing(Activity::Benchmark)
        .filter(|running| matches!(running.job, Job::Benchmark(_)))
    {
        progress(ui, running, actions);
        ui.add_space(style::GAP / 2.0);
        table::show(ui, &sections(&running.rows, &[]));
        return;
    }
    let about = "Measures matrix products, training steps of every network, data loading and recognition, using the same code as \
                 training does. For reliable results, close other programs first.";
    style::weak(ui, about);
    start(ui, app, actions);
    ui.add_space(style::GAP / 2.0);
    if let Some((report, saved)) = &app.machine.benchmark.last {
        last(ui, report, saved.as_ref(), actions);
    } else {
        ui.strong("No benchmark has been run on this machine yet.");
        ui.weak("Run one to see how fast each network trains here. It takes less than a minute.");
    }
}

fn start(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let busy = app.ctx.is_training() || app.ctx.jobs.doing(Activity::Benchmark).is_some();
    ui.horizontal_wrapped(|ui| {
        let why = "Unavailable while training or another benchmark is running.";
        let full = ui.add_enabled(!busy, style::primary_button(ui, "Run benchmark"));
        full.on_hover_text("Takes less than a minute")
            .on_disabled_hover_text(why)
            .pushes(actions, || MachineAction::Benchmark(Effort::Full));
        let quick = ui.add_enabled(!busy, style::secondary_button("Quick benchmark"));
        quick
            .on_hover_text("About ten seconds; results are less precise")
            .on_disabled_hover_text(why)
            .pushes(actions, || MachineAction::Benchmark(Effort::Quick));
        if busy {
            ui.label(style::hint(why));
        }
    });
}

fn progress(ui: &mut Ui, running: &RunningJob, actions: &mut Vec<Action>) {
    let what = match (running.cancelling, running.progress.workload) {
        (true, _) => "Cancelling…".to_owned(),
        (false, None) => "Starting…".to_owned(),
        (false, Some(now)) => format!(
            "{}, {} left",
            workload(now),
            remaining(running.progress.remaining_seconds.unwrap_or_default())
        ),
    };
    ui.horizontal(|ui| {
        let cancel = ui.add_enabled(!running.cancelling, style::secondary_button("Cancel"));
        cancel
            .on_hover_text("Results so far are discarded")
            .pushes(actions, || Action::CancelJob(running.id));
        ui.vertical(|ui| {
            ui.label(what);
            ui.add(style::progress_bar(ui, running.progress.fraction).desired_height(10.0))
                .accessible_name("Benchmark progress");
            if running.progress.background_load > BUSY {
                let sentence = format!(
                    "{} Figures will not be reliable; better close other programs.",
                    busy(running.progress.background_load)
                );
                style::caution(ui, &sentence);
            }
        });
    });
}

fn last(ui: &mut Ui, report: &Report, saved: Option<&Saved>, actions: &mut Vec<Action>) {
    let [when, machine] = heading(report);
    ui.strong(when);
    style::weak(ui, machine);
    if let Some(sentence) = disturbance(report) {
        style::caution(ui, &sentence);
    }
    ui.horizontal_wrapped(|ui| {
        if ui
            .button("Copy as text")
            .on_hover_text("Copy all results as text")
            .clicked()
        {
            ui.copy_text(text(report));
        }
        if let Some(folder) = saved.and_then(|saved| saved.json.parent())
            && ui
                .button("Open folder")
                .on_hover_text(visible::path(folder))
                .clicked()
        {
            actions.push(Action::OpenFolder(folder.to_owned()));
        }
    });
    table::show(ui, &sections(&report.rows, &report.disturbed));
}
