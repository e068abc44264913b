//! Icons from Phosphor (<https://phosphoricons.com>). The font contains those that are named here:
//! `assets/fonts/subset.py` selects them.

use eframe::egui::{
    Align2, Color32, FontId, Painter, Pos2, Rect, Response, RichText, Sense, Shape, Stroke,
    TextStyle, Ui, pos2, vec2,
};

use super::{Palette, fonts, palette};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    Back,
    Balanced,
    Best,
    Clear,
    Compact,
    Compare,
    Copy,
    Done,
    Draw,
    Eraser,
    Favorite,
    FavoriteOff,
    Folder,
    Hardware,
    Import,
    Inside,
    Lessons,
    Menu,
    Models,
    Monitor,
    More,
    MyDigits,
    Note,
    OneEpoch,
    Problem,
    QuickLook,
    Redo,
    Refresh,
    Results,
    Save,
    Sweep,
    Train,
    Undo,
}

impl Icon {
    const fn glyph(self) -> &'static str {
        match self {
            Self::Back => "\u{e058}",
            Self::Balanced => "\u{e750}",
            Self::Best => "\u{e67e}",
            Self::Clear => "\u{e4a6}",
            Self::Compact => "\u{e9c0}",
            Self::Compare => "\u{e150}",
            Self::Copy => "\u{e1ca}",
            Self::Done => "\u{e184}",
            Self::Draw => "\u{e3b4}",
            Self::Eraser => "\u{e21e}",
            Self::Favorite => "\u{f46a}",
            Self::FavoriteOff => "\u{e46a}",
            Self::Folder => "\u{e256}",
            Self::Hardware => "\u{e610}",
            Self::Import => "\u{e20c}",
            Self::Inside => "\u{e74e}",
            Self::Lessons => "\u{e62c}",
            Self::Menu => "\u{e2f0}",
            Self::Models => "\u{e466}",
            Self::Monitor => "\u{e000}",
            Self::More => "\u{e1fe}",
            Self::MyDigits => "\u{e34c}",
            Self::Note => "\u{e2ce}",
            Self::OneEpoch => "\u{e2de}",
            Self::Problem => "\u{e4e0}",
            Self::QuickLook => "\u{e492}",
            Self::Redo => "\u{e08c}",
            Self::Refresh => "\u{e094}",
            Self::Results => "\u{e47c}",
            Self::Save => "\u{e248}",
            Self::Sweep => "\u{e30c}",
            Self::Train => "\u{e156}",
            Self::Undo => "\u{e08a}",
        }
    }

    /// This icon as text of this size, in points, such as in a button.
    pub fn text(self, size: f32) -> RichText {
        RichText::new(self.glyph()).font(FontId::new(size, fonts::icons()))
    }

    /// Paints this icon in the middle of this rectangle, as large as it is high.
    pub fn paint(self, painter: &Painter, rect: Rect, color: Color32) {
        let font = FontId::new(rect.height(), fonts::icons());
        painter.text(
            rect.center(),
            Align2::CENTER_CENTER,
            self.glyph(),
            font,
            color,
        );
    }

    /// The color of what this icon stands for, so that a color is never the only signal.
    const fn color(self, palette: Palette) -> Color32 {
        match self {
            Self::Problem => palette.bad,
            Self::Done => palette.good,
            _ => palette.accent,
        }
    }
}

/// Paints an icon as high as a line of text.
pub fn icon(ui: &mut Ui, icon: Icon) -> Response {
    let side = ui.text_style_height(&TextStyle::Body);
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    icon.paint(ui.painter(), rect, icon.color(palette(ui)));
    response
}

/// Paints Inkling's logo, a drop of ink with its tip up.
pub fn drop(painter: &Painter, center: Pos2, height: f32, color: Color32) {
    let radius = height * 0.34;
    let belly = pos2(center.x, center.y + height * 0.5 - radius);
    let tip = pos2(center.x, center.y - height * 0.5);
    let reach = belly.y - tip.y;
    let (touch, half) = (
        radius * radius / reach,
        radius * (1.0 - (radius / reach).powi(2)).sqrt(),
    );
    painter.circle_filled(belly, radius, color);
    let side = belly.y - touch;
    painter.add(Shape::convex_polygon(
        vec![tip, pos2(belly.x + half, side), pos2(belly.x - half, side)],
        color,
        Stroke::NONE,
    ));
}
