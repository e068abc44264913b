//! What was read on the canvas for several digits: boxes over the writing, the digits below it, and
//! the number in large type.

use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{
    Align2, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, TextStyle, Ui, Vec2, vec2,
};

use crate::ink::Image;
use crate::notices::verdict::{NumberVerdict, Verdict};
use crate::records::DigitPrediction;
use crate::window::style::SemiBold as _;
use crate::window::style::image_sheet::{self, Cached};
use crate::window::{Action, App, DrawAction, Pushes as _, style};

/// The sides of the digits' images in little and in much room, in points: three, four and five to a
/// pixel.
const SIDES: [f32; 3] = [84.0, 112.0, 140.0];
/// The height of a title on the canvas and of the space around it, in points.
const TITLE_ROW: f32 = 24.0;
/// The least space between a title and the next digit, in points.
const TITLE_GAP: f32 = 8.0;
/// The width of a figure, relative to its height.
const FIGURE: f32 = 0.56;

/// Draws a box around each digit on the canvas or the image at `rect`, with what it was read as. A
/// unit of the digits' bounds is `scale` points, and their ink reaches `reach` points further.
pub fn boxes(ui: &Ui, app: &App, rect: Rect, scale: f32, reach: f32) {
    let palette = style::palette(ui);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let font = TextStyle::Body.resolve(ui.style());
    let around = |digit: &DigitPrediction| {
        let [x, y, width, height] = digit.bounds;
        Rect::from_min_size(rect.min + vec2(x, y) * scale, vec2(width, height) * scale)
            .expand(reach + 3.0)
    };
    let boxes: Vec<Rect> = app.draw.digits(&app.ctx).iter().map(around).collect();
    for (index, (digit, &around)) in app.draw.digits(&app.ctx).iter().zip(&boxes).enumerate() {
        let (color, title, short) = match Verdict::of(&digit.prediction) {
            verdict if digit.prediction.is_digit => (palette.accent, verdict.title(), None),
            verdict => {
                let title = format!("{}, closest {}", verdict.sentence, digit.prediction.name());
                (ui.visuals().weak_text_color(), title, Some("?"))
            }
        };
        let line = if app.draw.chosen(&app.ctx) == Some(index) {
            2.5
        } else {
            1.0
        };
        // A solid background, so that it stands out from a photograph too.
        let ground = palette.paper.gamma_multiply(0.8);
        painter.rect_stroke(
            around,
            style::RADIUS_SMALL,
            Stroke::new(line + 2.0, ground),
            StrokeKind::Outside,
        );
        painter.rect_stroke(
            around.expand(1.0),
            style::RADIUS_SMALL,
            Stroke::new(line, color),
            StrokeKind::Outside,
        );
        // Above the box, or in it if there is no room above.
        let above = around.top() - font.size * 1.3 > rect.top();
        let (at, anchor) = if above {
            (around.left_top() - vec2(0.0, 3.0), Align2::LEFT_BOTTOM)
        } else {
            (around.left_top() + vec2(4.0, 2.0), Align2::LEFT_TOP)
        };
        // The digits below the canvas have the whole title.
        let room = free_width(at.x, around.top(), &boxes)
            .min(rect.right() - at.x)
            .max(TITLE_GAP);
        let mut text = painter.layout_no_wrap(title.clone(), font.clone(), color);
        if text.size().x > room {
            let mut shortened = LayoutJob::simple_singleline(
                short.map_or(title, str::to_owned),
                font.clone(),
                color,
            );
            shortened.wrap = TextWrapping::truncate_at_width(room);
            text = painter.layout_job(shortened);
        }
        let at = anchor.anchor_size(at, text.size());
        painter.rect_filled(at.expand2(vec2(3.0, 0.0)), style::RADIUS_SMALL, ground);
        painter.galley(at.min, text, color);
    }
}

/// The width of a title from `left` on, above or in a box with this `top`, before it meets the next
/// box to the right or its title.
fn free_width(left: f32, top: f32, boxes: &[Rect]) -> f32 {
    let is_beside = |other: &&Rect| {
        other.left() > left && other.top() < top + TITLE_ROW && other.bottom() > top - TITLE_ROW
    };
    let next = boxes
        .iter()
        .filter(is_beside)
        .map(Rect::left)
        .fold(f32::INFINITY, f32::min);
    next - left - TITLE_GAP
}

/// Draws the digits from left to right, each as the model saw it and with its verdict; a click
/// shows its probabilities.
pub fn digits(ui: &mut Ui, app: &App, shown: &mut Cached<Vec<Image>>, actions: &mut Vec<Action>) {
    let digits = app.draw.digits(&app.ctx);
    ui.add_space(style::GAP / 2.0);
    style::section(ui, "Digits");
    if digits.is_empty() {
        let about =
            "Each digit appears here as the model sees it. Click one to see its probabilities.";
        style::weak(ui, about);
        return;
    }
    let images = digits.iter().map(|digit| &digit.prediction.image);
    let sheet = shown.of_images(ui, "digits", images);
    let gap = style::GAP;
    let room = (ui.available_width() / digits.len() as f32 - gap).min(ui.available_height() - 60.0);
    let side = SIDES
        .into_iter()
        .rev()
        .find(|side| *side <= room)
        .unwrap_or(SIDES[0]);
    ScrollArea::horizontal()
        .id_salt("digits")
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = gap;
                for (index, digit) in digits.iter().enumerate() {
                    let verdict = Verdict::of(&digit.prediction);
                    let spoken = format!(
                        "Digit {} of {}: {}",
                        index + 1,
                        digits.len(),
                        verdict.sentence
                    );
                    let [title, detail] = if digit.prediction.is_digit {
                        [verdict.title(), verdict.confidence]
                    } else {
                        [
                            verdict.confidence,
                            format!("closest: {}", digit.prediction.name()),
                        ]
                    };
                    let tile =
                        image_sheet::tile(ui, sheet, index, side, [&title, &detail], &spoken);
                    if app.draw.chosen(&app.ctx) == Some(index) {
                        let image = Rect::from_min_size(tile.rect.min, Vec2::splat(side));
                        style::outline(
                            ui.painter(),
                            image.expand(2.0),
                            2.5,
                            style::palette(ui).accent,
                        );
                    }
                    tile.on_hover_text("Click to see its probabilities")
                        .pushes(actions, || DrawAction::ChooseDigit(index));
                }
            });
        });
}

/// The number in type of this `size`, or smaller if it is long; screen readers announce its
/// changes.
pub fn verdict(ui: &mut Ui, app: &App, size: f32) {
    let digits = app.draw.digits(&app.ctx);
    let palette = style::palette(ui);
    let verdict = NumberVerdict::of(digits);
    let width = ui.available_width();
    let place = style::verdict_row(ui, size, |ui| {
        if digits.is_empty() {
            ui.label(RichText::new("?").size(size).color(palette.faded));
            ui.label(RichText::new("Write a number to see it recognized").weak());
        } else {
            let fitting = width / (FIGURE * digits.len() as f32);
            let number = RichText::new(&verdict.text).size(size.min(fitting));
            ui.label(number.color(palette.accent).semibold());
        }
    });
    let sentence = if digits.is_empty() {
        "nothing drawn yet"
    } else {
        &verdict.sentence
    };
    style::announce_verdict(ui, place, "verdict", Sense::hover(), sentence);
}
