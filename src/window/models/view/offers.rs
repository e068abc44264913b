//! What can be done with a model: the most usual on one line of buttons, which is in the same place
//! for every model, the rest in a menu.

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{Button, RichText, Ui};

use super::editor::{Editor, First};
use super::{ModelsView, Selected, Shown, details};
use crate::records::{Annotation, Ensemble, ModelRef};
use crate::runs::RunEntry;
use crate::window::shell::shortcuts;
use crate::window::style::icons::Icon;
use crate::window::{
    Action, DrawAction, ModelsAction, NOT_TRAINABLE, Pushes as _, Screen, TrainAction, style,
};

pub struct Offer {
    label: String,
    about: &'static str,
    why_not: Option<&'static str>,
    actions: Vec<Action>,
}

impl Offer {
    fn new(label: impl Into<String>, about: &'static str, action: impl Into<Action>) -> Self {
        Self {
            label: label.into(),
            about,
            why_not: None,
            actions: vec![action.into()],
        }
    }

    fn unless(mut self, obstacle: bool, why_not: &'static str) -> Self {
        if obstacle {
            self.why_not = Some(why_not);
        }
        self
    }

    /// Draws it as this button; true once it was clicked.
    fn show(&self, ui: &mut Ui, button: Button<'_>, actions: &mut Vec<Action>) -> bool {
        let clicked = style::ask(ui, button, self.why_not, self.about).clicked();
        if clicked {
            actions.extend(self.actions.iter().cloned());
        }
        clicked
    }
}

/// Drawing with any model, and exporting it.
pub fn of_any(model: &ModelRef) -> [Offer; 2] {
    let about = "Draw digits and see this model recognize them";
    let draw = Offer::new("Draw with it", about, DrawAction::DrawWith(model.clone()));
    let about = "Export as ONNX, PyTorch, safetensors, a candle program, a model card or a report";
    let export = Offer::new("Export…", about, ModelsAction::OpenExport(model.clone()));
    [draw, export]
}

/// The most usual of what can be done with the model of a run.
fn usual(Shown { entry, summary, .. }: Shown) -> Vec<Offer> {
    let folder = || entry.folder.clone();
    let mut offers = Vec::from(of_any(&ModelRef::File(summary.model_path.clone())));
    let about = "Accuracy, confusion matrix and misclassified images";
    offers.push(Offer::new(
        "Results",
        about,
        ModelsAction::ShowResults(folder()),
    ));
    offers
}

/// The other actions on the model of a run.
fn further(
    Shown {
        app,
        entry,
        summary,
        ..
    }: Shown,
) -> Vec<Offer> {
    const TRAINING: &str = "Unavailable while a run is in progress";
    const BUSY: &str = "Unavailable while a run or a sweep is in progress";
    let folder = || entry.folder.clone();
    let training = app.ctx.is_training();
    let with_ensemble = |ensemble: Ensemble| {
        let (label, about) = ensemble_button(&ensemble);
        Offer::new(
            label,
            about,
            DrawAction::DrawWith(ModelRef::Ensemble(ensemble)),
        )
    };
    let ensembles = app.models.ensembles_of(summary).into_iter();
    let mut offers: Vec<Offer> = ensembles.map(with_ensemble).collect();
    let about = "Compare the curves, settings and accuracy of this model with others";
    offers.push(Offer::new(
        "Compare…",
        about,
        ModelsAction::OpenComparison(folder()),
    ));
    let about = "Set up a run that starts from these weights, at a tenth of the learning rate, on any data set";
    let fine_tune = Offer::new("Fine-tune", about, TrainAction::TrainFurther(folder()))
        .unless(training, TRAINING)
        .unless(!summary.config.model.is_trainable(), NOT_TRAINABLE);
    // How imported weights were trained is not known.
    if summary.epochs.is_empty() {
        offers.push(fine_tune);
    } else {
        let about = "Loss and accuracy during training, on the Train screen";
        let curves = Offer::new("Curves", about, TrainAction::ShowCurves(folder()));
        let about = "Set up a run with these settings";
        let configure = TrainAction::Configure(Box::new(summary.config.clone()));
        let mut reuse = Offer::new("Reuse settings", about, configure);
        reuse.actions.push(Action::Show(Screen::Train));
        let about = "Train it again with the same settings and seed, and check whether the weights are bit-identical";
        let reproduce = Offer::new("Reproduce", about, ModelsAction::Reproduce(folder()));
        let reproduce = reproduce.unless(app.ctx.is_at_long_work(), BUSY);
        offers.extend([
            curves.unless(training, TRAINING),
            fine_tune,
            reuse,
            reproduce,
        ]);
    }
    let about = "Show the files of this run";
    offers.push(Offer::new(
        "Open folder",
        about,
        Action::OpenFolder(folder()),
    ));
    offers
}

/// Draws these as buttons of one height, the first as the main one.
pub fn buttons(ui: &mut Ui, offers: &[Offer], actions: &mut Vec<Action>) {
    for (index, offer) in offers.iter().enumerate() {
        let button = match index {
            0 => style::primary_button(offer.label.as_str()),
            _ => style::secondary_button(offer.label.as_str()),
        };
        offer.show(ui, button, actions);
    }
}

/// Draws the buttons of a run's model, and after them the menu with the rest.
pub fn of_run(ui: &mut Ui, shown: Shown, view: &mut ModelsView, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        buttons(ui, &usual(shown), actions);
        let (button, _) = MenuButton::from_button(style::icon_button(Icon::More))
            .ui(ui, |ui| more(ui, shown, view, actions));
        button
            .accessible_name("More")
            .on_hover_text("Curves, fine-tuning, name, note, tags, deleting and more");
    });
}

/// The menu of a right click on a run's card: all actions.
pub fn context_menu(ui: &mut Ui, shown: Shown, view: &mut ModelsView, actions: &mut Vec<Action>) {
    let entry = shown.entry;
    show_all(ui, &usual(shown), entry, view, actions);
    ui.separator();
    let starred = entry.annotation.starred;
    ui.button(if starred { "Remove the star" } else { "Star" })
        .pushes(actions, || details::star(entry));
    more(ui, shown, view, actions);
}

/// These as entries of a menu; the run that one is for is selected.
fn show_all(
    ui: &mut Ui,
    offers: &[Offer],
    entry: &RunEntry,
    view: &mut ModelsView,
    actions: &mut Vec<Action>,
) {
    for offer in offers {
        if offer.show(ui, Button::new(offer.label.as_str()), actions) {
            view.selected = Some(Selected::Run(entry.folder.clone()));
        }
    }
}

/// The menu of what is done more seldom; deleting is the last, and apart from the others.
fn more(ui: &mut Ui, shown: Shown, view: &mut ModelsView, actions: &mut Vec<Action>) {
    let entry = shown.entry;
    let Annotation { note, tags, .. } = &entry.annotation;
    let rename = Button::new("Rename…").shortcut_text(ui.ctx().format_shortcut(&shortcuts::RENAME));
    let note = if note.is_empty() {
        "Add a note…"
    } else {
        "Edit the note…"
    };
    let tags = if tags.is_empty() {
        "Add tags…"
    } else {
        "Edit the tags…"
    };
    for (button, first) in [
        (rename, First::Name),
        (Button::new(note), First::Note),
        (Button::new(tags), First::Tags),
    ] {
        if ui.add(button).clicked() {
            view.editor = Editor::open(entry, first);
        }
    }
    ui.separator();
    show_all(ui, &further(shown), entry, view, actions);
    ui.separator();
    let delete = RichText::new("Delete…").color(style::palette(ui).bad);
    if ui.button(delete).clicked() {
        view.selected = Some(Selected::Run(entry.folder.clone()));
        view.confirming = Some(entry.folder.clone());
    }
}

/// The label and the tooltip of the button that draws with this ensemble.
pub fn ensemble_button(ensemble: &Ensemble) -> (String, &'static str) {
    match ensemble.dropout_passes {
        None if ensemble.is_posterior() => (
            format!("Use {} posterior samples", ensemble.models.len()),
            "Average the predictions of the weights that Langevin dynamics sampled. Draw shows how much they disagree, which measures uncertainty",
        ),
        None => (
            format!("Use all {} together", ensemble.models.len()),
            "Average the predictions of these models. Draw shows how much they disagree, which measures uncertainty",
        ),
        Some(_) => (
            "Use with dropout".to_owned(),
            "Keep dropout on, and average 50 predictions (Monte Carlo dropout). Draw shows how much they disagree, which measures uncertainty",
        ),
    }
}
