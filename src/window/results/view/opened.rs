//! One image, large, with the way to the next one. Of a suspected label error it asks whether the
//! label is right.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{Id, Key, Modal, Modifiers, Rect, Role, Sense, Ui, Vec2};

use super::ResultsScreen;
use super::filter::{self, Filter};
use crate::notices::verdict::whole_percent;
use crate::records::{HardImage, Sample, Suggestion};
use crate::run_config::{Classes, EvaluationSplit};
use crate::text::format::count;
use crate::window::style;

/// The side of the image, in points: twelve to a pixel.
const SIDE: f32 = 336.0;
/// The width of the texts beside it, in points.
const TEXTS: f32 = 210.0;
/// The keys that answer whether a label is right.
const RIGHT: Key = Key::Y;
const WRONG: Key = Key::N;

#[derive(Clone, Copy)]
enum Choice {
    Show(usize),
    Close,
    /// This is the right label of the image.
    Answer(u8),
}

/// Shows the image at `view.opened`, one of those that are shown; the arrow keys go to the others,
/// Escape closes.
pub fn show(ui: &Ui, view: &mut ResultsScreen, split: EvaluationSplit) {
    let Some(index) = view.opened else { return };
    let images = view.images();
    let position = images.iter().position(|candidate| *candidate == index);
    let (Some(position), Some(sample)) = (position, view.gallery.samples.get(index)) else {
        view.opened = None;
        return;
    };
    let sample = sample.clone();
    let suggestion = sample
        .suggestion
        .filter(|_| view.filter == Some(Filter::Suspects));
    let at = |position: usize| images.get(position).copied();
    let (before, after) = (position.checked_sub(1).and_then(at), at(position + 1));
    let modal = Modal::new(Id::unique("enlarged image")).frame(style::dialog_frame(ui));
    let modal = modal.show(ui.ctx(), |ui| {
        ui.set_width(SIDE + style::GAP * 2.0 + TEXTS);
        let mut choice = None;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = style::GAP * 2.0;
            let (rect, response) = ui.allocate_exact_size(Vec2::splat(SIDE), Sense::hover());
            let corner = rect.min.round_to_pixels(ui.pixels_per_point());
            let image = Rect::from_min_size(corner, rect.size());
            view.gallery.paint(ui, index, image);
            style::name(&response, Role::Image, "Image, enlarged");
            ui.vertical(|ui| {
                match suggestion {
                    Some(suggestion) => {
                        let said = view.answers.get(&sample.index).copied();
                        choice = question(ui, &sample, suggestion, &view.classes, said);
                    }
                    None => facts(ui, &sample, &view.classes),
                }
                if let Some(image) = filter::hard(&sample, view.record.as_ref()) {
                    ui.add_space(style::GAP / 2.0);
                    hard(
                        ui,
                        image,
                        view.record.as_ref().map_or(0, |card| card.runs.len()),
                    );
                }
                ui.add_space(style::GAP / 2.0);
                style::weak(ui, format!("Image {} ({})", sample.index, split.label()));
            });
        });
        ui.add_space(style::GAP);
        let position = format!("{} of {}", position + 1, images.len());
        let next = if suggestion.is_some() { "Skip" } else { "Next" };
        choice.or(buttons(ui, &position, before, (next, after)))
    });
    let key = |key| {
        ui.ctx()
            .input_mut(|input| input.consume_key(Modifiers::NONE, key))
    };
    let by_key = if key(Key::ArrowLeft) {
        before.map(Choice::Show)
    } else if key(Key::ArrowRight) {
        after.map(Choice::Show)
    } else if let Some(suggestion) = suggestion {
        let wrong = key(WRONG).then_some(Choice::Answer(suggestion.label));
        wrong.or_else(|| key(RIGHT).then_some(Choice::Answer(sample.label)))
    } else {
        None
    };
    view.opened = match modal.inner.or(by_key) {
        Some(Choice::Close) => None,
        Some(Choice::Show(index)) => Some(index),
        Some(Choice::Answer(label)) => {
            view.answers.insert(sample.index, label);
            after.or(Some(index))
        }
        None => Some(index).filter(|_| !modal.should_close()),
    };
}

fn facts(ui: &mut Ui, sample: &Sample, classes: &Classes) {
    let [answer, label] = [sample.answer, sample.label].map(|class| classes.name(class));
    if sample.is_correct() {
        ui.heading(format!("{answer}, correct"));
    } else {
        ui.heading(format!("Classified as {answer} instead of {label}"));
    }
    ui.add_space(style::GAP / 2.0);
    ui.label(format!("True {}: {label}", classes.noun()));
    ui.label(format!("Predicted: {answer}"));
    ui.add_space(style::GAP / 2.0);
    probability(ui, answer, sample.confidence);
    if !sample.is_correct() {
        probability(ui, label, sample.label_probability);
    }
}

/// How many of so many runs of a record misclassify the image.
fn hard(ui: &mut Ui, image: &HardImage, runs: usize) {
    let mut text = format!(
        "{}: {} of {} misclassify it, most as {}.",
        filter::HARD,
        image.runs,
        count(runs as u64, "run"),
        image.answer
    );
    if image.doubtful {
        text.push_str(" Its label is doubtful.");
    }
    style::wrapped(ui, text);
}

fn probability(ui: &mut Ui, name: &str, probability: f32) {
    let text = format!("Probability of {name}: {}", whole_percent(probability));
    style::wrapped(ui, text);
}

/// Whether the label is right, with the answer that was given.
fn question(
    ui: &mut Ui,
    sample: &Sample,
    suggestion: Suggestion,
    classes: &Classes,
    said: Option<u8>,
) -> Option<Choice> {
    let [label, suggested] = [sample.label, suggestion.label].map(|class| classes.name(class));
    ui.heading("Is this label right?");
    ui.add_space(style::GAP / 2.0);
    style::wrapped(ui, format!("Label: {label}"));
    style::wrapped(ui, format!("Suggestion: {suggested}"));
    ui.add_space(style::GAP / 2.0);
    probability(ui, suggested, suggestion.probability);
    probability(ui, label, sample.label_probability);
    ui.add_space(style::GAP);
    let wrong = match suggested {
        "8" if classes.are_digits() => "It is an 8".to_owned(),
        digit if classes.are_digits() => format!("It is a {digit}"),
        name => format!("It is {name}"),
    };
    let mut choice = None;
    for (text, key, answer) in [
        ("The label is right".to_owned(), RIGHT, sample.label),
        (wrong, WRONG, suggestion.label),
    ] {
        let button = style::toggle(text, said == Some(answer)).shortcut_text(key.name());
        if ui.add(button).clicked() {
            choice = Some(Choice::Answer(answer));
        }
    }
    choice
}

fn buttons(
    ui: &mut Ui,
    position: &str,
    before: Option<usize>,
    (next, after): (&str, Option<usize>),
) -> Option<Choice> {
    let mut choice = None;
    ui.horizontal(|ui| {
        if ui.add(style::secondary_button("Close")).clicked() {
            choice = Some(Choice::Close);
        }
        for (button, index) in [
            (style::secondary_button("Previous"), before),
            (style::primary_button(next), after),
        ] {
            if ui.add_enabled(index.is_some(), button).clicked() {
                choice = index.map(Choice::Show);
            }
        }
        ui.weak(position);
    });
    choice
}
