//! Before the first step: how far the data is, and its images as they are read or generated.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{
    ProgressBar, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, vec2,
};

use crate::bench::busy;
use crate::protocol::JobProgress;
use crate::records::JobId;
use crate::text::format::grouped;
use crate::window::style;
use crate::window::style::image_sheet::ImageSheet;
use crate::window::{DataImages, RunView};

/// Images in a row; the greatest side of one, and the space between two, in points.
const COLUMNS: usize = 10;
const SIDE: f32 = 44.0;
const SPACE: f32 = 4.0;
/// From this share of the CPU on, from 0 to 1, it is said that other programs use it.
const SLOWED: f32 = 0.5;
/// What is above the images, in points.
const ABOVE: f32 = 100.0;

/// View state: the images in a texture, with the run they belong to and how many there had been.
#[derive(Debug, Default)]
pub struct DataImageGrid(Option<(JobId, usize, ImageSheet)>);

/// Draws what is being done, how far it is, and the images.
pub fn show(
    ui: &mut Ui,
    run: &RunView,
    doing: &str,
    progress: Option<JobProgress>,
    grid: &mut DataImageGrid,
) {
    let room = ui.available_size();
    let rows = DataImages::SHOWN / COLUMNS;
    let side = (room.x / COLUMNS as f32)
        .min((room.y - ABOVE) / rows as f32)
        .min(SIDE + SPACE)
        .floor()
        - SPACE;
    let size = vec2(COLUMNS as f32, rows as f32) * (side + SPACE) - Vec2::splat(SPACE);
    ui.vertical_centered(|ui| {
        ui.add_space(((room.y - ABOVE - size.y) * 0.3).max(0.0));
        ui.label(RichText::new(doing).heading());
        let note = match progress {
            Some(now) if now.background_load > SLOWED => {
                format!("{} That slows this down.", busy(now.background_load))
            }
            _ => "The plots start with the first step.".to_owned(),
        };
        ui.label(RichText::new(note).weak());
        // The same space without the bar, so that the images stay where they are.
        let (bar, _) =
            ui.allocate_exact_size(vec2(260.0, ui.spacing().interact_size.y), Sense::hover());
        if let Some(JobProgress { fraction, .. }) = progress {
            let progress = ProgressBar::new(fraction).text(format!("{:.0} %", fraction * 100.0));
            ui.put(bar, progress)
                .accessible_name("Data preparation progress");
        }
        ui.add_space(style::GAP / 2.0);
        if side >= 12.0 {
            images(ui, run, side, size, grid);
        }
    });
}

fn images(
    ui: &mut Ui,
    run: &RunView,
    side: f32,
    size: Vec2,
    DataImageGrid(grid): &mut DataImageGrid,
) {
    let DataImages { images, count } = &run.data_images;
    let (area, response) = ui.allocate_exact_size(size, Sense::hover());
    if images.is_empty() {
        return;
    }
    let name = format!("Images of {}", run.config.data.label());
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(grouped(images.len() as u64)),
        ..WidgetInfo::labeled(Role::Image, true, &name)
    });
    if grid
        .as_ref()
        .is_none_or(|(of, seen, _)| (*of, *seen) != (run.id, *count))
    {
        *grid = Some((
            run.id,
            *count,
            ImageSheet::thumbnails(ui.ctx(), "data images", images.iter()),
        ));
    }
    let Some((_, _, sheet)) = grid else { return };
    let palette = style::palette(ui);
    for index in 0..images.len() {
        let at =
            area.min + vec2((index % COLUMNS) as f32, (index / COLUMNS) as f32) * (side + SPACE);
        let rect =
            Rect::from_min_size(at, Vec2::splat(side)).round_to_pixels(ui.pixels_per_point());
        sheet.paint(ui.painter(), index, rect, palette);
        ui.painter().rect_stroke(
            rect,
            0.0,
            Stroke::new(1.0, palette.line),
            StrokeKind::Outside,
        );
    }
}
