//! Points of many dimensions shown in two: principal components, points turned to match others, and
//! which points are nearest.

use nalgebra::{DMatrix, SymmetricEigen};

use super::random::Random;

/// Up to this many dimensions, all components are computed; of more, only the first ones.
const FEW_DIMENSIONS: usize = 160;
/// Components that are computed besides those wanted, and how often they are improved, so that the
/// first ones are exact to a few digits (Halko, Martinsson & Tropp 2011).
const SPARE: usize = 10;
const ROUNDS: usize = 5;
/// Added to each variance while they are computed, as a fraction of all of it.
const RIDGE: f64 = 1e-9;

/// The first principal components of some points.
#[derive(Clone, Debug, Default)]
pub struct PrincipalComponents {
    mean: Vec<f32>,
    /// A direction of length 1 for each, the one of most variance first.
    directions: Vec<Vec<f32>>,
    /// The fraction of the variance along each, from 0 to 1.
    pub explained: Vec<f32>,
}

impl PrincipalComponents {
    /// The first `count` of `points` with so many dimensions each, one point after the other; fewer
    /// if there are not as many. The same points always give the same ones: the sign of a direction
    /// makes its greatest number positive.
    pub fn of(points: &[f32], dimensions: usize, count: usize) -> Self {
        if dimensions == 0 {
            return Self::default();
        }
        let rows = points.len() / dimensions;
        let mut sums = vec![0.0_f64; dimensions];
        for point in points.chunks_exact(dimensions) {
            let pairs = sums.iter_mut().zip(point);
            pairs.for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let mean: Vec<f32> = sums
            .iter()
            .map(|sum| (sum / rows.max(1) as f64) as f32)
            .collect();
        let mut centered: Vec<f32> = points
            .chunks_exact(dimensions)
            .flat_map(|point| point.iter().zip(&mean).map(|(value, mean)| value - mean))
            .collect();
        // Squares neither overflow nor vanish.
        let largest = centered
            .iter()
            .fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = largest.max(f32::MIN_POSITIVE).recip();
        centered.iter_mut().for_each(|value| *value *= scale);
        let total: f32 = centered.iter().map(|value| value * value).sum();
        let basis = subspace(&centered, dimensions, count);
        let columns = basis.ncols();
        let mut within = covariance(&projected(&centered, dimensions, &basis), columns);
        // nalgebra gives infinite eigenvalues for some matrices whose diagonal has zeros.
        let ridge = f64::from(total) * RIDGE;
        within += DMatrix::identity(columns, columns) * ridge;
        let SymmetricEigen {
            eigenvectors,
            eigenvalues,
        } = within.symmetric_eigen();
        let eigenvectors: DMatrix<f32> = eigenvectors.map(|value| value as f32);
        let mut order: Vec<usize> = (0..eigenvalues.len()).collect();
        order.sort_by(|&a, &b| eigenvalues[b].total_cmp(&eigenvalues[a]));
        order.truncate(count);
        let direction = |&index: &usize| {
            let column = &basis * eigenvectors.column(index);
            let greatest = column.iter().fold(0.0_f32, |greatest, value| {
                if value.abs() > greatest.abs() {
                    *value
                } else {
                    greatest
                }
            });
            column
                .iter()
                .map(|value| value * greatest.signum())
                .collect()
        };
        let share = |&index: &usize| {
            let variance = (eigenvalues[index] - ridge).max(0.0) as f32;
            variance / total.max(f32::MIN_POSITIVE)
        };
        Self {
            directions: order.iter().map(direction).collect(),
            explained: order.iter().map(share).collect(),
            mean,
        }
    }

    /// Where a point is along each of them.
    pub fn coordinates(&self, point: &[f32]) -> Vec<f32> {
        let along = |direction: &Vec<f32>| {
            let offsets = point
                .iter()
                .zip(&self.mean)
                .map(|(value, mean)| value - mean);
            offsets
                .zip(direction)
                .map(|(offset, along)| offset * along)
                .sum()
        };
        self.directions.iter().map(along).collect()
    }
}

/// Directions, one a column, that span what the first `count` principal components do, and more.
fn subspace(centered: &[f32], dimensions: usize, count: usize) -> DMatrix<f32> {
    let columns = count + SPARE;
    if dimensions <= FEW_DIMENSIONS.max(columns) {
        return DMatrix::identity(dimensions, dimensions);
    }
    let mut random = Random::stream(0, "principal components", 0);
    let mut basis = DMatrix::from_fn(dimensions, columns, |_, _| random.normal());
    for _ in 0..ROUNDS {
        let along = projected(centered, dimensions, &basis);
        let mut sums = vec![0.0_f32; dimensions * columns];
        for (point, along) in centered
            .chunks_exact(dimensions)
            .zip(along.chunks_exact(columns))
        {
            for (sums, value) in sums.chunks_exact_mut(columns).zip(point) {
                add(sums, *value, along);
            }
        }
        basis = DMatrix::from_row_slice(dimensions, columns, &sums).qr().q();
    }
    basis
}

/// Each point along the columns of `basis`.
fn projected(points: &[f32], dimensions: usize, basis: &DMatrix<f32>) -> Vec<f32> {
    let columns = basis.ncols();
    // nalgebra stores column by column.
    let rows: Vec<f32> = basis.transpose().as_slice().to_vec();
    let mut all = Vec::with_capacity(points.len() / dimensions * columns);
    for point in points.chunks_exact(dimensions) {
        let start = all.len();
        all.resize(start + columns, 0.0);
        for (value, row) in point.iter().zip(rows.chunks_exact(columns)) {
            if *value != 0.0 {
                add(&mut all[start..], *value, row);
            }
        }
    }
    all
}

/// The summed products of each two coordinates.
fn covariance(centered: &[f32], dimensions: usize) -> DMatrix<f64> {
    let mut sums = vec![0.0_f32; dimensions * dimensions];
    for point in centered.chunks_exact(dimensions) {
        for (sums, value) in sums.chunks_exact_mut(dimensions).zip(point) {
            add(sums, *value, point);
        }
    }
    let sums = sums.into_iter().map(f64::from).collect();
    DMatrix::from_vec(dimensions, dimensions, sums)
}

/// Adds so many times `values` to `sums`.
fn add(sums: &mut [f32], times: f32, values: &[f32]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += times * value;
    }
}

/// The rotation about the origin, or the reflection, that brings `points` closest to `others`, as a
/// matrix by rows (orthogonal Procrustes): so that a map looks as it did before, whatever way up it
/// was computed.
pub fn turn_to_match(points: &[[f32; 2]], others: &[[f32; 2]]) -> [[f32; 2]; 2] {
    let mut sums = [[0.0_f32; 2]; 2];
    for (point, other) in points.iter().zip(others) {
        for (row, to) in sums.iter_mut().zip(other) {
            add(row, *to, point);
        }
    }
    let [[xx, xy], [yx, yy]] = sums;
    // A rotation by this angle adds up to so much along the others; a reflection to that much.
    let (rotation, reflection) = ((xx + yy).hypot(yx - xy), (xx - yy).hypot(yx + xy));
    if rotation.max(reflection) == 0.0 {
        return [[1.0, 0.0], [0.0, 1.0]];
    }
    if rotation >= reflection {
        let (sin, cos) = ((yx - xy) / rotation, (xx + yy) / rotation);
        [[cos, -sin], [sin, cos]]
    } else {
        let (sin, cos) = ((yx + xy) / reflection, (xx - yy) / reflection);
        [[cos, sin], [sin, -cos]]
    }
}

/// This matrix, by rows, times a point.
pub fn turned(turn: [[f32; 2]; 2], [x, y]: [f32; 2]) -> [f32; 2] {
    turn.map(|row| row[0] * x + row[1] * y)
}

/// The `count` points nearest to `point`, with their Euclidean distances, the nearest first.
pub fn nearest(points: &[f32], point: &[f32], count: usize) -> Vec<(usize, f32)> {
    let squared = |other: &[f32]| -> f32 {
        let offsets = other.iter().zip(point).map(|(a, b)| a - b);
        offsets.map(|offset| offset * offset).sum()
    };
    let mut all: Vec<(usize, f32)> = points
        .chunks_exact(point.len().max(1))
        .map(squared)
        .enumerate()
        .collect();
    let by_distance = |a: &(usize, f32), b: &(usize, f32)| a.1.total_cmp(&b.1);
    if count < all.len() {
        all.select_nth_unstable_by(count, by_distance);
        all.truncate(count);
    }
    all.sort_by(by_distance);
    all.into_iter()
        .map(|(index, squared)| (index, squared.sqrt()))
        .collect()
}
