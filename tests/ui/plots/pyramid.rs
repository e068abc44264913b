//! Thinning a curve for display.

use inkling::math::random::Random;
use inkling::window::plots::pyramid::Pyramid;

/// A noisy curve with one spike.
fn curve(points: usize, spike: usize) -> (Pyramid, Vec<[f64; 2]>) {
    let mut random = Random::new(7);
    let mut pyramid = Pyramid::default();
    let mut all = Vec::new();
    for index in 0..points {
        let value = if index == spike {
            50.0
        } else {
            f64::from(random.uniform())
        };
        pyramid.push(index as f64, value);
        all.push([index as f64, value]);
    }
    (pyramid, all)
}

#[test]
fn few_points_come_back_as_they_went_in() {
    let (pyramid, all) = curve(300, 20);
    assert_eq!(pyramid.visible(f64::NEG_INFINITY, f64::INFINITY, 1000), all);
}

#[test]
fn many_points_are_thinned_in_order_with_extremes_and_the_newest_kept() {
    for (points, spike) in [
        (37_000, 12_345),
        (37_001, 36_999),
        (4_097, 0),
        (65_536, 65_535),
    ] {
        let (pyramid, all) = curve(points, spike);
        let thinned = pyramid.visible(f64::NEG_INFINITY, f64::INFINITY, 1000);
        assert!(thinned.len() <= 1000 + 40, "{} of {points}", thinned.len());
        assert!(thinned.len() > 200, "{} of {points}", thinned.len());
        assert!(thinned.windows(2).all(|pair| pair[0][0] < pair[1][0]));
        assert!(
            thinned.contains(&all[spike]),
            "the spike at {spike} of {points} is lost"
        );
        assert_eq!(thinned.last(), all.last());
        assert!(
            thinned.iter().all(|point| all[point[0] as usize] == *point),
            "points are measured ones, not means"
        );
    }
}

#[test]
fn zooming_in_brings_every_point_back() {
    let (pyramid, all) = curve(37_000, 5);
    assert_eq!(
        pyramid.visible(20_000.0, 20_100.0, 1000),
        all[19_999..=20_101]
    );
}

#[test]
fn a_view_beside_the_curve_shows_at_most_its_end() {
    let (pyramid, _) = curve(100, 5);
    assert!(pyramid.visible(500.0, 600.0, 1000).len() <= 1);
    assert!(Pyramid::default().visible(0.0, 1.0, 10).is_empty());
}

#[test]
fn the_nearest_point_is_found_and_what_is_no_number_left_out() {
    let mut pyramid = Pyramid::default();
    for (x, y) in [(1.0, 0.5), (2.0, f64::NAN), (10.0, 0.25)] {
        pyramid.push(x, y);
    }
    assert_eq!(pyramid.len(), 2);
    assert_eq!(pyramid.nearest(4.0), Some([1.0, 0.5]));
    assert_eq!(pyramid.nearest(99.0), Some([10.0, 0.25]));
    assert_eq!(Pyramid::default().nearest(0.0), None);
}
