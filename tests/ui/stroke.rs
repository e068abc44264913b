//! How a pen stroke looks.

use eframe::egui::{Color32, Pos2, Shape, pos2};
use inkling::ui::draw::stroke::{shapes, smooth};

#[test]
fn the_curve_passes_through_every_point() {
    let points: Vec<Pos2> = (0u8..20).map(|i| pos2(f32::from(i) * 7.0, (f32::from(i) * 0.9).sin() * 30.0)).collect();
    let curve = smooth(&points);
    assert!(curve.len() > points.len());
    for point in points {
        assert!(curve.iter().any(|at| at.distance(point) < 1e-3), "{point:?} is missed");
    }
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
