//! The learning curves of a run, and the reliability diagram, as SVG.

use crate::math::statistics::reliability_sentence;
use crate::records::{EpochRecord, Evaluation};

/// The size of a chart, in its own unit.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 260.0;
/// Space for the axes: left, right, top, bottom.
const MARGIN: [f64; 4] = [56.0, 16.0, 34.0, 38.0];
/// The approximate number of ticks per axis.
const TICKS: f64 = 5.0;

/// Accuracy by epoch, in percent.
pub fn accuracy(epochs: &[EpochRecord]) -> String {
    let of = |value: fn(&EpochRecord) -> f32| {
        points(epochs, move |record| f64::from(value(record)) * 100.0)
    };
    chart(
        "Accuracy by epoch, in %",
        &of(|record| record.train_accuracy),
        &of(|record| record.validation_accuracy),
    )
}

/// Mean cross-entropy by epoch, in nats.
pub fn loss(epochs: &[EpochRecord]) -> String {
    let of =
        |value: fn(&EpochRecord) -> f32| points(epochs, move |record| f64::from(value(record)));
    chart(
        "Loss by epoch (mean cross-entropy, in nats)",
        &of(|record| record.train_loss),
        &of(|record| record.validation_loss),
    )
}

fn points(epochs: &[EpochRecord], value: impl Fn(&EpochRecord) -> f64) -> Vec<[f64; 2]> {
    epochs
        .iter()
        .map(|record| [f64::from(record.epoch), value(record)])
        .filter(|[_, y]| y.is_finite())
        .collect()
}

/// Two curves that differ in line style and markers, not only in color.
fn chart(title: &str, training: &[[f64; 2]], validation: &[[f64; 2]]) -> String {
    let both = || training.iter().chain(validation);
    let range = |axis: usize| {
        both().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], point| {
            [low.min(point[axis]), high.max(point[axis])]
        })
    };
    let ([x_low, x_high], [y_low, y_high]) = (padded(range(0), 0.0), padded(range(1), 0.06));
    let [left, right, top, bottom] = MARGIN;
    let x = |value: f64| left + (value - x_low) / (x_high - x_low) * (WIDTH - left - right);
    let y =
        |value: f64| HEIGHT - bottom - (value - y_low) / (y_high - y_low) * (HEIGHT - top - bottom);
    let mut svg = beginning(title);
    svg += &legend();
    for tick in ticks(y_low, y_high) {
        let at = y(tick);
        svg += &format!(
            "<line class=grid x1={left} x2={:.1} y1={at:.1} y2={at:.1} /><text class=y x={:.1} y={:.1}>{}</text>\n",
            WIDTH - right,
            left - 8.0,
            at + 4.0,
            tick_label(tick)
        );
    }
    for tick in ticks(x_low, x_high)
        .into_iter()
        .filter(|tick| tick.fract() == 0.0)
    {
        svg += &format!(
            "<text class=x x={:.1} y={:.1}>{tick}</text>\n",
            x(tick),
            HEIGHT - bottom + 20.0
        );
    }
    for (class, curve) in [("training", training), ("validation", validation)] {
        let line: Vec<String> = curve
            .iter()
            .map(|&[epoch, value]| format!("{:.1},{:.1}", x(epoch), y(value)))
            .collect();
        svg += &format!("<polyline class={class} points=\"{}\" />\n", line.join(" "));
        // Points have markers as long as there is space for them.
        let few = curve.len() <= 40;
        for &[epoch, value] in curve.iter().filter(|_| few) {
            let (x, y) = (x(epoch), y(value));
            svg += &match class {
                "training" => format!("<circle class={class} cx={x:.1} cy={y:.1} r=2.5 />"),
                _ => format!(
                    "<rect class={class} x={:.1} y={:.1} width=6 height=6 transform=\"rotate(45 {x:.1} {y:.1})\" />",
                    x - 3.0,
                    y - 3.0
                ),
            };
        }
    }
    svg + "\n</svg>\n"
}

fn beginning(title: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img aria-label=\"{title}\">\n<title>{title}</title>\n<text class=title x={} y=18>{title}</text>\n",
        MARGIN[0]
    )
}

fn legend() -> String {
    let (x, y) = (WIDTH - 196.0, HEIGHT - 8.0);
    let marker = format!(
        "<rect class=validation x={:.1} y={:.1} width=6 height=6 transform=\"rotate(45 {:.1} {:.1})\" />",
        x + 100.0,
        y - 7.0,
        x + 103.0,
        y - 4.0
    );
    format!(
        "<circle class=training cx={x:.1} cy={:.1} r=2.5 /><text x={:.1} y={y:.1}>training</text>{marker}<text x={:.1} y={y:.1}>validation</text>\n",
        y - 4.0,
        x + 8.0,
        x + 113.0
    )
}

/// A range that is never empty, extended by `share` of its length at both ends.
fn padded([low, high]: [f64; 2], share: f64) -> [f64; 2] {
    if !(low.is_finite() && high.is_finite()) {
        return [0.0, 1.0];
    }
    let room = (high - low) * share;
    if high > low {
        [low - room, high + room]
    } else {
        [low - 0.5, high + 0.5]
    }
}

/// Ticks within the range, spaced by 1, 2 or 5 times a power of ten.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / TICKS;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|times| times * power)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|count| count as f64 * step).collect()
}

/// A tick without trailing zeros.
fn tick_label(tick: f64) -> String {
    let text = format!("{tick:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How often answers of each confidence are right, as a diagram with its sentence; empty without
/// images.
pub fn reliability(test: &Evaluation) -> String {
    let Some(sentence) = reliability_sentence(test) else {
        return String::new();
    };
    let bins = &test.reliability;
    let title = "Accuracy by confidence, in %";
    let [left, right, top, bottom] = MARGIN;
    let x = |share: f64| left + share * (WIDTH - left - right);
    let y = |share: f64| HEIGHT - bottom - share * (HEIGHT - top - bottom);
    let mut svg = beginning(title);
    for percent in (0..=100).step_by(20) {
        let share = f64::from(percent) / 100.0;
        let at = y(share);
        svg += &format!(
            "<line class=grid x1={left} x2={:.1} y1={at:.1} y2={at:.1} /><text class=y x={:.1} y={:.1}>{percent}</text>\
             <text class=x x={:.1} y={:.1}>{percent}</text>\n",
            x(1.0),
            left - 8.0,
            at + 4.0,
            x(share),
            HEIGHT - bottom + 20.0
        );
    }
    svg += &format!(
        "<line class=ideal x1={:.1} y1={:.1} x2={:.1} y2={:.1} />\n",
        x(0.0),
        y(0.0),
        x(1.0),
        y(1.0)
    );
    for bin in bins {
        let Some(accuracy) = bin.accuracy() else {
            continue;
        };
        let [confidence, accuracy] = [bin.confidence, accuracy].map(|share| share.clamp(0.0, 1.0));
        let (at, from, to) = (x(confidence), y(confidence), y(accuracy));
        svg += &format!(
            "<line class=gap x1={at:.1} y1={from:.1} x2={at:.1} y2={to:.1} /><circle class=training cx={at:.1} cy={to:.1} r=4 />\n"
        );
    }
    format!(
        "<h2>Reliability</h2>\n<p>Across: how sure the model is, in {} bins. Up: how often it is right then. Dashed: exactly as sure as right. \
         {sentence}</p>\n<div class=charts>\n{svg}</svg>\n</div>\n",
        bins.len()
    )
}
