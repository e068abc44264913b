//! A block on its card, with a picture of the size of its output.

use eframe::egui::{
    Align2, Painter, Pos2, Rect, Response, RichText, Sense, Stroke, StrokeKind, TextStyle,
    TextWrapMode, Ui, WidgetText, pos2, vec2,
};

use crate::run_config::LayerOutput;
use crate::window::style::{self, SemiBold as _};
use crate::window::train::setup::size;

/// The width of a card, in points.
pub const WIDTH: f32 = 138.0;
const MARGIN: f32 = 9.0;
/// The lines below its name.
const LINES: usize = 3;
/// The side of the picture below them, in points.
const PICTURE: f32 = 36.0;

/// A card with a name, lines of text, and below them the size of a layer's output.
pub struct Card<'a> {
    pub name: &'a str,
    pub lines: &'a [String],
    pub output: Option<LayerOutput>,
}

impl Card<'_> {
    /// Where it is, and what happened to it.
    pub fn show(&self, ui: &mut Ui, sense: Sense) -> (Rect, Response) {
        let small = ui.text_style_height(&TextStyle::Small) + 2.0;
        let body = ui.text_style_height(&TextStyle::Body);
        let height = 3.0 * MARGIN + body + LINES as f32 * small + PICTURE;
        let (rect, response) = ui.allocate_exact_size(vec2(WIDTH, height), sense);
        let palette = style::palette(ui);
        style::paper(ui.painter(), rect, style::RADIUS_SMALL, palette);
        // Painted, since the card itself has a name for screen readers.
        let mut at = rect.min + vec2(MARGIN, MARGIN);
        let mut line = |text: RichText, color| {
            let wrap = Some(TextWrapMode::Truncate);
            let text = WidgetText::from(text);
            let text = text.into_galley(ui, wrap, WIDTH - 2.0 * MARGIN, TextStyle::Body);
            let height = text.size().y;
            ui.painter().galley(at, text, color);
            at.y += height + 2.0;
        };
        line(RichText::new(self.name).semibold(), palette.ink);
        for text in self.lines {
            line(RichText::new(text).small(), palette.ink);
        }
        if let Some(output) = self.output {
            let corner = rect.left_bottom() + vec2(MARGIN, -MARGIN - PICTURE);
            let picture = Rect::from_min_size(corner, vec2(PICTURE, PICTURE));
            let right = paint(ui.painter(), picture, output, palette);
            let font = TextStyle::Small.resolve(ui.style());
            let at = pos2(right + 8.0, picture.bottom());
            let color = palette.faded;
            ui.painter()
                .text(at, Align2::LEFT_BOTTOM, size(output), font, color);
        }
        (rect, response)
    }
}

/// Paints a layer's output, larger the more numbers it has: maps one behind the other, a row of
/// tokens, or a column of values. Returns its right edge.
fn paint(painter: &Painter, rect: Rect, output: LayerOutput, palette: style::Palette) -> f32 {
    let doublings = |count: u16| f32::from(count).log2().ceil() as usize + 1;
    let outline = Stroke::new(1.0, palette.edge);
    let square = |min: Pos2, side: f32| {
        let square = Rect::from_min_size(min, vec2(side, side));
        painter.rect(square, 1.0, palette.control, outline, StrokeKind::Inside);
        square.right()
    };
    match output {
        LayerOutput::Image { side, channels } => {
            let behind = doublings(channels).min(8) - 1;
            let length = 5.0 + 15.0 * side as f32 / 28.0;
            let mut right = rect.left();
            for index in (0..=behind).rev() {
                let shift = vec2(1.0, -1.0) * (index as f32 * 2.0);
                right = right.max(square(
                    rect.left_bottom() - vec2(0.0, length) + shift,
                    length,
                ));
            }
            right
        }
        LayerOutput::Tokens { tokens, .. } => {
            let count = doublings(u16::try_from(tokens).unwrap_or(u16::MAX)).min(6);
            let at = |index: usize| rect.left_bottom() + vec2(7.0 * index as f32, -18.0);
            for index in 0..count {
                let token = Rect::from_min_size(at(index), vec2(5.0, 18.0));
                painter.rect(token, 1.0, palette.control, outline, StrokeKind::Inside);
            }
            at(count).x
        }
        LayerOutput::Features(count) => {
            for index in 0..doublings(count).min(6) {
                square(
                    rect.left_bottom() - vec2(0.0, 6.0 * (index + 1) as f32),
                    5.0,
                );
            }
            rect.left() + 5.0
        }
    }
}
