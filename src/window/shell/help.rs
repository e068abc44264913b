//! In-place help: a question mark beside each panel's heading opens a few sentences on what the
//! panel is for. Single controls are explained by their own tooltips.

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{Align, Button, Label, Layout, RichText, Ui, vec2};

use crate::window::style;
use crate::window::style::SemiBold as _;

/// Width and height of the question mark's button, in points.
const SIDE: f32 = 24.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Settings,
    Plots,
    Sweep,
    Draw,
    Models,
    Results,
    Hardware,
    MyDigits,
}

impl Topic {
    const fn title(self) -> &'static str {
        match self {
            Self::Settings => "Setting up a run",
            Self::Plots => "Reading the curves",
            Self::Sweep => "Searching for better settings",
            Self::Draw => "Drawing a digit",
            Self::Models => "Your models",
            Self::Results => "Evaluation results",
            Self::Hardware => "Your machine",
            Self::MyDigits => "Your own digits",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Settings => {
                "Choose a data set and a preset, then press Start. In each epoch the network sees every training image once; after each batch \
                 the optimizer adjusts the weights to reduce the loss. The estimated training time and memory are shown below the presets."
            }
            Self::Plots => {
                "The loss measures how far the predictions are from the correct answers and should fall; the accuracy is the fraction of images classified correctly and should rise. Validation images are never trained on: if the validation curve gets worse while the \
                 training curve keeps improving, the network is overfitting. Hover over a plot to read its values. Scroll to zoom, drag to \
                 pan, hold Shift and drag (or drag with the right button) to zoom to a box, and double-click or press Fit to see the whole run."
            }
            Self::Sweep => {
                "A sweep trains many short runs, called trials, with settings chosen from ranges, and looks for the highest validation accuracy. This is a hyperparameter search. Poor trials end early, so that good ones get the time; they rank below all that were completed. Every trial is saved when it ends, so a sweep can be resumed after a pause or a crash. The best of many trials looks slightly better on the validation images than it is: to report a figure, retrain it and evaluate it once on the test set."
            }
            Self::Draw => {
                "Draw a digit from 0 to 9 with mouse, finger or pen, filling most of the canvas. The drawing is scaled to an image of 28 × 28 pixels, \
                 which is all the model sees; the bars show the probability it gives to each digit. On the canvas for several digits, a number is read from left to right, one digit at a time. How Inkling sees it shows each step from the drawing to that image, and Why? colors the ink by whether it supports the answer and shows what would make it another digit. You can also drop, paste or open an image. While a model is being trained, \
                 its current weights are used, so you can watch it improve."
            }
            Self::Models => {
                "Every finished run is saved here with its weights, settings and training curves. Select a model to see how it was trained, \
                 to draw with it, to evaluate it or to export it; give it a name, a note or a star to find it again. An interrupted run can be resumed from where it was last saved, or saved as a model after its last completed epoch. The range below a test accuracy is its 95% confidence interval."
            }
            Self::Results => {
                "A model is evaluated on a test set, images it was not trained on. In the confusion matrix each row is a true digit and each \
                 column a predicted one: cells off the diagonal are errors. Select a cell, a bar or a bin of the reliability diagram to see its images. The range below the accuracy is its 95% confidence \
                 interval: how precisely it is known from a test set of this size. The loss is the mean cross-entropy in nats. A model's newest evaluation is saved with it. The reliability diagram shows whether confidence matches accuracy. \
                 Suspected label errors are images that the model clearly takes for another class than they are labeled as: a wrong label, or an error of the model."
            }
            Self::MyDigits => {
                "The drawings you have kept in Draw, by digit; a cross marks those that the model in use misclassifies or rejects. Select one to change its digit, to \
                 open or to delete it. Fine-tuning trains the model for a few seconds on your drawings, mixed with original training data, and uses the result only if accuracy on that data does not drop. As a data set they are called My digits, on the command line mine. They stay on this machine unless you export them, or agree to send them to \
                 another machine that you train on; while one is in use, what you draw on the canvas is recognized there."
            }
            Self::Hardware => {
                "What this machine offers for training. The self-test checks that every operation and its gradient are computed correctly. \
                 The benchmark measures speed; Inkling uses its results to estimate how long a training run takes."
            }
        }
    }
}

/// Lays out `start` in a row with the question mark at its right end.
pub fn beside(ui: &mut Ui, topic: Topic, start: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        // The question mark's space is reserved first: the content may be long.
        let room = ui.available_width() - SIDE - ui.spacing().item_spacing.x;
        ui.scope(|ui| {
            ui.set_max_width(room);
            start(ui);
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| button(ui, topic));
    });
}

/// The question mark; its popup closes on Escape or a click elsewhere.
pub fn button(ui: &mut Ui, topic: Topic) {
    let button = Button::new(RichText::new("?").semibold())
        .small()
        .min_size(vec2(SIDE, SIDE))
        .corner_radius(SIDE / 2.0);
    let (response, _) = MenuButton::from_button(button).ui(ui, |ui| {
        ui.set_max_width(style::HELP_WIDTH);
        // Menus justify their content; running text is left-aligned.
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            style::semibold(ui, topic.title());
            ui.add(Label::new(topic.text()).wrap());
        });
    });
    response
        .on_hover_text(topic.title())
        .accessible_name(format!("Help: {}", topic.title()));
}
