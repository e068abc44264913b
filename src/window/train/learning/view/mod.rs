//! What a run makes of its held-out images while it trains, and its first layer: below the canvas
//! beside the plots.

mod filters;
mod grid;
pub mod preview;
mod start;

use eframe::egui::{Label, RichText, Ui, vec2};

use self::filters::LayerSheet;
use crate::records::JobId;
use crate::window::App;
use crate::window::style;
use crate::window::style::image_sheet::ImageSheet;

#[derive(Debug, Default)]
pub struct LearningPanel {
    shown: Shown,
    selected: Option<usize>,
    /// The images of a run, in a texture.
    images: Option<(JobId, ImageSheet)>,
    layer: Option<LayerSheet>,
    components: Option<LayerSheet>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    Images,
    Filters,
    Start,
}

/// Space for the accuracy of a digit beside its row of images, in points.
const BARS: f32 = 54.0;
/// Lines of small type for what the network says of an image.
const LINES: f32 = 3.0;

/// The height of the panel at this width, in points.
pub fn height(ui: &Ui, width: f32) -> f32 {
    let spacing = ui.spacing();
    spacing.interact_size.y + 3.0 * spacing.item_spacing.y + square(width) + LINES * line(ui)
}

pub fn show(ui: &mut Ui, app: &App, view: &mut LearningPanel) {
    let learning = app.learning();
    let initialized = app
        .train
        .run
        .as_ref()
        .and_then(|run| run.initialization.as_ref().map(|report| (run.id, report)));
    if initialized.is_none() && view.shown == Shown::Start {
        view.shown = Shown::Images;
    }
    ui.horizontal(|ui| {
        let start = "What the weights were before the first step, and why";
        let start = initialized.map(|_| (Shown::Start, "At the start", start));
        for (shown, name, about) in [
            (Shown::Images, "Images", "Held-out images: the network does not train on them. A frame marks those it recognises correctly"),
            (Shown::Filters, "Filters", "The weights of the first layer: blue is positive, orange is negative"),
        ]
        .into_iter()
        .chain(start)
        {
            if ui.add(style::toggle(ui, name, view.shown == shown)).on_hover_text(about).clicked() {
                view.shown = shown;
            }
        }
        // Three buttons leave no room beside them.
        if let (Some(learning), None) = (learning, initialized) {
            ui.add(Label::new(RichText::new(learning.total()).small()).truncate());
        }
    });
    let width = ui.available_width();
    let side = square(width);
    let words = match (learning, view.shown) {
        (_, Shown::Start) => {
            let Some((run, report)) = initialized else {
                return;
            };
            start::show(ui, report, run, &mut view.components, side);
            report.summary()
        }
        (None, _) => {
            ui.allocate_space(vec2(width, side));
            "During a run, 100 images that it does not train on are shown here, and which of them the network recognises.".to_owned()
        }
        (Some(learning), Shown::Images) => {
            grid::show(ui, learning, view, side);
            let selected = view
                .selected
                .map(|index| learning.sentence(index))
                .filter(|sentence| !sentence.is_empty());
            let total =
                initialized.map_or_else(|| "Held-out images".to_owned(), |_| learning.total());
            selected.unwrap_or_else(|| {
                format!("{total}. Select one to see what the network makes of it.")
            })
        }
        (Some(learning), Shown::Filters) => {
            filters::show(ui, learning, &mut view.layer, side);
            learning.layer_sentence().unwrap_or_else(|| {
                "The first layer is shown as soon as the run has taken its first steps.".to_owned()
            })
        }
    };
    // The same space whatever is said, so that nothing moves.
    ui.allocate_ui(vec2(width, LINES * line(ui)), |ui| {
        ui.add(Label::new(style::hint(words)).wrap())
    });
}

/// The side of the ten by ten images.
fn square(width: f32) -> f32 {
    ((width - BARS) / 10.0).floor().clamp(12.0, 36.0) * 10.0
}

fn line(ui: &Ui) -> f32 {
    ui.text_style_height(&eframe::egui::TextStyle::Small)
}
