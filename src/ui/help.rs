//! Owns the help in place: beside each panel's heading a question mark that opens two or three sentences on what the panel is for.
//! Must not explain single controls: hovering them does.

use eframe::egui::{Align, Button, Label, Layout, RichText, Ui, containers::menu::MenuButton, vec2};

use super::style;

/// Width and height of the question mark.
const SIDE: f32 = 24.0;

/// What can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The settings of a run.
    Settings,
    /// The curves.
    Plots,
    /// The canvas and the answer.
    Draw,
    /// What was trained.
    Models,
    /// What a model gets wrong.
    Results,
    /// What the machine has.
    Hardware,
}

impl Topic {
    const fn title(self) -> &'static str {
        match self {
            Self::Settings => "Setting up a run",
            Self::Plots => "Reading the curves",
            Self::Draw => "Drawing a digit",
            Self::Models => "Your models",
            Self::Results => "What a model gets wrong",
            Self::Hardware => "Your machine",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Settings => {
                "Choose pictures to learn from and a preset, and press Start: the network looks at every picture once an epoch, and after each \
                 batch of them its weights are changed so that it would have been a little less wrong. \
                 What can be read from the settings before it starts, how long it takes and how much memory, stands below the presets."
            }
            Self::Plots => {
                "The loss says how surprised the network is by the right answers and should fall; the accuracy is the share it reads rightly \
                 and should rise. Validation pictures are never learned from: when their curve turns while that of training goes on, \
                 the network begins to learn its pictures by heart. Point at a curve to read its values, drag to move, scroll to come closer."
            }
            Self::Draw => {
                "Write a digit from 0 to 9, as large as the canvas, with mouse, finger or pen. The picture of 28 by 28 pixels is what \
                 the network is shown, and the bars say how likely it takes each digit to be. During a run its newest weights read, \
                 so you can see them learn."
            }
            Self::Models => {
                "Every finished run is kept here with its weights, its settings and its curves. Choose one to see how it learned, \
                 to draw with it, or to measure it; a run that broke off can go on from its last full epoch."
            }
            Self::Results => {
                "A model is measured on pictures it has never seen. Each row of the matrix is a digit, each column an answer: \
                 what stands beside the diagonal was confused, and choosing such a cell shows those pictures. \
                 The interval says how far the accuracy may be off because there are only so many test pictures."
            }
            Self::Hardware => {
                "ComparisonKind training can use here, and whether it computes rightly: the check compares every operation and its gradient with \
                 results that are known. The benchmark measures how fast it is; afterwards the run panel can say how long a run will take."
            }
        }
    }
}

/// A row with the question mark at its right end.
pub fn beside(ui: &mut Ui, topic: Topic, start: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        // The mark has its room before what may be long.
        let room = ui.available_width() - SIDE - ui.spacing().item_spacing.x;
        ui.scope(|ui| {
            ui.set_max_width(room);
            start(ui);
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| button(ui, topic));
    });
}

/// The question mark; what it opens goes when something else is clicked, or Escape is pressed.
pub fn button(ui: &mut Ui, topic: Topic) {
    let button = Button::new(RichText::new("?").strong()).small().min_size(vec2(SIDE, SIDE)).corner_radius(SIDE / 2.0);
    let (response, _) = MenuButton::from_button(button).ui(ui, |ui| {
        ui.set_max_width(style::HELP_WIDTH);
        // A menu stretches what is in it; text is better ragged.
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.label(RichText::new(topic.title()).strong());
            ui.add(Label::new(topic.text()).wrap());
        });
    });
    response.on_hover_text(topic.title()).accessible_name(format!("Help: {}", topic.title()));
}
