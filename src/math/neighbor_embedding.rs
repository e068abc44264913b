//! Points of many dimensions laid out in two so that neighbors stay neighbors: t-SNE (van der
//! Maaten & Hinton 2008), computed by the crate `bhtsne`.

use bhtsne::tSNE;

/// About how many neighbors each point is to stay close to.
const PERPLEXITY: f32 = 30.0;
/// How exactly forces are summed up: 0 for each pair, more for groups (Barnes & Hut 1986).
const THETA: f32 = 0.5;
/// Steps from a plane, of which the first attract neighbors more strongly, so that groups find each
/// other; and steps from an earlier layout.
const STEPS: usize = 500;
const GATHERING_STEPS: usize = 125;
const FURTHER_STEPS: usize = 150;
/// Steps from one layout that is shown to the next.
const STEPS_SHOWN: usize = 5;
/// The spread of a plane to start from.
const SPREAD: f32 = 1e-4;

/// Where points are at first.
#[derive(Clone, Debug)]
pub enum InitialLayout {
    /// In the plane of the first two principal components.
    Plane(Vec<[f32; 2]>),
    /// In the layout of earlier points.
    Layout(Vec<[f32; 2]>),
}

/// The layout of `points` with so many dimensions each, one point after the other; `None` for too
/// few points. `show` gets layouts on the way, and the fraction of the work that is done.
pub fn neighbor_embedding(
    points: &[f32],
    dimensions: usize,
    start: InitialLayout,
    mut show: impl FnMut(Vec<[f32; 2]>, f32),
) -> Option<Vec<[f32; 2]>> {
    let points: Vec<&[f32]> = points.chunks_exact(dimensions.max(1)).collect();
    let perplexity = PERPLEXITY.min((points.len().saturating_sub(1) / 3) as f32);
    let (start, gathering, steps) = match start {
        InitialLayout::Plane(plane) => (spread(&plane), GATHERING_STEPS, STEPS),
        InitialLayout::Layout(layout) => (layout.concat(), 0, FURTHER_STEPS),
    };
    if perplexity < 2.0 || start.len() != 2 * points.len() {
        return None;
    }
    let distance = |a: &&[f32], b: &&[f32]| {
        let squared: f32 = a.iter().zip(*b).map(|(a, b)| (a - b) * (a - b)).sum();
        squared.sqrt()
    };
    let mut layout: tSNE<'_, f32, &[f32], 2> = tSNE::new(&points);
    layout
        .perplexity(perplexity)
        .epochs(steps)
        .stop_lying_epoch(gathering)
        .momentum_switch_epoch(gathering)
        .initial_embedding(start)
        .epoch_callback(|step, values| {
            if step % STEPS_SHOWN == 0 {
                show(pairs(values), step as f32 / steps as f32);
            }
        })
        .barnes_hut(THETA, distance);
    Some(pairs(&layout.embedding()))
}

/// A plane's points, as close together as a layout begins.
fn spread(plane: &[[f32; 2]]) -> Vec<f32> {
    let widest = plane.iter().fold(f32::MIN_POSITIVE, |widest, point| {
        widest.max(point[0].abs())
    });
    plane
        .iter()
        .flatten()
        .map(|value| value / widest * SPREAD)
        .collect()
}

fn pairs(values: &[f32]) -> Vec<[f32; 2]> {
    values.as_chunks().0.to_vec()
}
