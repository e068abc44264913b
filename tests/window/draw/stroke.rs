//! How a pen stroke looks.

use std::sync::Arc;

use eframe::egui::{Color32, Mesh, Pos2, Vec2, pos2};
use inkling::window::draw::view::ink::{Look, Node, PaintedInk, curve, knots, stroke};
use inkling::window::{CANVAS, Drawing, PenStroke};

/// The curve of a stroke through these points.
fn smooth(points: &[Pos2]) -> Vec<Pos2> {
    let knots = knots(points.iter().map(|&at| Node::new(at, 5.0)));
    curve(&knots, 0, knots.len() - 1)
        .into_iter()
        .map(|node| node.at)
        .collect()
}

/// How much of the ink's color these triangles put on a point, from 0 to 1.
fn ink_at(meshes: &[&Mesh], at: Pos2) -> f32 {
    let triangles = meshes.iter().flat_map(|mesh| {
        mesh.indices
            .chunks_exact(3)
            .map(|corners| [0, 1, 2].map(|i| mesh.vertices[corners[i] as usize]))
    });
    let weights = |[a, b, c]: [Pos2; 3]| {
        let area = |a: Pos2, b: Pos2, c: Pos2| (b - a).x * (c - a).y - (b - a).y * (c - a).x;
        let whole = area(a, b, c);
        (whole.abs() > 1e-6)
            .then(|| [area(b, c, at), area(c, a, at), area(a, b, at)].map(|part| part / whole))
    };
    let inks = triangles.filter_map(|corners| {
        let weights = weights(corners.map(|corner| corner.pos))?;
        weights.iter().all(|weight| *weight >= -1e-4).then(|| {
            weights
                .iter()
                .zip(corners)
                .map(|(weight, corner)| weight * f32::from(corner.color.a()) / 255.0)
                .sum()
        })
    });
    inks.fold(0.0, f32::max)
}

/// How far a point is from a straight line between two others.
fn distance(at: Pos2, from: Pos2, to: Pos2) -> f32 {
    let way = to - from;
    let share = ((at - from).dot(way) / way.length_sq().max(1e-6)).clamp(0.0, 1.0);
    at.distance(from + way * share)
}

/// Checks that a stroke covers what lies within its radius of its curve, and nothing else.
fn covers_its_width(points: &[Node], pixel: f32) {
    let mesh = stroke(points.iter().copied(), Color32::BLACK, pixel);
    let knots = knots(points.iter().copied());
    let line = curve(&knots, 0, knots.len() - 1);
    let widest = points.iter().map(|node| node.radius).fold(0.0, f32::max);
    for node in &line {
        for turn in 0_u8..24 {
            let outward = Vec2::angled(f32::from(turn) * std::f32::consts::TAU / 24.0);
            let inside = node.at + outward * (node.radius - pixel);
            assert!(
                ink_at(&[&mesh], inside) > 0.95,
                "a hole at {inside:?}, beside {node:?} (pixel {pixel})"
            );
            let outside = node.at + outward * (node.radius + 1.5 * pixel);
            let free = line
                .array_windows()
                .all(|[a, b]| distance(outside, a.at, b.at) > widest + pixel)
                && line.len() > 1;
            assert!(
                !free || ink_at(&[&mesh], outside) < 0.05,
                "ink at {outside:?}, outside of {node:?} (pixel {pixel})"
            );
        }
    }
}

fn meshes(painted: &mut PaintedInk, strokes: &[PenStroke]) -> Vec<Arc<Mesh>> {
    let meshes = painted.meshes(strokes, LOOK);
    meshes.map(|(_, mesh)| Arc::clone(mesh)).collect()
}

#[test]
fn the_curve_passes_through_points_that_lie_apart() {
    let points: Vec<Pos2> = (0u8..20)
        .map(|i| pos2(f32::from(i) * 13.0, (f32::from(i) * 0.9).sin() * 30.0))
        .collect();
    let curve = smooth(&points);
    assert!(curve.len() > points.len());
    for point in points {
        assert!(
            curve.iter().any(|at| at.distance(point) < 1e-3),
            "{point:?} is missed"
        );
    }
}

/// The points of a circle that a pointer on whole pixels reports, this far apart along it.
fn circle(step: f32) -> Vec<Pos2> {
    let (radius, count) = (80.0, (500.0 / step) as u16);
    (0..count)
        .map(|i| (pos2(100.0, 100.0) + Vec2::angled(f32::from(i) * step / radius) * radius).round())
        .collect()
}

/// The largest angle between two straight parts, in degrees.
fn sharpest(curve: &[Pos2]) -> f32 {
    let turns = curve
        .array_windows()
        .map(|[a, b, c]| (*b - *a).angle() - (*c - *b).angle());
    turns
        .map(|turn| turn.sin().abs().asin().to_degrees())
        .fold(0.0, f32::max)
}

#[test]
fn whole_pixels_leave_no_facets() {
    for step in [1.0, 3.0, 6.0, 11.0, 40.0, 80.0] {
        let points = circle(step);
        let curve = smooth(&points);
        assert_eq!(
            (curve.first(), curve.last()),
            (points.first(), points.last()),
            "ends stay where they are"
        );
        assert!(
            sharpest(&curve) < 6.0,
            "{} degrees at once, points {step} apart",
            sharpest(&curve)
        );
        let farthest = curve
            .iter()
            .map(|at| (at.distance(pos2(100.0, 100.0)) - 80.0).abs())
            .fold(0.0, f32::max);
        // Of points that are far apart, nobody knows what was between them.
        assert!(
            farthest < 1.2_f32.max(step * step / 800.0),
            "{farthest} from the circle, points {step} apart"
        );
    }
}

#[test]
fn a_fast_loop_of_four_points_is_round() {
    let points = [
        pos2(0.0, 0.0),
        pos2(40.0, 40.0),
        pos2(0.0, 80.0),
        pos2(-40.0, 40.0),
        pos2(0.0, 0.0),
        pos2(40.0, 40.0),
    ];
    assert!(
        sharpest(&smooth(&points)) < 12.0,
        "{}",
        sharpest(&smooth(&points))
    );
}

#[test]
fn a_corner_stays_one() {
    let down = (0u8..20).map(|i| pos2(f32::from(i) * 4.0, f32::from(i) * 4.0));
    let up = (1u8..20).map(|i| pos2(76.0 + f32::from(i) * 4.0, 76.0 - f32::from(i) * 4.0));
    let curve = smooth(&down.chain(up).collect::<Vec<_>>());
    assert!(curve.iter().any(|at| at.distance(pos2(76.0, 76.0)) < 0.1));
}

#[test]
fn strokes_have_no_holes_notches_or_spikes() {
    let thick = |points: &[[f32; 2]], radius: f32| {
        points
            .iter()
            .map(|&[x, y]| Node::new(pos2(x, y), radius))
            .collect::<Vec<_>>()
    };
    let zigzag = [
        [0.0, 0.0],
        [60.0, 4.0],
        [0.0, 8.0],
        [60.0, 30.0],
        [20.0, 90.0],
    ];
    let back = [[0.0, 0.0], [50.0, 0.0], [0.0, 0.0]];
    let tight = [
        [0.0, 0.0],
        [30.0, 2.0],
        [36.0, 8.0],
        [30.0, 14.0],
        [0.0, 16.0],
    ];
    for (points, radius) in [
        (&zigzag[..], 6.0),
        (&back, 10.0),
        (&back, 0.8),
        (&tight, 20.0),
        (&tight, 2.0),
        (&[[5.0, 5.0]], 9.0),
        (&[[5.0, 5.0]; 3], 9.0),
    ] {
        for pixel in [1.0, 0.5] {
            covers_its_width(&thick(points, radius), pixel);
        }
    }
}

#[test]
fn the_width_follows_the_pressure_without_steps() {
    let pressed: Vec<Node> = (0_u8..40)
        .map(|i| {
            Node::new(
                pos2(f32::from(i) * 6.0, (f32::from(i) * 0.4).sin() * 20.0),
                2.0 + f32::from(i) * 0.2,
            )
        })
        .collect();
    covers_its_width(&pressed, 1.0);
}

const LOOK: Look = Look {
    origin: Pos2::ZERO,
    scale: 2.0,
    width: 20.0,
    color: Color32::BLACK,
    pixel: 1.0,
};

/// A spiral with this many points.
fn spiral(points: u16) -> Vec<[f32; 2]> {
    let at = |i: u16| Vec2::splat(140.0) + Vec2::angled(f32::from(i) * 0.05) * (f32::from(i) * 0.1);
    (0..points).map(|i| [at(i).x, at(i).y]).collect()
}

#[test]
fn a_stroke_that_grows_looks_as_one_drawn_at_once() {
    let (mut drawing, mut painted) = (Drawing::default(), PaintedInk::default());
    let points = spiral(900);
    drawing.begin(points[0]);
    for point in &points[1..] {
        drawing.extend(*point);
        assert!(painted.meshes(drawing.strokes(), LOOK).count() > 0);
    }
    let grown: Vec<_> = meshes(&mut painted, drawing.strokes());
    let mut afresh = PaintedInk::default();
    let once: Vec<_> = meshes(&mut afresh, drawing.strokes());
    assert!(
        grown == once && once.len() > 5,
        "{} and {} pieces",
        grown.len(),
        once.len()
    );
    // No gap where pieces meet.
    let pieces: Vec<&Mesh> = once.iter().map(|mesh| &**mesh).collect();
    for [x, y] in &points {
        assert!(ink_at(&pieces, pos2(x * 2.0, y * 2.0)) > 0.99);
    }
}

#[test]
fn of_a_long_stroke_only_the_end_is_computed_again() {
    let mut painted = PaintedInk::default();
    let mut strokes = vec![PenStroke::from(spiral(20_000))];
    let before: Vec<_> = meshes(&mut painted, &strokes);
    strokes[0].points.push([10.0, 10.0]);
    let after: Vec<_> = meshes(&mut painted, &strokes);
    let same = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| Arc::ptr_eq(before, after))
        .count();
    assert!(
        before.len() > 50 && same + 2 >= before.len(),
        "{same} of {} pieces stayed",
        before.len()
    );
}

/// A straight stroke whose points are whole pixels of a canvas with `side` points, shown on one
/// with 925: how far the edge of its ink is from straight, in points. `drawn` is the side of the
/// canvas that the stroke is said to have been drawn on.
fn unevenness(side: f32, drawn: f32, slope: f32) -> f32 {
    let grid = side / CANVAS;
    let exact = |y: f32| [60.0 + slope * y, y];
    let points: Vec<[f32; 2]> = (40..240_u8)
        .map(|y| exact(y.into()).map(|at| (at * grid).round() / grid))
        .collect();
    let mut drawing = Drawing::default();
    drawing.scale = drawn / CANVAS;
    drawing.begin(points[0]);
    points[1..]
        .iter()
        .for_each(|&point| _ = drawing.extend(point));
    let scale = 925.0 / CANVAS;
    let look = Look {
        origin: Pos2::ZERO,
        scale,
        width: 20.0 * scale,
        color: Color32::BLACK,
        pixel: 1.0,
    };
    let [from, to] = [60.0, 200.0].map(exact).map(|[x, y]| pos2(x, y) * scale);
    let across = (to - from).normalized().rot90();
    let mut painted = PaintedInk::default();
    let vertices = painted
        .meshes(drawing.strokes(), look)
        .flat_map(|(_, mesh)| &mesh.vertices)
        .filter(|vertex| vertex.color.a() == 255);
    let off = vertices
        .filter(|vertex| (from.y..to.y).contains(&vertex.pos.y))
        .map(|vertex| {
            let from_line = (vertex.pos - from).dot(across).abs();
            (from_line - look.width / 2.0).abs()
        });
    // The ribbon has vertices along its middle, too.
    off.filter(|off| *off < look.width / 4.0)
        .fold(0.0, f32::max)
}

#[test]
fn a_stroke_from_a_small_canvas_stays_smooth_on_a_large_one() {
    for slope in [0.05, 0.1, 0.3, 0.9] {
        let (smooth, lumpy) = (
            unevenness(186.0, 186.0, slope),
            unevenness(186.0, 925.0, slope),
        );
        assert!(
            smooth < 2.5 && smooth < 0.7 * lumpy,
            "{smooth} points at a slope of {slope}, {lumpy} if its pixels are taken for the screen's"
        );
    }
}
