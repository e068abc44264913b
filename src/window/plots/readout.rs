//! The read-out at the crosshair: the values of all curves at a step, with units.

use eframe::egui::text::LayoutJob;
use eframe::egui::{self, Color32, Id, LayerId, Order, Rect, TextFormat, Ui, pos2, vec2};

use super::chart::Shown;
use super::curves::{Curves, Pyramid};
use super::scale::XAxis;
use crate::text::format::{memory, percent, significant};
use crate::window::style;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    pub name: &'static str,
    /// Its value with its unit.
    pub value: String,
}

/// The values of all curves at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Readout {
    pub step: f64,
    /// "Step 940, epoch 2.00".
    pub place: String,
    pub figures: Vec<Figure>,
}

impl Readout {
    /// The values at the recorded step nearest to `step`; `None` before the first step.
    pub fn at(curves: &Curves, step: f64, steps_per_epoch: f64) -> Option<Self> {
        let step = curves.loss.raw.nearest(step)?[0];
        let at = |curve: &Pyramid| curve.nearest(step).map(|point| point[1]);
        // A validation value holds from the end of its epoch until the next one.
        let since = |curve: &Pyramid| {
            let points = curve.points();
            let after = points.partition_point(|point| point[0] <= step);
            Some(points.get(after.checked_sub(1)?)?[1])
        };
        let rate = |value: f64| format!("{value:.0} images/s");
        let (loss, accuracy) = (&curves.loss, &curves.accuracy);
        let validated = since(&curves.validation_accuracy);
        let all = [
            ("Training loss, smoothed", at(&loss.smooth).map(nats)),
            ("Training loss, raw", at(&loss.raw).map(nats)),
            ("Validation loss", since(&curves.validation_loss).map(nats)),
            (
                "Training accuracy, smoothed",
                at(&accuracy.smooth).map(percents),
            ),
            ("Training accuracy, raw", at(&accuracy.raw).map(percents)),
            ("Validation accuracy", validated.map(percents)),
            ("Learning rate", at(&curves.learning_rate).map(significant)),
            ("Throughput", at(&curves.throughput).map(rate)),
            ("Memory", at(&curves.memory).map(mebibytes)),
        ];
        let known = |(name, value): (_, Option<String>)| {
            Some(Figure {
                name,
                value: value?,
            })
        };
        let epoch = step / steps_per_epoch.max(1.0);
        Some(Self {
            step,
            place: format!("Step {step:.0}, epoch {epoch:.2}"),
            figures: all.into_iter().filter_map(known).collect(),
        })
    }

    /// All values in one line, for assistive technology.
    pub fn sentence(&self) -> String {
        let figures: Vec<String> = self
            .figures
            .iter()
            .map(|figure| format!("{} {}", figure.name.to_lowercase(), figure.value))
            .collect();
        format!("{}: {}", self.place, figures.join(", "))
    }
}

/// A loss with its unit.
pub fn nats(value: f64) -> String {
    format!("{} nats", significant(value))
}

/// Memory, from MiB.
pub fn mebibytes(value: f64) -> String {
    memory((value * f64::from(1 << 20)) as u64)
}

pub fn percents(value: f64) -> String {
    percent(value / 100.0, 2)
}

/// Paints the read-out beside the crosshair of a chart, on the side with enough space, at the top
/// or at the bottom, whichever covers less of the curves.
pub fn show(ui: &Ui, readout: &Readout, x: XAxis, chart: &Shown) {
    let palette = style::palette(ui);
    let font = egui::TextStyle::Small.resolve(ui.style());
    let column = |lines: &mut dyn Iterator<Item = (&str, Color32)>| {
        let mut job = LayoutJob::default();
        for (index, (line, color)) in lines.enumerate() {
            let line = if index == 0 {
                line.to_owned()
            } else {
                format!("\n{line}")
            };
            job.append(&line, 0.0, TextFormat::simple(font.clone(), color));
        }
        ui.painter().layout_job(job)
    };
    let strong = ui.visuals().strong_text_color();
    let weak = ui.visuals().text_color();
    let place = column(&mut std::iter::once((readout.place.as_str(), strong)));
    let names = column(&mut readout.figures.iter().map(|figure| (figure.name, weak)));
    let values = column(
        &mut readout
            .figures
            .iter()
            .map(|figure| (figure.value.as_str(), strong)),
    );
    let gap = 14.0;
    let width = (names.size().x + gap + values.size().x).max(place.size().x);
    let size = vec2(width, place.size().y + 4.0 + names.size().y) + vec2(20.0, 16.0);

    let frame = *chart.transform.frame();
    let crosshair = chart
        .transform
        .position_from_point_x(x.position(readout.step));
    let screen = ui.ctx().content_rect().shrink(4.0);
    let right = crosshair + 14.0 + size.x <= frame.right().min(screen.right());
    let left = if right {
        crosshair + 14.0
    } else {
        crosshair - 14.0 - size.x
    };
    let at = |top: f32| {
        let rect = Rect::from_min_size(pos2(left, top), size);
        rect.translate(vec2(
            (screen.left() - rect.left()).max(0.0),
            (screen.bottom() - rect.bottom()).min(0.0),
        ))
    };
    let [top, bottom] = [at(frame.top() + 8.0), at(frame.bottom() - 8.0 - size.y)];
    let covered = |rect: Rect| {
        chart
            .curves
            .iter()
            .filter(|point| rect.contains(**point))
            .count()
    };
    let rect = if covered(bottom) < covered(top) {
        bottom
    } else {
        top
    };

    let painter = ui
        .ctx()
        .layer_painter(LayerId::new(Order::Tooltip, Id::unique("plot read-out")));
    style::floating_box(&painter, rect, palette);
    let inner = rect.shrink2(vec2(10.0, 8.0));
    painter.galley(inner.min, place.clone(), strong);
    let below = inner.top() + place.size().y + 4.0;
    painter.galley(pos2(inner.left(), below), names, weak);
    painter.galley(pos2(inner.right() - values.size().x, below), values, strong);
}
