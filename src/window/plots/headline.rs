//! What stands above the plots: which run they are of, its accuracy in large figures, and beside
//! that how far it is or what to do with its model.

use eframe::egui::{Align, Label, Layout, RichText, TextStyle, TextWrapMode, Ui, WidgetText, vec2};

use crate::records::{ModelRef, RunSummary};
use crate::window::style;
use crate::window::{Action, App, Headline, Phase, RunView};

/// Below this width, in points, only the most important is shown.
const COMPACT: f32 = 620.0;
/// Width of the accuracy, so that nothing beside it moves when it gets a digit more.
const ACCURACY_WIDTH: f32 = 140.0;
const ACCURACY_WIDTH_COMPACT: f32 = 120.0;
/// The least width of the run's name, in points.
const LEAST_TITLE: f32 = 120.0;
/// Widths of the epoch, the time left and the speed.
const PROGRESS_WIDTHS: [f32; 3] = [92.0, 116.0, 128.0];

/// Draws it. `training` is the training accuracy, from 0 to 1.
pub fn show(
    ui: &mut Ui,
    app: &App,
    run: &RunView,
    training: Option<f64>,
    actions: &mut Vec<Action>,
) {
    let Some(headline) = run.headline(training) else {
        return;
    };
    let compact = ui.available_width() < COMPACT;
    let saved = if let Phase::Finished(summary) = &run.phase {
        app.saved_model_name(&summary.model_path)
    } else {
        None
    };
    caption(ui, saved.unwrap_or(&run.title()), &headline);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP;
        let size = vec2(
            if compact {
                ACCURACY_WIDTH_COMPACT
            } else {
                ACCURACY_WIDTH
            },
            style::HEADLINE_HEIGHT,
        );
        ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
            ui.set_min_size(size);
            let value = RichText::new(&headline.value)
                .size(style::HEADLINE)
                .strong();
            ui.add(Label::new(value).extend())
                .on_hover_text(headline.about);
        });
        ui.allocate_ui_with_layout(
            vec2(ui.available_width(), size.y),
            Layout::left_to_right(Align::Center),
            |ui| {
                if let Phase::Finished(summary) = &run.phase {
                    next(ui, run, summary, compact, actions);
                } else {
                    progress(ui, run, compact);
                }
            },
        );
    });
    if let Some(note) = headline.note {
        ui.add(Label::new(style::hint(note)).wrap());
    }
}

/// The run's name, and which accuracy the figure below is. The name is cut if there is no room for
/// both.
fn caption(ui: &mut Ui, title: &str, headline: &Headline) {
    let Headline {
        name,
        measured,
        about,
        ..
    } = headline;
    ui.horizontal(|ui| {
        let measured = WidgetText::from(style::hint(format!("{name} {measured}")));
        let measured = measured.into_galley(
            ui,
            Some(TextWrapMode::Extend),
            f32::INFINITY,
            TextStyle::Small,
        );
        let room = ui.available_width() - measured.size().x - ui.spacing().item_spacing.x;
        ui.scope(|ui| {
            ui.set_max_width(room.max(LEAST_TITLE));
            ui.add(Label::new(RichText::new(title).strong()).truncate());
        });
        ui.add(Label::new(measured)).on_hover_text(*about);
    });
}

fn progress(ui: &mut Ui, run: &RunView, compact: bool) {
    let progress_figures = run.progress_figures();
    if progress_figures.is_empty() {
        ui.add(Label::new(run.state()).wrap());
    }
    // The speed also stands in the run panel.
    let shown = if compact { 2 } else { PROGRESS_WIDTHS.len() };
    for ((name, value), width) in progress_figures
        .into_iter()
        .zip(PROGRESS_WIDTHS)
        .take(shown)
    {
        let size = vec2(width, style::HEADLINE_HEIGHT);
        ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
            ui.set_min_size(size);
            ui.spacing_mut().item_spacing.y = 3.0;
            ui.label(style::hint(name));
            ui.add(Label::new(RichText::new(value).size(style::HEADLINE_BESIDE)).extend());
        });
    }
}

/// What to do with a finished run's model.
fn next(
    ui: &mut Ui,
    run: &RunView,
    summary: &RunSummary,
    compact: bool,
    actions: &mut Vec<Action>,
) {
    ui.spacing_mut().item_spacing.x = 8.0;
    let model = || ModelRef::File(summary.model_path.clone());
    if ui
        .add(style::primary_button(ui, "Draw with it"))
        .on_hover_text("Draw digits and see this model recognise them")
        .clicked()
    {
        actions.push(Action::DrawWith(model()));
    }
    let about = "The test images it got wrong, and which digits it confuses";
    if ui
        .add(style::secondary_button("See its mistakes"))
        .on_hover_text(about)
        .clicked()
    {
        actions.push(Action::ShowResults(summary.folder.clone()));
    }
    if ui
        .add(style::secondary_button("Export…"))
        .on_hover_text("Save this model for other programs")
        .clicked()
    {
        actions.extend([
            Action::ShowModel(summary.folder.clone()),
            Action::OpenExport(model()),
        ]);
    }
    if !compact {
        ui.add(Label::new(style::hint(run.outcome())).wrap());
    }
}
