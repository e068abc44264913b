//! Tables of figures: names left-aligned, figures right-aligned in their columns, some beside a
//! bar.

use eframe::egui::{
    Align, FontSelection, Label, Layout, Rect, RichText, ScrollArea, Sense, TextStyle, Ui,
    UiBuilder, WidgetText, pos2, vec2,
};

use crate::text::format::capitalized;
use crate::text::table::{Line, Section};
use crate::window::style;

/// Space between two columns, in points.
const COLUMN_GAP: f32 = style::GAP * 2.0;
/// Space at both ends of a row, in points.
const MARGIN: f32 = 6.0;
/// The widths of bars, in points: the first for which there is room.
const BARS: [f32; 6] = [160.0, 120.0, 90.0, 64.0, 44.0, 28.0];
/// The space between a bar and its figure, and the height of a bar, in points.
const BAR_GAP: f32 = 8.0;
const BAR_HEIGHT: f32 = 8.0;
/// Cards are at least so wide if several stand beside each other, and never wider, in points.
const CARD: std::ops::RangeInclusive<f32> = 720.0..=1100.0;
/// At most this many stand beside each other.
const BESIDE: usize = 3;

/// Draws the sections, each as a table on a card: below each other, and if there is room also
/// beside each other.
pub fn show(ui: &mut Ui, sections: &[Section]) {
    ui.add_space(style::GAP / 2.0);
    let room = ui.available_width();
    let columns = (((room + style::GAP) / (CARD.start() + style::GAP)) as usize)
        .clamp(1, BESIDE.min(sections.len()).max(1));
    let width = ((room - style::GAP * (columns - 1) as f32) / columns as f32).min(*CARD.end());
    let top = ui.cursor().min;
    let mut heights = vec![0.0_f32; columns];
    for section in sections {
        // Where the column is shortest so far.
        let column = (0..columns)
            .min_by(|&a, &b| heights[a].total_cmp(&heights[b]))
            .unwrap_or_default();
        let place = Rect::from_min_size(
            top + vec2((width + style::GAP) * column as f32, heights[column]),
            vec2(width, f32::INFINITY),
        );
        let used = ui
            .scope_builder(UiBuilder::new().max_rect(place), |ui| card(ui, section))
            .response
            .rect
            .height();
        heights[column] += used + style::GAP;
    }
    let height = heights.into_iter().fold(0.0, f32::max) - style::GAP;
    ui.allocate_rect(
        Rect::from_min_size(top, vec2(room, height.max(0.0))),
        Sense::hover(),
    );
}

fn card(ui: &mut Ui, section: &Section) {
    style::full_card(ui, |ui| {
        style::section(ui, section.title)
            .on_hover_text(format!("{}.", capitalized(&section.about)));
        let bars = table(ui, section);
        if bars {
            ui.add_space(style::GAP / 2.0);
            ui.label(style::hint(format!("{}.", section.bars)));
        }
    });
}

/// True if there was room for its bars. If it is wider than its card, it is scrolled.
fn table(ui: &mut Ui, section: &Section) -> bool {
    let columns = columns(ui, section);
    ui.spacing_mut().item_spacing.y = 0.0;
    let needed = columns
        .iter()
        .map(|column| column.width() + 1.0 + COLUMN_GAP)
        .sum::<f32>()
        - COLUMN_GAP
        + 2.0 * MARGIN;
    if needed > ui.available_width() {
        ScrollArea::horizontal()
            .id_salt(section.title)
            .show(ui, |ui| {
                ui.set_width(needed);
                rows(ui, section, &columns);
            });
    } else {
        rows(ui, section, &columns);
    }
    columns.iter().any(|column| column.bar > 0.0)
}

fn rows(ui: &mut Ui, section: &Section, columns: &[Column]) {
    row(ui, columns, |ui, column| {
        if let Some(name) = section.columns.get(column) {
            ui.add(Label::new(head(name)));
        }
    });
    for (index, line) in section.lines.iter().enumerate() {
        let row = row(ui, columns, |ui, column| {
            bar(ui, line, column, columns);
            if let Some(text) = line.cell(column) {
                ui.add(Label::new(RichText::new(text)))
                    .on_hover_text(&line.detail);
            }
        });
        separate(ui, row, index + 1 < section.lines.len());
    }
}

/// The widths of a column, in points.
#[derive(Clone, Copy, Debug)]
struct Column {
    head: f32,
    figure: f32,
    /// The bar beside the figures; 0 if there is none.
    bar: f32,
}

impl Column {
    fn width(self) -> f32 {
        let beside = if self.bar > 0.0 {
            self.bar + BAR_GAP
        } else {
            0.0
        };
        self.head.max(self.figure + beside)
    }
}

/// Columns as wide as their texts, and all bars as wide as there is room for.
fn columns(ui: &Ui, section: &Section) -> Vec<Column> {
    let measured = |text: RichText| {
        let text =
            WidgetText::from(text).into_galley(ui, None, f32::INFINITY, FontSelection::Default);
        text.size().x
    };
    let cell = |line: &Line, column: usize| {
        line.cell(column)
            .map_or(0.0, |text| measured(RichText::new(text)))
    };
    let without_bar = |(column, name): (usize, &String)| {
        let figure = section
            .lines
            .iter()
            .map(|line| cell(line, column))
            .fold(0.0, f32::max);
        Column {
            head: measured(head(name)),
            figure,
            bar: 0.0,
        }
    };
    let has_bar = |column: usize| {
        section.lines.iter().any(|line| {
            line.cells
                .get(column)
                .is_some_and(|cell| cell.bar.is_some())
        })
    };
    let plain: Vec<Column> = section
        .columns
        .iter()
        .enumerate()
        .map(without_bar)
        .collect();
    let with_bars = |bar: f32| -> Vec<Column> {
        let columns = plain.iter().enumerate();
        columns
            .map(|(index, &column)| {
                if has_bar(index) {
                    Column { bar, ..column }
                } else {
                    column
                }
            })
            .collect()
    };
    let room =
        ui.available_width() - 2.0 * MARGIN - COLUMN_GAP * plain.len().saturating_sub(1) as f32;
    let fits = |columns: &Vec<Column>| {
        columns
            .iter()
            .map(|column| column.width() + 1.0)
            .sum::<f32>()
            <= room
    };
    BARS.into_iter()
        .map(with_bars)
        .find(fits)
        .unwrap_or_else(|| plain.clone())
}

/// Lays out a row of cells, a little higher than its text, and returns its rectangle.
fn row(ui: &mut Ui, columns: &[Column], mut cell: impl FnMut(&mut Ui, usize)) -> Rect {
    let height = ui.text_style_height(&TextStyle::Body) + 9.0;
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let mut left = rect.left() + MARGIN;
    for (index, column) in columns.iter().enumerate() {
        // One point more, so that rounding does not cut off text that just fits.
        let right = left + column.width() + 1.0;
        let place = Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom()));
        let layout = if index == 0 {
            Layout::left_to_right(Align::Center)
        } else {
            Layout::right_to_left(Align::Center)
        };
        ui.scope_builder(UiBuilder::new().max_rect(place).layout(layout), |ui| {
            cell(ui, index);
        });
        left = place.right() + COLUMN_GAP;
    }
    rect
}

/// The bar to the left of a cell's figure.
fn bar(ui: &Ui, line: &Line, column: usize, columns: &[Column]) {
    let Some(&Column { figure, bar, .. }) = columns.get(column) else {
        return;
    };
    if let Some(share) = line.cells.get(column).and_then(|cell| cell.bar)
        && bar > 0.0
    {
        let cell = ui.max_rect();
        let middle = pos2(cell.right() - figure - BAR_GAP - bar / 2.0, cell.center().y);
        let palette = style::palette(ui);
        style::bar(
            ui.painter(),
            Rect::from_center_size(middle, vec2(bar, BAR_HEIGHT)),
            share as f32,
            palette.accent,
            palette,
        );
    }
}

/// A thin line below every row but the last.
fn separate(ui: &Ui, row: Rect, more: bool) {
    if more {
        ui.painter()
            .hline(row.x_range(), row.bottom(), (1.0, style::palette(ui).grid));
    }
}

fn head(name: &str) -> RichText {
    style::hint(name)
}
