//! How a pen stroke looks.

use eframe::egui::{Color32, Pos2, Shape, Vec2, pos2};
use inkling::ui::draw::stroke::{shapes, smooth};

#[test]
fn the_curve_passes_through_points_that_lie_apart() {
    let points: Vec<Pos2> = (0u8..20).map(|i| pos2(f32::from(i) * 13.0, (f32::from(i) * 0.9).sin() * 30.0)).collect();
    let curve = smooth(&points);
    assert!(curve.len() > points.len());
    for point in points {
        assert!(curve.iter().any(|at| at.distance(point) < 1e-3), "{point:?} is missed");
    }
}

/// The points of a circle that a pointer on whole pixels reports, this far apart along it.
fn circle(step: f32) -> Vec<Pos2> {
    let (radius, count) = (80.0, (500.0 / step) as u16);
    (0..count).map(|i| (pos2(100.0, 100.0) + Vec2::angled(f32::from(i) * step / radius) * radius).round()).collect()
}

#[test]
fn whole_pixels_leave_no_facets() {
    for step in [1.0, 3.0, 6.0, 11.0] {
        let points = circle(step);
        let curve = smooth(&points);
        assert_eq!((curve.first(), curve.last()), (points.first(), points.last()), "ends stay where they are");
        let turns = curve.array_windows().map(|[a, b, c]| (*b - *a).angle() - (*c - *b).angle());
        let sharpest = turns.map(|turn| turn.sin().abs().asin().to_degrees()).fold(0.0, f32::max);
        // The circle itself turns by 1.4 degrees in 2 points.
        assert!(sharpest < 6.0, "{sharpest} degrees at once, points {step} apart");
        let farthest = curve.iter().map(|at| (at.distance(pos2(100.0, 100.0)) - 80.0).abs()).fold(0.0, f32::max);
        assert!(farthest < 1.2, "{farthest} from the circle, points {step} apart");
    }
}

#[test]
fn a_corner_stays_one() {
    let down = (0u8..20).map(|i| pos2(f32::from(i) * 4.0, f32::from(i) * 4.0));
    let up = (1u8..20).map(|i| pos2(76.0 + f32::from(i) * 4.0, 76.0 - f32::from(i) * 4.0));
    let curve = smooth(&down.chain(up).collect::<Vec<_>>());
    assert!(curve.iter().any(|at| at.distance(pos2(76.0, 76.0)) < 0.1));
}

#[test]
fn a_tap_is_a_dot_and_repeated_points_are_one() {
    let dot = shapes(&[pos2(5.0, 5.0), pos2(5.0, 5.0)], 10.0, Color32::BLACK);
    assert!(matches!(dot.as_slice(), [Shape::Circle(circle)] if circle.radius == 5.0));
    assert!(shapes(&[], 10.0, Color32::BLACK).is_empty());
}

#[test]
fn ends_and_sharp_corners_are_round() {
    let corner = pos2(50.0, 0.0);
    let discs: Vec<Pos2> = shapes(&[pos2(0.0, 0.0), corner, pos2(50.0, 50.0)], 10.0, Color32::BLACK)
        .iter()
        .filter_map(|shape| if let Shape::Circle(circle) = shape { Some(circle.center) } else { None })
        .collect();
    for at in [pos2(0.0, 0.0), pos2(50.0, 50.0)] {
        assert!(discs.contains(&at));
    }
    assert!(discs.iter().any(|at| at.distance(corner) < 5.0), "{discs:?}");
}
