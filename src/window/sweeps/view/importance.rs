//! How much each setting matters, as bars.

use eframe::egui::{
    Align2, Label, Rect, RichText, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2,
};

use crate::window::SweepView;
use crate::window::style;

/// The width of the names and of the figures, in points.
const NAME: f32 = 124.0;
const FIGURE: f32 = 48.0;

/// Draws them, the largest first.
pub fn show(ui: &mut Ui, sweep: &SweepView) {
    let about = "How much the best quarter of the trials differs from all trials in each setting (PED-ANOVA, Watanabe et al. 2023). \
                 Settings are looked at one by one: what two do only together is not seen";
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Importance of each setting").strong())
            .on_hover_text(about);
        ui.label(
            RichText::new("by the best quarter of the trials")
                .weak()
                .small(),
        )
        .on_hover_text(about);
    });
    let Some(importance) = &sweep.importance else {
        ui.add(
            Label::new(style::hint(
                "Shown once 8 trials have ended and their accuracies differ.",
            ))
            .wrap(),
        );
        return;
    };
    let mut bars: Vec<(&'static str, f64)> = sweep
        .definition
        .space
        .iter()
        .zip(importance)
        .map(|(dimension, share)| (dimension.setting.label(), *share))
        .collect();
    bars.sort_by(|a, b| b.1.total_cmp(&a.1));
    let palette = style::palette(ui);
    let font = TextStyle::Body.resolve(ui.style());
    for (name, share) in bars {
        let (rect, response) = ui.allocate_exact_size(
            vec2(ui.available_width(), ui.spacing().interact_size.y * 0.8),
            Sense::hover(),
        );
        let figure = format!("{:.0} %", share * 100.0);
        let middle = rect.center().y;
        let painter = ui.painter();
        painter.text(
            pos2(rect.left(), middle),
            Align2::LEFT_CENTER,
            name,
            font.clone(),
            palette.ink,
        );
        let track = Rect::from_min_max(rect.min + vec2(NAME, 3.0), rect.max - vec2(FIGURE, 3.0));
        style::bar(painter, track, share as f32, palette.accent, palette);
        painter.text(
            pos2(rect.right(), middle),
            Align2::RIGHT_CENTER,
            &figure,
            font.clone(),
            palette.ink,
        );
        let named = format!("Importance of {}", name.to_lowercase());
        response.widget_info(|| WidgetInfo {
            current_text_value: Some(figure.clone()),
            ..WidgetInfo::labeled(Role::ProgressIndicator, true, &named)
        });
    }
}
