//! What can be done with a model: the most usual on one line of buttons, which is in the same place
//! for every model, the rest in a menu.

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{Button, Response, RichText, Ui, vec2};

use super::editor::{Editor, First};
use super::{ModelsView, Selected, details};
use crate::records::{Ensemble, ModelRef, RunSummary};
use crate::runs::RunEntry;
use crate::window::shell::shortcuts;
use crate::window::{
    Action, App, DrawAction, ModelsAction, NOT_TRAINABLE, Pushes as _, Screen, TrainAction, style,
};

/// The button of a model that recognizes the drawings already.
const IN_USE: &str = "In use";
/// The width of the first button, whichever its text, in points.
const FIRST_WIDTH: f32 = 112.0;

/// Something that can be done with a model.
pub struct Offer {
    label: String,
    about: &'static str,
    why_not: Option<&'static str>,
    actions: Vec<Action>,
}

impl Offer {
    fn new(label: impl Into<String>, about: &'static str, action: Action) -> Self {
        Self {
            label: label.into(),
            about,
            why_not: None,
            actions: vec![action],
        }
    }

    fn unless(self, obstacle: bool, why_not: &'static str) -> Self {
        Self {
            why_not: if obstacle {
                Some(why_not)
            } else {
                self.why_not
            },
            ..self
        }
    }

    /// Draws it as this button; true once it was clicked.
    fn show(&self, ui: &mut Ui, button: Button<'_>, actions: &mut Vec<Action>) -> bool {
        let response: Response = ui.add_enabled(self.why_not.is_none(), button);
        let response = response
            .on_hover_text(self.about)
            .on_disabled_hover_text(self.why_not.unwrap_or_default());
        if response.clicked() {
            actions.extend(self.actions.iter().cloned());
        }
        response.clicked()
    }
}

/// Drawing with any model, and exporting it.
fn of_any(app: &App, model: &ModelRef) -> [Offer; 2] {
    let about = "Export as ONNX, PyTorch, safetensors, a candle program, a model card or a report";
    let draw = if app.ctx.is_in_use(model) {
        Offer::new(
            IN_USE,
            "This model recognizes your drawings. Go to Draw",
            Action::Show(Screen::Draw),
        )
    } else {
        Offer::new(
            "Draw with it",
            "Draw digits and see this model recognize them",
            Action::Draw(DrawAction::DrawWith(model.clone())),
        )
    };
    [
        draw,
        Offer::new(
            "Export…",
            about,
            Action::Models(ModelsAction::OpenExport(model.clone())),
        ),
    ]
}

/// The most usual of what can be done with the starter model.
pub fn of_starter(app: &App) -> Vec<Offer> {
    of_any(app, &ModelRef::Starter).into()
}

/// The most usual of what can be done with the model of a run.
fn usual(app: &App, entry: &RunEntry, summary: &RunSummary) -> Vec<Offer> {
    let folder = || entry.folder.clone();
    let mut offers = Vec::from(of_any(app, &ModelRef::File(summary.model_path.clone())));
    offers.extend([
        Offer::new("Results", "Accuracy, confusion matrix and misclassified images", Action::Models(ModelsAction::ShowResults(folder()))),
        Offer::new(
            "Compare…",
            "Curves, settings and accuracies of this model beside those of others, and whether one of them is better",
            Action::Models(ModelsAction::OpenComparison(folder())),
        ),
    ]);
    offers
}

/// What else can be done with the model of a run.
fn further(app: &App, entry: &RunEntry, summary: &RunSummary) -> Vec<Offer> {
    const TRAINING: &str = "Unavailable while a run is in progress";
    let folder = || entry.folder.clone();
    let training = app.ctx.is_training();
    let ensembles = app
        .models
        .ensembles_of(summary)
        .into_iter()
        .map(|ensemble| {
            let (label, about) = ensemble_button(&ensemble);
            Offer::new(
                label,
                about,
                Action::Draw(DrawAction::DrawWith(ModelRef::Ensemble(ensemble))),
            )
        });
    let mut offers: Vec<Offer> = ensembles.collect();
    let fine_tune = "Set up a run that starts from these weights, at a tenth of the learning rate, on any data set";
    let fine_tune = Offer::new(
        "Fine-tune",
        fine_tune,
        Action::Train(TrainAction::TrainFurther(folder())),
    );
    let fine_tune = fine_tune
        .unless(training, TRAINING)
        .unless(!summary.config.model.is_trainable(), NOT_TRAINABLE);
    // How imported weights were trained is not known.
    if summary.epochs.is_empty() {
        offers.push(fine_tune);
    } else {
        let curves = "Loss and accuracy during training, on the Train screen";
        let reproduce = "Train it again with the same settings and seed, and see whether the weights come out the same, bit for bit";
        let mut reuse = Offer::new(
            "Reuse settings",
            "Set up a run with these settings",
            Action::Train(TrainAction::Configure(Box::new(summary.config.clone()))),
        );
        reuse.actions.push(Action::Show(Screen::Train));
        offers.extend([
            Offer::new(
                "Curves",
                curves,
                Action::Train(TrainAction::ShowCurves(folder())),
            )
            .unless(training, TRAINING),
            fine_tune,
            reuse,
            Offer::new(
                "Reproduce",
                reproduce,
                Action::Models(ModelsAction::Reproduce(folder())),
            )
            .unless(
                training || app.ctx.is_sweeping(),
                "Unavailable while a run or a sweep is in progress",
            ),
        ]);
    }
    offers.push(Offer::new(
        "Open folder",
        "Show the files of this run",
        Action::OpenFolder(folder()),
    ));
    offers
}

/// Draws these as buttons of one height, the first as the main one.
pub fn buttons(ui: &mut Ui, offers: &[Offer], actions: &mut Vec<Action>) {
    for (index, offer) in offers.iter().enumerate() {
        let button = match index {
            0 if offer.label == IN_USE => {
                style::secondary_button(IN_USE).min_size(vec2(FIRST_WIDTH, style::BUTTON_HEIGHT))
            }
            0 => style::primary_button(ui, offer.label.as_str())
                .min_size(vec2(FIRST_WIDTH, style::BUTTON_HEIGHT)),
            _ => style::secondary_button(offer.label.as_str()),
        };
        offer.show(ui, button, actions);
    }
}

/// Draws the buttons of a run's model, and after them the menu with the rest.
pub fn of_run(
    ui: &mut Ui,
    app: &App,
    entry: &RunEntry,
    summary: &RunSummary,
    view: &mut ModelsView,
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        buttons(ui, &usual(app, entry, summary), actions);
        MenuButton::from_button(style::secondary_button("More"))
            .ui(ui, |ui| more(ui, app, entry, summary, view, actions));
    });
}

/// What a right click on a run's card offers: all of it.
pub fn context_menu(
    ui: &mut Ui,
    app: &App,
    entry: &RunEntry,
    summary: &RunSummary,
    view: &mut ModelsView,
    actions: &mut Vec<Action>,
) {
    for offer in usual(app, entry, summary) {
        if offer.show(ui, Button::new(offer.label.as_str()), actions) {
            view.selected = Some(Selected::Run(entry.folder.clone()));
        }
    }
    ui.separator();
    ui.button(if entry.annotation.starred {
        "Remove the star"
    } else {
        "Star"
    })
    .pushes(actions, || details::star(entry));
    more(ui, app, entry, summary, view, actions);
}

/// The menu of what is done more seldom; deleting is the last, and apart from the others.
fn more(
    ui: &mut Ui,
    app: &App,
    entry: &RunEntry,
    summary: &RunSummary,
    view: &mut ModelsView,
    actions: &mut Vec<Action>,
) {
    let rename = Button::new("Rename…").shortcut_text(ui.ctx().format_shortcut(&shortcuts::RENAME));
    let (note, tags) = (
        Button::new(details::note_label(entry)),
        Button::new(details::tags_label(entry)),
    );
    for (button, first) in [
        (rename, First::Name),
        (note, First::Note),
        (tags, First::Tags),
    ] {
        if ui.add(button).clicked() {
            view.editor = Editor::open(entry, first);
        }
    }
    ui.separator();
    for offer in further(app, entry, summary) {
        if offer.show(ui, Button::new(offer.label.as_str()), actions) {
            view.selected = Some(Selected::Run(entry.folder.clone()));
        }
    }
    ui.separator();
    if ui
        .button(RichText::new("Delete…").color(style::palette(ui).bad))
        .clicked()
    {
        view.selected = Some(Selected::Run(entry.folder.clone()));
        view.confirming = Some(entry.folder.clone());
    }
}

/// What the button that draws with this ensemble says, and what it is for.
pub fn ensemble_button(ensemble: &Ensemble) -> (String, &'static str) {
    match ensemble.dropout_passes {
        None if ensemble.is_posterior() => (
            format!("Use {} posterior samples", ensemble.models.len()),
            "Average the probabilities of the samples of the weights that Langevin dynamics drew. Draw shows how much they disagree, and so how unsure the model is",
        ),
        None => (
            format!("Use all {} together", ensemble.models.len()),
            "Average the probabilities of these models. Draw shows how much they disagree, and so how unsure they are",
        ),
        Some(_) => (
            "Use with dropout".to_owned(),
            "Keep dropout on, and average 50 predictions (Monte Carlo dropout). Draw shows how much they disagree, and so how unsure the model is",
        ),
    }
}
