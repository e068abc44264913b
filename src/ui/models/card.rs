//! A card in the list of models: network, data, date and accuracy at a glance.

use eframe::egui::{self, Align2, Response, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2};

use crate::app::App;
use crate::records::{ModelRef, RunSummary};
use crate::run_config::RunConfig;
use crate::runs::RunEntry;
use crate::text::format::local_time;
use crate::text::format::percent;
use crate::text::visible;
use crate::ui::style;

/// A card's content.
struct Card {
    title: String,
    line: String,
    /// The accuracy and the set it was measured on.
    accuracy: Option<(String, &'static str)>,
    /// Used for drawings at the moment.
    in_use: bool,
    broken: bool,
}

/// A finished run's card.
pub fn run(ui: &mut Ui, app: &App, entry: &RunEntry, selected: bool) -> Response {
    let card = match &entry.summary {
        Ok(summary) => {
            let mut line = local_time(&summary.finished_at);
            if summary.stopped {
                line += " · stopped";
            }
            if summary.imported.is_some() {
                line += " · imported";
            }
            let reference = ModelRef::File(summary.model_path.clone());
            Card {
                title: title(&summary.config),
                line,
                accuracy: best_accuracy(summary),
                in_use: app.model_in_use.as_ref().is_some_and(|reader| reader.reference == reference),
                broken: false,
            }
        }
        Err(_) => Card {
            title: visible::label(&entry.folder.file_name().unwrap_or(entry.folder.as_os_str()).to_string_lossy()),
            line: "damaged".to_owned(),
            accuracy: None,
            in_use: false,
            broken: true,
        },
    };
    card.show(ui, selected)
}

/// The starter model's card.
pub fn starter(ui: &mut Ui, app: &App, selected: bool) -> Response {
    let in_use = app.model_in_use.as_ref().is_some_and(|reader| reader.reference == ModelRef::Starter);
    let card = Card { title: "Starter model".to_owned(), line: "Included with Inkling".to_owned(), accuracy: None, in_use, broken: false };
    card.show(ui, selected)
}

/// A run's title, network and data: "LeNet-5 on MNIST".
pub fn title(config: &RunConfig) -> String {
    format!("{} on {}", config.model.label(), config.data.label())
}

/// What a run is found by: its title, its date, and the name of its folder.
pub fn searched_text(entry: &RunEntry) -> String {
    let name = entry.folder.file_name().unwrap_or(entry.folder.as_os_str()).to_string_lossy();
    let known =
        entry.summary.as_ref().map_or_else(|_| String::new(), |run| format!("{} {}", title(&run.config), local_time(&run.finished_at)));
    format!("{known} {name}")
}

/// Test accuracy where it was measured, else validation accuracy, else 0.
pub fn accuracy(summary: &RunSummary) -> f64 {
    let validation = || summary.kept().map(|record| f64::from(record.validation_accuracy));
    summary.test.as_ref().map(|test| test.accuracy).or_else(validation).unwrap_or(0.0)
}

/// Test accuracy where it was measured, else validation accuracy.
fn best_accuracy(summary: &RunSummary) -> Option<(String, &'static str)> {
    let tested = summary.test.as_ref().map(|test| (percent(test.accuracy, 2), "test"));
    tested.or_else(|| summary.kept().map(|record| (percent(f64::from(record.validation_accuracy), 2), "validation")))
}

impl Card {
    fn show(self, ui: &mut Ui, selected: bool) -> Response {
        let palette = style::palette(ui);
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 56.0), Sense::click());
        let visuals = ui.visuals();
        let (strong, weak) = (visuals.strong_text_color(), visuals.weak_text_color());
        let fill = if selected {
            palette.accent.gamma_multiply(0.14)
        } else if response.hovered() {
            visuals.widgets.hovered.weak_bg_fill
        } else {
            palette.surface
        };
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let outline = if selected { Stroke::new(1.5, palette.accent) } else { Stroke::new(1.0, palette.line) };
        painter.rect(rect, style::RADIUS, fill, outline, StrokeKind::Inside);
        let inner = rect.shrink2(vec2(12.0, 8.0));
        let (body, small) = (TextStyle::Body.resolve(ui.style()), TextStyle::Small.resolve(ui.style()));
        let mut right = inner.right();
        if let Some((accuracy, kind)) = &self.accuracy {
            let at = painter.text(inner.right_top(), Align2::RIGHT_TOP, accuracy, body.clone(), strong);
            painter.text(inner.right_bottom(), Align2::RIGHT_BOTTOM, kind, small.clone(), weak);
            right = at.left() - 8.0;
        }
        let title_color = if self.broken { palette.bad } else { strong };
        let mut title = egui::text::LayoutJob::simple_singleline(self.title.clone(), body, title_color);
        title.wrap = egui::text::TextWrapping::truncate_at_width((right - inner.left()).max(40.0));
        painter.galley(inner.min, ui.painter().layout_job(title), title_color);
        let line = if self.in_use { format!("{} · in use", self.line) } else { self.line.clone() };
        painter.text(pos2(inner.left(), inner.bottom()), Align2::LEFT_BOTTOM, &line, small, weak);
        if response.has_focus() {
            style::focus_ring(ui, rect);
        }
        let accuracy = self.accuracy.map(|(accuracy, kind)| format!(", {accuracy} {kind} accuracy")).unwrap_or_default();
        let label = format!("{}, {line}{accuracy}", self.title);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, label.clone()));
        response
    }
}
