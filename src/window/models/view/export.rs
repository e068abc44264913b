//! The export dialog: format, options, and a preview of the files' contents.

use eframe::egui::{Checkbox, CollapsingHeader, Grid, Label, RichText, Ui, vec2};

use crate::problem::Message;
use crate::protocol::ExportReport;
use crate::records::{ExportSpec, FileInfo, ModelRef};
use crate::run_config::{ExportFormat, ModelKind, WeightFormat};
use crate::text::format::{file_size, grouped};
use crate::text::visible;
use crate::window::style::{self, icons};
use crate::window::{Action, Activity, App, ExportView, InTheWay, ModelsAction, Pushes as _};

/// Draws the dialog if it is open for this model.
pub fn show(ui: &mut Ui, app: &App, model: &ModelRef, kind: ModelKind, actions: &mut Vec<Action>) {
    let view = app.models.export.as_ref();
    let Some(view) = view.filter(|view| view.model == *model) else {
        return;
    };
    ui.add_space(style::GAP / 2.0);
    style::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        style::semibold(ui, "Export");
        let is_free = app.ctx.jobs.doing(Activity::Export).is_none();
        ui.add_enabled_ui(is_free, |ui| choices(ui, kind, &view.spec, actions));
        ui.add_space(style::GAP / 2.0);
        match &view.in_the_way {
            Some(in_the_way) => replace(ui, in_the_way, actions),
            None => buttons(ui, app, view, actions),
        }
        if let Some(report) = &view.written {
            written(ui, report);
        }
        ui.add_space(style::GAP / 2.0);
        // What was written has the name that was chosen.
        ui.vertical(|ui| match view.written.as_ref().or(view.preview.as_ref()) {
            Some(preview) => contents(ui, preview, view.spec.format),
            None => drop(ui.label(style::hint("Preparing the preview…"))),
        });
    });
}

fn choices(ui: &mut Ui, kind: ModelKind, spec: &ExportSpec, actions: &mut Vec<Action>) {
    let mut chosen = spec.clone();
    // What was chosen for another model may not exist for this one.
    chosen.quantize &= kind.is_trainable();
    ui.horizontal_wrapped(|ui| {
        for &format in ExportFormat::ALL {
            let toggle = ui.add_enabled(
                format.exists_for(kind),
                style::toggle(format.label(), spec.format == format),
            );
            let toggle = toggle.on_hover_text(format.about()).on_disabled_hover_text(
                "An imported ONNX network cannot be exported in this format",
            );
            if toggle.clicked() {
                chosen.format = format;
            }
        }
    });
    style::note(ui, chosen.format.about());
    let onnx = chosen.format.has_onnx() && kind.is_trainable();
    let weights = chosen.format.has_weights() && kind.is_trainable();
    let always_half = chosen.format == ExportFormat::Html;
    // The boxes never move: those that do not apply to the format are disabled.
    let mut half = always_half || chosen.weights == WeightFormat::F16;
    let only = if kind.is_trainable() {
        "Only for ONNX"
    } else {
        "The original ONNX file is exported unchanged"
    };
    ui.horizontal_wrapped(|ui| {
        ui.add_enabled(weights && !always_half, Checkbox::new(&mut half, "16-bit weights"))
            .on_hover_text("Half the size, with almost the same accuracy")
            .on_disabled_hover_text(match kind.is_trainable() {
                true if always_half => "A web page always has 16-bit weights",
                true => "This format contains no weights",
                false => only,
            });
        ui.add_enabled(onnx, Checkbox::new(&mut chosen.preprocessing, "Include pre- and postprocessing"))
            .on_hover_text(
                "The exported model takes raw images (28 × 28 bytes) and returns probabilities. Otherwise it takes normalized values and returns logits",
            )
            .on_disabled_hover_text(only);
        ui.add_enabled(onnx, Checkbox::new(&mut chosen.quantize, "8-bit weights"))
            .on_hover_text(
                "About a quarter of the size. The loss of accuracy is measured on the test set. A zip archive contains it as an additional file",
            )
            .on_disabled_hover_text(only);
    });
    if !always_half {
        chosen.weights = if half {
            WeightFormat::F16
        } else {
            WeightFormat::F32
        };
    }
    if chosen != *spec {
        actions.push(Action::Models(ModelsAction::ChangeExport(chosen)));
    }
}

/// Asks whether files that exist may be replaced. The file dialog asks for one file, and an export
/// can have several.
fn replace(ui: &mut Ui, in_the_way: &InTheWay, actions: &mut Vec<Action>) {
    let names = in_the_way.paths.iter().map(|path| visible::path(path));
    let names = names.collect::<Vec<_>>().join(", ");
    let question = match in_the_way.paths.len() {
        1 => "This file exists already:",
        _ => "These files exist already:",
    };
    ui.add(Label::new(format!("{question} {names}")).wrap());
    ui.horizontal_wrapped(|ui| {
        ui.add(style::secondary_button("Replace"))
            .pushes(actions, || ModelsAction::ReplaceExported(true));
        style::ask(
            ui,
            style::secondary_button("Cancel"),
            None,
            "Nothing is written",
        )
        .pushes(actions, || ModelsAction::ReplaceExported(false));
    });
}

/// Where it was written, and what 8-bit weights cost, for as long as the dialog is open.
fn written(ui: &mut Ui, report: &ExportReport) {
    let Message { what, remedy } = Message::exported(report);
    ui.horizontal_top(|ui| {
        icons::icon(ui, icons::Icon::Done);
        ui.vertical(|ui| {
            ui.add(Label::new(what).wrap().selectable(true));
            if !remedy.is_empty() {
                ui.add(Label::new(remedy).wrap());
            }
        });
    });
}

fn buttons(ui: &mut Ui, app: &App, view: &ExportView, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        if let Some(running) = app.ctx.jobs.doing(Activity::Export) {
            let fraction = running.progress.fraction;
            ui.add(style::secondary_button("Cancel"))
                .pushes(actions, || Action::CancelJob(running.id));
            let measures = fraction > 0.0;
            ui.label(if measures {
                "Evaluating the 8-bit model…"
            } else {
                "Writing…"
            });
            let bar = style::progress_bar(ui, fraction).desired_width(180.0);
            ui.add(bar.desired_height(10.0))
                .accessible_name("Export progress");
            return;
        }
        let save = style::primary_button("Save as…");
        ui.add_enabled(view.preview.is_some(), save)
            .pushes(actions, || ModelsAction::SaveExport);
        ui.add(style::secondary_button("Close"))
            .pushes(actions, || ModelsAction::CloseExport);
        let written = view.written.as_ref();
        if let Some(folder) = written.and_then(|written| written.paths.first()?.parent()) {
            let about = visible::path(folder);
            style::ask(ui, style::secondary_button("Open folder"), None, &about)
                .pushes(actions, || Action::OpenFolder(folder.to_owned()));
        }
    });
}

/// Every file with its size and its tensors.
fn contents(ui: &mut Ui, preview: &ExportReport, format: ExportFormat) {
    let total = file_size(preview.files.iter().map(|file| file.bytes).sum());
    let heading = match (format, preview.files.as_slice()) {
        (ExportFormat::Zip, files) => format!("An archive of {} files, {total}", files.len()),
        (_, [_]) => format!("One file, {total}"),
        (_, files) => format!("{} files, {total}", files.len()),
    };
    style::semibold(ui, heading);
    for file in &preview.files {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(&file.name).monospace());
            ui.weak(file_size(file.bytes));
            style::weak(ui, &file.about);
        });
        tensors(ui, file);
    }
}

fn tensors(ui: &mut Ui, file: &FileInfo) {
    if file.tensors.is_empty() {
        return;
    }
    let sizes = file
        .tensors
        .iter()
        .map(|tensor| tensor.shape.iter().product::<u64>());
    let numbers = grouped(sizes.sum());
    let heading = match file.tensors.len() {
        1 => format!("1 tensor, {numbers} parameters"),
        tensors => format!("{tensors} tensors, {numbers} parameters"),
    };
    let header = CollapsingHeader::new(RichText::new(heading).weak());
    header.id_salt(("tensors", &file.name)).show(ui, |ui| {
        let grid = Grid::new(("tensors of", &file.name)).num_columns(3);
        grid.spacing(vec2(style::GAP, 2.0)).show(ui, |ui| {
            for tensor in &file.tensors {
                ui.monospace(&tensor.name);
                let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
                ui.label(shape.join(" × "));
                ui.weak(tensor.format.name());
                ui.end_row();
            }
        });
    });
}
