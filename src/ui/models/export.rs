//! Owns the choice of how a model is exported: format, options, and what the files will hold.
//! Must not put files together; it returns actions.

use eframe::egui::{Checkbox, CollapsingHeader, Grid, Label, RichText, Ui, vec2};

use crate::app::{Action, App, ExportView};
use crate::protocol::ExportReport;
use crate::records::{ExportSpec, FileInfo, ModelRef};
use crate::run_config::{ExportFormat, WeightFormat};
use crate::text::format::{file_size, grouped};
use crate::ui::style;

/// Draws the choice, if this model's export is being chosen.
pub fn show(ui: &mut Ui, app: &App, model: &ModelRef, actions: &mut Vec<Action>) {
    let Some(view) = app.export.as_ref().filter(|view| view.model == *model) else { return };
    ui.add_space(style::GAP / 2.0);
    style::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(RichText::new("Export").strong());
        ui.add_enabled_ui(view.writing.is_none(), |ui| choices(ui, &view.spec, actions));
        ui.add_space(style::GAP / 2.0);
        buttons(ui, view, actions);
        ui.add_space(style::GAP / 2.0);
        ui.vertical(|ui| match &view.preview {
            Some(preview) => contents(ui, preview, view.spec.format),
            None => drop(ui.label(style::hint("Looking at what it will hold…"))),
        });
    });
}

fn choices(ui: &mut Ui, spec: &ExportSpec, actions: &mut Vec<Action>) {
    let mut chosen = spec.clone();
    ui.horizontal_wrapped(|ui| {
        for &format in ExportFormat::ALL {
            if ui.add(style::toggle(ui, format.label(), spec.format == format)).on_hover_text(about(format)).clicked() {
                chosen.format = format;
            }
        }
    });
    ui.add(Label::new(style::hint(about(chosen.format))).wrap());
    let onnx = matches!(chosen.format, ExportFormat::Onnx | ExportFormat::Zip);
    let weights = !matches!(chosen.format, ExportFormat::Card | ExportFormat::Report);
    // Always the same boxes in the same places: what has no say in this format cannot be ticked.
    let mut half = chosen.weights == WeightFormat::F16;
    let only = "Only ONNX files have this choice";
    ui.horizontal_wrapped(|ui| {
        ui.add_enabled(weights, Checkbox::new(&mut half, "16-bit weights"))
            .on_hover_text("Half the size; accuracy hardly changes")
            .on_disabled_hover_text("This holds no weights");
        ui.add_enabled(onnx, Checkbox::new(&mut chosen.preprocessing, "Raw pictures in, probabilities out"))
            .on_hover_text(
                "The file itself turns 28x28 bytes into what the network takes; otherwise normalised numbers go in and logits come out",
            )
            .on_disabled_hover_text(only);
        ui.add_enabled(onnx, Checkbox::new(&mut chosen.quantize, "8-bit weights"))
            .on_hover_text(
                "About a quarter of the size. What it costs is measured on the model's test pictures; in a zip, it is a file besides",
            )
            .on_disabled_hover_text(only);
    });
    chosen.weights = if half { WeightFormat::F16 } else { WeightFormat::F32 };
    if chosen != *spec {
        actions.push(Action::ChangeExport(chosen));
    }
}

fn buttons(ui: &mut Ui, view: &ExportView, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        if let Some(fraction) = view.writing {
            if ui.add(style::secondary_button("Cancel")).clicked() {
                actions.push(Action::CancelExport);
            }
            let words = if fraction > 0.0 { "Measuring the 8-bit weights" } else { "Writing" };
            ui.label(words);
            ui.add(style::progress_bar(ui, fraction).desired_width(180.0).desired_height(10.0)).accessible_name("Progress of the export");
            return;
        }
        if ui.add_enabled(view.preview.is_some(), style::primary_button(ui, "Save as…")).clicked() {
            actions.push(Action::SaveExport);
        }
        if ui.add(style::secondary_button("Close")).clicked() {
            actions.push(Action::CloseExport);
        }
        let folder = view.written.as_ref().and_then(|written| written.paths.first()?.parent());
        if let Some(folder) = folder.map(std::path::Path::to_owned)
            && ui.add(style::secondary_button("Show in folder")).on_hover_text(folder.display().to_string()).clicked()
        {
            actions.push(Action::OpenFolder(folder));
        }
    });
}

/// Every file with its size and its weights.
fn contents(ui: &mut Ui, preview: &ExportReport, format: ExportFormat) {
    let total = file_size(preview.files.iter().map(|file| file.bytes).sum());
    let heading = match (format, preview.files.as_slice()) {
        (ExportFormat::Zip, files) => format!("One archive with {} files, {total}", files.len()),
        (_, [_]) => format!("One file, {total}"),
        (_, files) => format!("{} files side by side, {total}", files.len()),
    };
    ui.label(RichText::new(heading).strong());
    for file in &preview.files {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(&file.name).monospace());
            ui.label(RichText::new(file_size(file.bytes)).weak());
            ui.add(Label::new(RichText::new(&file.about).weak()).wrap());
        });
        tensors(ui, file);
    }
}

fn tensors(ui: &mut Ui, file: &FileInfo) {
    if file.tensors.is_empty() {
        return;
    }
    let numbers: u64 = file.tensors.iter().map(|tensor| tensor.shape.iter().product::<u64>()).sum();
    let heading = format!("{} tensors, {} numbers", file.tensors.len(), grouped(numbers));
    CollapsingHeader::new(RichText::new(heading).weak()).id_salt(("tensors", &file.name)).show(ui, |ui| {
        Grid::new(("tensors of", &file.name)).num_columns(3).spacing(vec2(style::GAP, 2.0)).show(ui, |ui| {
            for tensor in &file.tensors {
                ui.label(RichText::new(&tensor.name).monospace());
                let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
                ui.label(shape.join(" × "));
                ui.label(RichText::new(tensor.format.name()).weak());
                ui.end_row();
            }
        });
    });
}

/// What a format is for.
const fn about(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Safetensors => "The weights with their names and a description. candle, PyTorch and Inkling itself read it.",
        ExportFormat::Onnx => {
            "The whole model in one file, which onnxruntime, tract, browsers and phones run; with a program that reads pictures."
        }
        ExportFormat::PyTorch => "The weights as a state dict, and the network as a readable Python module.",
        ExportFormat::Candle => "A small Rust program that reads pictures, and the weights it needs.",
        ExportFormat::Card => "What the model is, how well it reads and where it fails: in words, and as JSON.",
        ExportFormat::Report => "One page for a browser, with curves, confusion matrix and mistakes; it needs no network.",
        ExportFormat::Zip => "All of it in one archive, to pass on or to put away.",
    }
}
