//! Edits of a drawing: a stroke that is added, a part of a stroke that is erased.

use crate::ink::{Bounds, Stroke};

/// An edit of the strokes of a drawing, in their units.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A stroke along a quadratic Bézier curve with these control points.
    Add([[f32; 2]; 3]),
    /// The part of a stroke between two lengths, measured along it from its start.
    Erase { stroke: usize, from: f32, to: f32 },
}

/// A drawing after an edit.
pub struct Edited {
    pub strokes: Vec<Stroke>,
    pub added: Option<Stroke>,
    pub erased: Option<Stroke>,
}

/// Straight parts that a curve is drawn with.
const PARTS: usize = 10;
/// How far apart points of the ink are from which added strokes begin, relative to the extent of
/// the drawing.
const ANCHORS: f32 = 0.1;
/// The most of these points: a scribble has many more.
const MOST_ANCHORS: usize = 100;
/// Points along a side of the grid at which added strokes begin and end as well.
const GRID: usize = 7;
/// The least width and height of the grid, relative to the extent of the drawing.
const GRID_SIZE: f32 = 0.6;
/// How long added strokes are, relative to the extent of the drawing.
const ADDED: std::ops::RangeInclusive<f32> = 0.1..=1.1;
/// How far the middle of an added stroke lies beside the line between its ends, relative to that.
const BENDS: [f32; 3] = [0.0, -0.35, 0.35];
/// A stroke may be erased between any two of so many points along it.
const CUTS: usize = 20;
/// The most of a drawing that is erased, relative to its length.
const ERASED: f32 = 0.6;
/// How much shorter an edit becomes at one end.
const SHORTER: f32 = 0.1;

impl Edit {
    /// How long the stroke is that is added or erased.
    pub fn length(&self) -> f32 {
        match self {
            Self::Add(_) => length(&self.path()),
            Self::Erase { from, to, .. } => to - from,
        }
    }

    /// The stroke that is added.
    pub fn path(&self) -> Stroke {
        let Self::Add([from, middle, to]) = self else {
            return Stroke::new();
        };
        let at = |part: usize| {
            let t = part as f32 / PARTS as f32;
            let [a, b, c] = [(1.0 - t).powi(2), 2.0 * t * (1.0 - t), t * t];
            [0, 1].map(|axis| a * from[axis] + b * middle[axis] + c * to[axis])
        };
        (0..=PARTS).map(at).collect()
    }

    /// These strokes after the edit.
    pub fn apply(&self, strokes: &[Stroke]) -> Edited {
        let mut strokes = strokes.to_vec();
        let (added, erased) = match *self {
            Self::Add(_) => {
                strokes.push(self.path());
                (Some(self.path()), None)
            }
            Self::Erase { stroke, from, to } => match strokes.get(stroke) {
                None => (None, None),
                Some(whole) => {
                    let [before, erased, after] = cut(whole, [from, to]);
                    let left = [before, after].into_iter().filter(|part| part.len() > 1);
                    strokes.splice(stroke..=stroke, left.collect::<Vec<_>>());
                    (None, Some(erased))
                }
            },
        };
        Edited {
            strokes,
            added,
            erased,
        }
    }

    /// Smaller edits that are much the same.
    pub fn smaller(&self) -> Vec<Self> {
        let mut smaller: Vec<Self> = match *self {
            Self::Add([from, middle, to]) => {
                let toward = |a: [f32; 2], b: [f32; 2]| {
                    [0, 1].map(|axis| a[axis] + (b[axis] - a[axis]) * SHORTER)
                };
                let across = [(to[1] - from[1]) * SHORTER, (from[0] - to[0]) * SHORTER];
                let beside = |a: [f32; 2], sign: f32| {
                    let near = toward(a, middle);
                    [0, 1].map(|axis| near[axis] + sign * across[axis])
                };
                let straight = toward(
                    middle,
                    [0, 1].map(|axis| f32::midpoint(from[axis], to[axis])),
                );
                let starts = [toward(from, middle), beside(from, 1.0), beside(from, -1.0)];
                let ends = [toward(to, middle), beside(to, 1.0), beside(to, -1.0)];
                let starts = starts.map(|from| Self::Add([from, middle, to]));
                let ends = ends.map(|to| Self::Add([from, middle, to]));
                let straight = Self::Add([from, straight, to]);
                starts.into_iter().chain(ends).chain([straight]).collect()
            }
            Self::Erase { stroke, from, to } => {
                let less = (to - from) * SHORTER;
                [(from + less, to), (from, to - less)]
                    .map(|(from, to)| Self::Erase { stroke, from, to })
                    .to_vec()
            }
        };
        smaller.retain(|edit| edit.length() < self.length());
        smaller
    }
}

/// Edits of these strokes that might make them another digit: strokes between any two points of a
/// grid or of the ink, straight or bent, and any part of a stroke to erase.
pub fn proposals(strokes: &[Stroke]) -> Vec<Edit> {
    let bounds = Bounds::of(strokes.iter().flatten().copied());
    let extent = bounds.size(0).max(bounds.size(1));
    let mut points: Vec<[f32; 2]> = Vec::new();
    for stroke in strokes {
        let whole = length(stroke);
        let parts = (whole / (ANCHORS * extent)).ceil().max(1.0) as usize;
        points.extend((0..=parts).map(|part| at(stroke, whole * part as f32 / parts as f32)));
    }
    let step = points.len().div_ceil(MOST_ANCHORS).max(1);
    points = points.into_iter().step_by(step).collect();
    let sizes = [0, 1].map(|axis| bounds.size(axis).max(GRID_SIZE * extent));
    points.extend((0..GRID * GRID).map(|index| {
        let cell = [index % GRID, index / GRID];
        [0, 1].map(|axis| {
            let share = cell[axis] as f32 / (GRID - 1) as f32 - 0.5;
            bounds.middle(axis) + share * sizes[axis]
        })
    }));
    let mut edits = Vec::new();
    for (index, from) in points.iter().enumerate() {
        for to in points.iter().skip(index + 1) {
            let way = [to[0] - from[0], to[1] - from[1]];
            if !ADDED.contains(&(way[0].hypot(way[1]) / extent)) {
                continue;
            }
            edits.extend(BENDS.map(|bend| {
                // A Bézier curve goes half as far as its control point.
                let middle = [
                    f32::midpoint(from[0], to[0]) - way[1] * bend * 2.0,
                    f32::midpoint(from[1], to[1]) + way[0] * bend * 2.0,
                ];
                Edit::Add([*from, middle, *to])
            }));
        }
    }
    let all: f32 = strokes.iter().map(|stroke| length(stroke)).sum();
    for (stroke, points) in strokes.iter().enumerate() {
        let whole = length(points);
        let place = |cut: usize| whole * cut as f32 / CUTS as f32;
        for first in 0..CUTS {
            for last in first + 1..=CUTS {
                let (from, to) = (place(first), place(last));
                if to - from > 0.0 && to - from <= ERASED * all {
                    edits.push(Edit::Erase { stroke, from, to });
                }
            }
        }
    }
    edits
}

fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

fn length(points: &[[f32; 2]]) -> f32 {
    points.array_windows().map(|[a, b]| distance(*a, *b)).sum()
}

/// The point of a stroke at this length from its start.
fn at(stroke: &[[f32; 2]], length: f32) -> [f32; 2] {
    let mut left = length;
    for [from, to] in stroke.array_windows() {
        let part = distance(*from, *to);
        if left <= part && part > 0.0 {
            return [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * left / part);
        }
        left -= part;
    }
    stroke.last().copied().unwrap_or_default()
}

/// The parts of a stroke before, between and after two lengths from its start.
fn cut(stroke: &[[f32; 2]], [from, to]: [f32; 2]) -> [Stroke; 3] {
    let whole = length(stroke);
    let part = |start: f32, end: f32| {
        let mut part = Stroke::new();
        if end <= start {
            return part;
        }
        part.push(at(stroke, start));
        let mut along = 0.0;
        for [before, point] in stroke.array_windows() {
            along += distance(*before, *point);
            if along > start && along < end {
                part.push(*point);
            }
        }
        part.push(at(stroke, end));
        part
    };
    [part(0.0, from), part(from, to), part(to, whole)]
}
