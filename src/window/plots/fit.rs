//! The heights between which curves run: a chart's vertical axis always fits what is in view.

use egui_plot::PlotPoint;

use super::scale::YAxis;

/// The space above and below the curves, as a share of their range.
const MARGIN: f64 = 0.08;

/// The ends of the vertical axis for these lines, between the horizontal positions `from` and `to`.
/// All are positions on the axes.
pub fn bounds<'a>(
    y: YAxis,
    lines: impl Iterator<Item = &'a [PlotPoint]>,
    from: f64,
    to: f64,
) -> [f64; 2] {
    let extents = lines.filter_map(|line| extent(line, from, to));
    let (mut low, mut high) = extents
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        .unwrap_or(y.without_data);
    if y.from_zero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    let missing = (y.least_range - (high - low)).max(0.0) / 2.0;
    let margin = MARGIN * (high - low + 2.0 * missing);
    [low - missing - margin, high + missing + margin]
}

/// The lowest and the highest position of a line between `from` and `to`, also where it only
/// crosses.
fn extent(line: &[PlotPoint], from: f64, to: f64) -> Option<(f64, f64)> {
    let inside = line
        .iter()
        .filter(|point| (from..=to).contains(&point.x))
        .map(|point| point.y);
    let crossings = line.windows(2).flat_map(|pair| {
        let [before, after] = [pair[0], pair[1]];
        [from, to]
            .into_iter()
            .filter(move |edge| before.x < *edge && *edge < after.x)
            .map(move |edge| {
                let share = (edge - before.x) / (after.x - before.x);
                before.y + share * (after.y - before.y)
            })
    });
    inside
        .chain(crossings)
        .map(|y| (y, y))
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}
