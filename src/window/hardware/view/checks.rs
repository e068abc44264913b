//! The self-test, on the Hardware screen and in the wizard: whether each device computes correctly.
//! The benchmark: starting it, its progress, and its results.

use eframe::egui::{Button, CollapsingHeader, Ui};

use crate::bench::{busy, disturbance, heading, sections, text, workload};
use crate::protocol::Job;
use crate::records::benchmark::{BUSY, BenchmarkReport, Effort, SavedBenchmark};
use crate::run_config::{DeviceChoice, Precision};
use crate::self_test;
use crate::text::format::remaining;
use crate::text::visible;
use crate::window::style::icons::{self, Icon};
use crate::window::style::{self, table};
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
        ui.label(style::hint(match device {
            DeviceChoice::Cpu => "Self-test".to_owned(),
            _ => format!("Self-test: {}", device.label()),
        }));
        let mut report = None;
        match checked {
            Some(Checked::Running) => {
                ui.horizontal(|ui| {
                    style::spinner(ui);
                    style::semibold(ui, "Running the self-test…");
                });
                return;
            }
            None => {
                style::strong(ui, "Not run yet");
                style::weak(ui, ABOUT);
            }
            Some(Checked::Done(found)) => match &**found {
                Ok(found) => {
                    result(ui, found);
                    report = Some(found);
                }
                Err(problem) => {
                    verdict(ui, false, &problem.message.what);
                    style::weak(ui, &problem.message.remedy);
                }
            },
        }
        ui.add_space(4.0);
        let is_first = checked.is_none();
        let again = if is_first {
            "Run self-test"
        } else {
            "Run again"
        };
        style::ask(ui, Button::new(again), None, ABOUT)
            .pushes(actions, || MachineAction::CheckDevice(device));
        if let Some(report) = report {
            let each = CollapsingHeader::new("All checks").id_salt(device);
            each.default_open(report.failed() > 0)
                .show(ui, |ui| table::show(ui, &self_test::sections(report)));
        }
    });
}

fn result(ui: &mut Ui, report: &self_test::SelfTestReport) {
    let passed = report.failed() == 0;
    verdict(ui, passed, &report.verdict());
    if passed {
        style::weak(ui, PASSED);
    }
    let failed = |precision| report.passed(precision).err();
    for reason in Precision::on(report.device).filter_map(failed) {
        style::note(ui, reason);
    }
}

const ABOUT: &str = "Compares every operation and its gradient with a reference implementation in every precision, trains a small network and \
                    recognizes some digits. Takes a few seconds.";
const PASSED: &str = "All operations, gradients, a short training run and recognition gave correct results in every precision.";

fn verdict(ui: &mut Ui, passed: bool, text: &str) {
    ui.horizontal_top(|ui| {
        icons::icon(ui, if passed { Icon::Done } else { Icon::Problem });
        style::strong(ui, text);
    });
}

pub fn benchmark(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.heading("Benchmark");
    let running = app.ctx.jobs.doing(Activity::Benchmark);
    if let Some(running) = running.filter(|running| matches!(running.job, Job::Benchmark(_))) {
        progress(ui, running, actions);
        ui.add_space(style::GAP / 2.0);
        table::show(ui, &sections(&running.rows, &[]));
        return;
    }
    let about = "Measures matrix multiplication, training steps of every network, data loading and recognition, using the same code as \
                 training does. For reliable results, close other programs first.";
    style::weak(ui, about);
    start(ui, app, actions);
    ui.add_space(style::GAP / 2.0);
    if let Some((report, saved)) = &app.machine.benchmark.last {
        return last(ui, report, saved.as_ref(), actions);
    }
    style::semibold(ui, "No benchmark has been run on this machine yet.");
    ui.weak("Run one to see how fast each network trains here. It takes less than a minute.");
}

fn start(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    const BUSY: &str = "Unavailable while training or another benchmark is running.";
    let busy = app.ctx.is_training() || app.ctx.jobs.doing(Activity::Benchmark).is_some();
    let why_not = busy.then_some(BUSY);
    ui.horizontal_wrapped(|ui| {
        let full = style::primary_button("Run benchmark");
        style::ask(ui, full, why_not, "Takes less than a minute")
            .pushes(actions, || MachineAction::Benchmark(Effort::Full));
        let quick = style::secondary_button("Quick benchmark");
        let about = "About ten seconds; results are less precise";
        style::ask(ui, quick, why_not, about)
            .pushes(actions, || MachineAction::Benchmark(Effort::Quick));
        if busy {
            ui.label(style::hint(BUSY));
        }
    });
}

fn progress(ui: &mut Ui, running: &RunningJob, actions: &mut Vec<Action>) {
    let progress = &running.progress;
    let left = remaining(progress.remaining_seconds.unwrap_or_default());
    let what = match (running.cancelling, progress.workload) {
        (true, _) => "Canceling…".to_owned(),
        (false, None) => "Starting…".to_owned(),
        (false, Some(now)) => format!("{}, {left} left", workload(now)),
    };
    ui.horizontal(|ui| {
        let cancel = ui.add_enabled(!running.cancelling, style::secondary_button("Cancel"));
        cancel
            .on_hover_text("Results so far are discarded")
            .pushes(actions, || Action::CancelJob(running.id));
        ui.vertical(|ui| {
            ui.label(what);
            ui.add(style::progress_bar(ui, progress.fraction).desired_height(10.0))
                .accessible_name("Benchmark progress");
            if progress.background_load > BUSY {
                let busy = busy(progress.background_load);
                let advice = "Results will be unreliable; close other programs first.";
                style::caution(ui, &format!("{busy} {advice}"));
            }
        });
    });
}

fn last(
    ui: &mut Ui,
    report: &BenchmarkReport,
    saved: Option<&SavedBenchmark>,
    actions: &mut Vec<Action>,
) {
    let [when, machine] = heading(report);
    style::semibold(ui, when);
    style::weak(ui, machine);
    if let Some(sentence) = disturbance(report) {
        style::caution(ui, &sentence);
    }
    ui.horizontal_wrapped(|ui| {
        let copy = Button::new("Copy as text");
        if style::ask(ui, copy, None, "Copy all results as text").clicked() {
            ui.copy_text(text(report));
        }
        if let Some(folder) = saved.and_then(|saved| saved.json.parent()) {
            style::ask(ui, Button::new("Open folder"), None, &visible::path(folder))
                .pushes(actions, || Action::OpenFolder(folder.to_owned()));
        }
    });
    table::show(ui, &sections(&report.rows, &report.disturbed));
}
