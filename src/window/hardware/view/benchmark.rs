//! The benchmark on the Hardware screen: starting it, its progress, and its results.

use eframe::egui::{Label, RichText, Ui};

use super::table;
use crate::bench::{busy, disturbance, heading, sections, subject, text};
use crate::protocol::Job;
use crate::records::benchmark::{BUSY, Extent, Report, Saved};
use crate::text::format::remaining;
use crate::text::visible;
use crate::window::style;
use crate::window::{Action, App, RunningJob};

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.heading("Benchmark");
    if let Some(running) = app
        .ctx
        .jobs
        .benchmark()
        .filter(|running| matches!(running.job, Job::Benchmark(_)))
    {
        progress(ui, running, actions);
        ui.add_space(style::GAP / 2.0);
        table::show(ui, &sections(&running.rows, &[]));
        return;
    }
    let about = "Measures matrix products, training steps of every network, data loading and recognition, using the same code as \
                 training does. For reliable results, close other programs first.";
    ui.add(Label::new(RichText::new(about).weak()).wrap());
    start(ui, app, actions);
    ui.add_space(style::GAP / 2.0);
    if let Some((report, saved)) = &app.machine.benchmark.last {
        last(ui, report, saved.as_ref(), actions);
    } else {
        ui.label(RichText::new("No benchmark has been run on this machine yet.").strong());
        ui.label(
            RichText::new(
                "Run one to see how fast each network trains here. It takes less than a minute.",
            )
            .weak(),
        );
    }
}

fn start(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let busy = app.is_training() || app.ctx.jobs.benchmark().is_some();
    ui.horizontal_wrapped(|ui| {
        let why = "Unavailable while training or another benchmark is running.";
        let full = ui.add_enabled(!busy, style::primary_button(ui, "Run benchmark"));
        if full
            .on_hover_text("Takes less than a minute")
            .on_disabled_hover_text(why)
            .clicked()
        {
            actions.push(Action::Benchmark(Extent::Full));
        }
        let quick = ui.add_enabled(!busy, style::secondary_button("Quick benchmark"));
        if quick
            .on_hover_text("About ten seconds; results are less precise")
            .on_disabled_hover_text(why)
            .clicked()
        {
            actions.push(Action::Benchmark(Extent::Quick));
        }
        if busy {
            ui.label(style::hint(why));
        }
    });
}

fn progress(ui: &mut Ui, running: &RunningJob, actions: &mut Vec<Action>) {
    let what = match (running.cancelling, running.progress.subject) {
        (true, _) => "Cancelling…".to_owned(),
        (false, None) => "Starting…".to_owned(),
        (false, Some(now)) => format!(
            "{}, {} left",
            subject(now),
            remaining(running.progress.remaining_seconds.unwrap_or_default())
        ),
    };
    ui.horizontal(|ui| {
        let cancel = ui.add_enabled(!running.cancelling, style::secondary_button("Cancel"));
        if cancel
            .on_hover_text("Results so far are discarded")
            .clicked()
        {
            actions.push(Action::CancelJob(running.id));
        }
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
    ui.label(RichText::new(when).strong());
    ui.add(Label::new(RichText::new(machine).weak()).wrap());
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
