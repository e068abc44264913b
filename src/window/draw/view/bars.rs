//! A bar for the probability of each class: horizontal in the large view, vertical in the compact
//! one. Of many classes, the likeliest are shown.

use eframe::egui::{
    self, Align2, Color32, Rangef, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use crate::records::Prediction;
use crate::run_config::Classes;
use crate::window::style;

/// A probability in few characters, never rounded to certainty: "98%", ">99%", "<1%"; only an
/// exact zero is "0%".
pub fn short_percent(probability: f32) -> String {
    match (probability * 100.0).round() {
        _ if probability <= 0.0 => "0%".to_owned(),
        rounded if rounded >= 100.0 => ">99%".to_owned(),
        rounded if rounded < 1.0 => "<1%".to_owned(),
        rounded => format!("{rounded:.0}%"),
    }
}

/// The least and greatest height of a horizontal bar with the space below it, in points.
pub const ROW: std::ops::RangeInclusive<f32> = 18.0..=64.0;

/// The most bars of the compact view, and the least that have room in the large one.
const MOST_COMPACT: usize = 10;

/// Letters of a name that a vertical bar has room for.
const SHORTENED: usize = 3;

/// Horizontal bars, each a row of the class's name, bar and percentage, in this height. If one of
/// them is `explained`, another can be chosen, and is returned.
pub fn horizontal(
    ui: &mut Ui,
    reading: Option<&Prediction>,
    classes: &Classes,
    height: f32,
    explained: Option<u8>,
) -> Option<u8> {
    let mut chosen = None;
    let bars = bars(reading, classes, (height / *ROW.start()) as usize);
    let row_height = (height / bars.len().max(MOST_COMPACT) as f32)
        .clamp(*ROW.start(), *ROW.end())
        .floor();
    let mut font = egui::TextStyle::Body.resolve(ui.style());
    font.size = font.size.max(row_height * 0.38);
    ui.spacing_mut().item_spacing.y = (row_height * 0.12).clamp(3.0, 6.0);
    let palette = style::palette(ui);
    let width = |name: &str| style::text_width(ui, name, &font);
    // A digit stands in the middle of its place, longer names begin at the left.
    let names = if classes.are_digits() {
        font.size
    } else {
        classes.names().map(width).fold(font.size, f32::max)
    };
    for bar in bars {
        let (rect, response) = ui.allocate_exact_size(
            vec2(
                ui.available_width(),
                row_height - ui.spacing().item_spacing.y,
            ),
            if explained.is_some() {
                Sense::click()
            } else {
                Sense::hover()
            },
        );
        bar.describe(&response);
        let text = bar.text_color(ui);
        let painter = ui.painter();
        let middle = rect.center().y;
        if explained.is_some() {
            let around = rect.expand2(vec2(5.0, 1.0));
            let is_pointed_at = response.hovered() || response.has_focus();
            if is_pointed_at || explained == Some(bar.digit) {
                style::outline(painter, around, 1.5, palette.accent);
            }
            if response.clicked() {
                chosen = Some(bar.digit);
            }
            response
                .on_hover_cursor(egui::CursorIcon::PointingHand)
                .on_hover_text(format!("Why {}, and what would make it one?", bar.name));
        }
        if bar.winner {
            // A triangle as well as a color marks the winner.
            let tip = pos2(rect.left() + 8.0, middle);
            let triangle = vec![tip, tip + vec2(-7.0, -5.0), tip + vec2(-7.0, 5.0)];
            painter.add(Shape::convex_polygon(
                triangle,
                palette.accent,
                Stroke::NONE,
            ));
        }
        let (name, anchor) = if classes.are_digits() {
            (names * 0.5, Align2::CENTER_CENTER)
        } else {
            (0.0, Align2::LEFT_CENTER)
        };
        let at = pos2(rect.left() + 14.0 + name, middle);
        painter.text(at, anchor, bar.name, font.clone(), text);
        let percent_width = font.size * 3.6;
        let track = Rect::from_min_max(
            rect.min + vec2(names + font.size * 0.4 + 14.0, 0.0),
            rect.max - vec2(percent_width, 0.0),
        );
        let track = track.shrink2(vec2(0.0, (track.height() * 0.18).floor()));
        let share = bar.moving_share(ui);
        let painter = ui.painter();
        style::bar(painter, track, share, bar.fill(palette), palette);
        if let Some(deviation) = bar.visible_deviation() {
            let ends = [bar.probability - deviation, bar.probability + deviation]
                .map(|end| track.left() + track.width() * end.clamp(0.0, 1.0));
            let line = Stroke::new(2.0, ui.visuals().strong_text_color());
            painter.hline(Rangef::new(ends[0], ends[1]), middle, line);
            for end in ends {
                painter.vline(
                    end,
                    Rangef::new(
                        middle - track.height() * 0.22,
                        middle + track.height() * 0.22,
                    ),
                    line,
                );
            }
        }
        if bar.is_likely() {
            let at = pos2(rect.right(), middle);
            painter.text(at, Align2::RIGHT_CENTER, bar.percent, font.clone(), text);
        }
    }
    chosen
}

/// Vertical bars with their digits below, or the beginnings of their names, for narrow columns.
pub fn vertical(ui: &mut Ui, reading: Option<&Prediction>, classes: &Classes, height: f32) {
    let palette = style::palette(ui);
    let font = egui::TextStyle::Small.resolve(ui.style());
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let bars = bars(reading, classes, MOST_COMPACT);
    let column = area.width() / bars.len().max(1) as f32;
    for (place, bar) in bars.into_iter().enumerate() {
        let left = area.left() + column * place as f32;
        let cell = Rect::from_min_size(pos2(left, area.top()), vec2(column, height))
            .shrink2(vec2(2.0, 0.0));
        let response = ui.interact(cell, ui.scope_id().with(("bar", bar.digit)), Sense::hover());
        bar.describe(&response);
        let response = response.on_hover_text(format!("{}: {}", bar.name, bar.percent));
        let painter = ui.painter();
        let track = Rect::from_min_max(cell.min, cell.max - vec2(0.0, 16.0));
        painter.rect_filled(track, style::RADIUS_SMALL, palette.groove);
        let share = bar.moving_share(ui);
        if share > 0.0 {
            let top = track.bottom() - (track.height() * share).max(2.0);
            painter.rect_filled(
                Rect::from_min_max(pos2(track.left(), top), track.max),
                style::RADIUS_SMALL,
                bar.fill(palette),
            );
        }
        let color = bar.text_color(ui);
        let name: String = bar.name.chars().take(SHORTENED).collect();
        let at = painter.text(
            pos2(response.rect.center().x, cell.bottom()),
            Align2::CENTER_BOTTOM,
            name,
            font.clone(),
            color,
        );
        if bar.winner {
            painter.hline(
                at.x_range().expand(2.0),
                cell.bottom(),
                Stroke::new(2.0, palette.accent),
            );
        }
    }
}

struct Bar<'a> {
    digit: u8,
    name: &'a str,
    probability: f32,
    percent: String,
    winner: bool,
    /// The standard deviation of an ensemble's predictions.
    deviation: Option<f32>,
}

/// At most this many bars: all classes in their order, or the likeliest, the most
/// likely first.
fn bars<'a>(reading: Option<&Prediction>, classes: &'a Classes, most: usize) -> Vec<Bar<'a>> {
    let most = most.max(MOST_COMPACT);
    let of_class = |values: Option<&Vec<f32>>, class: u8| {
        values.and_then(|values| values.get(usize::from(class)).copied())
    };
    let probability = |class: u8| {
        let probabilities = reading.map(|reading| &reading.probabilities);
        of_class(probabilities, class).unwrap_or_default()
    };
    let uncertainty = reading.and_then(|reading| reading.uncertainty.as_ref());
    let deviations = uncertainty.map(|uncertainty| &uncertainty.deviations);
    let mut shown: Vec<u8> = (0..classes.len() as u8).collect();
    if shown.len() > most {
        shown.sort_by(|a, b| probability(*b).total_cmp(&probability(*a)));
        shown.truncate(most);
    }
    shown
        .into_iter()
        .map(|digit| Bar {
            digit,
            name: classes.name(digit),
            probability: probability(digit),
            percent: reading.map_or_else(String::new, |_| short_percent(probability(digit))),
            winner: reading.is_some_and(|reading| reading.is_digit && reading.digit == digit),
            deviation: of_class(deviations, digit),
        })
        .collect()
}

impl Bar<'_> {
    /// The bar's length: none for what is as good as impossible.
    fn share(&self) -> f32 {
        if self.probability > 0.001 {
            self.probability
        } else {
            0.0
        }
    }

    /// The bar's length on its way to the share, so that the eye can follow it. While the pen
    /// draws, the frames between would hold up the next stroke; while nobody moves the pointer, as
    /// beside a run in progress, they would only take time from training.
    fn moving_share(&self, ui: &Ui) -> f32 {
        let id = ui.scope_id().with(("share", self.digit));
        let moves = ui.input(|input| {
            input.pointer.time_since_last_movement() < 1.0 && !input.pointer.any_down()
        });
        let seconds = if moves { style::motion(ui).calm } else { 0.0 };
        ui.ctx().animate_value_with_time(id, self.share(), seconds)
    }

    /// Whether the percentage is shown: nine of "<1%" would say nothing.
    fn is_likely(&self) -> bool {
        self.probability >= 0.005
    }

    /// The deviation if it can be seen.
    fn visible_deviation(&self) -> Option<f32> {
        self.deviation.filter(|&deviation| deviation >= 0.005)
    }

    const fn fill(&self, palette: style::Palette) -> Color32 {
        if self.winner {
            palette.accent
        } else {
            palette.bar
        }
    }

    fn text_color(&self, ui: &Ui) -> Color32 {
        if self.winner {
            ui.visuals().strong_text_color()
        } else {
            ui.visuals().text_color()
        }
    }

    fn describe(&self, response: &egui::Response) {
        let role = if response.sense.senses_click() {
            Role::Button
        } else {
            Role::Meter
        };
        response.widget_info(|| WidgetInfo {
            current_text_value: Some(match self.visible_deviation() {
                Some(deviation) => format!("{} ± {}", self.percent, short_percent(deviation)),
                None => self.percent.clone(),
            }),
            value: Some(f64::from(self.probability)),
            ..WidgetInfo::labeled(role, true, format!("Probability of {}", self.name))
        });
    }
}
