//! The reliability diagram as SVG: how often answers of each confidence are right.

use super::curves::{HEIGHT, MARGIN, WIDTH};
use crate::math::statistics::reliability_sentence;
use crate::records::Evaluation;

/// The diagram with its sentence; empty without images.
pub fn html(test: &Evaluation) -> String {
    let Some(sentence) = reliability_sentence(test) else {
        return String::new();
    };
    let bins = &test.reliability;
    let title = "Accuracy by confidence, in %";
    let [left, right, top, bottom] = MARGIN;
    let x = |share: f64| left + share * (WIDTH - left - right);
    let y = |share: f64| HEIGHT - bottom - share * (HEIGHT - top - bottom);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img aria-label=\"{title}\">\n<title>{title}</title>\n<text class=title x={left} y=18>{title}</text>\n"
    );
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
