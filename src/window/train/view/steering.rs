//! The learning rate of the run in progress, to be moved while it trains.

use eframe::egui::{Id, Slider, Ui};

use crate::records::LearningRateChange;
use crate::text::format::{grouped, significant};
use crate::window::{Action, Phase, Pushes as _, RunView, TrainAction, style};

const ABOUT: &str =
    "Multiplies the learning rate from the next step on. The plots mark where you moved it";

/// Draws a slider for the factor, and the rate that it gives. What is dragged counts once it is let
/// go.
pub fn show(ui: &mut Ui, run: &RunView, actions: &mut Vec<Action>) {
    if !matches!(run.phase, Phase::Training | Phase::Paused) {
        return;
    }
    let id = Id::unique(("learning rate", run.id));
    let dragged: Option<f32> = ui.data(|data| data.get_temp(id));
    let mut factor = dragged.unwrap_or(run.rate_factor);
    let label = ui
        .horizontal(|ui| {
            let label = ui.label("Learning rate");
            if let Some(point) = run.history.steps.last() {
                let (rate, step) = (significant(point.learning_rate.into()), grouped(point.step));
                ui.label(style::hint(format!("{rate} at step {step}")));
            }
            label
        })
        .inner;
    ui.horizontal(|ui| {
        let [least, most] = LearningRateChange::FACTORS;
        let slider = Slider::new(&mut factor, least..=most)
            .logarithmic(true)
            .prefix("× ")
            .max_decimals(3);
        let response = ui.add(slider).labelled_by(label.id).on_hover_text(ABOUT);
        if response.dragged() {
            ui.data_mut(|data| data.insert_temp(id, factor));
        } else {
            ui.data_mut(|data| data.remove::<f32>(id));
            if factor != run.rate_factor {
                actions.push(TrainAction::ScaleLearningRate(factor).into());
            }
        }
        if run.rate_factor != 1.0 {
            let reset = style::quiet_button("Reset");
            style::ask(ui, reset, None, "Back to the learning rate of the settings")
                .pushes(actions, || TrainAction::ScaleLearningRate(1.0));
        }
    });
}
