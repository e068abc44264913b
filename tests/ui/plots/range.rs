//! The steps in view, and the heights that fit them.

use egui_plot::PlotPoint;
use inkling::window::plots::fit::bounds;
use inkling::window::plots::range::{Gesture, Range};
use inkling::window::plots::scale::YAxis;

/// Steps of the run.
const LAST: f64 = 1000.0;

fn after(gestures: &[Gesture]) -> [f64; 2] {
    let mut range = Range::default();
    gestures
        .iter()
        .for_each(|&gesture| range.follow(gesture, LAST));
    range.steps(LAST)
}

#[test]
fn zooming_keeps_the_step_under_the_pointer_where_it_is() {
    assert_eq!(after(&[]), [0.0, 1000.0]);
    assert_eq!(
        after(&[Gesture::Zoom {
            factor: 0.5,
            about: 200.0
        }]),
        [100.0, 600.0]
    );
    assert_eq!(
        after(&[
            Gesture::Zoom {
                factor: 0.5,
                about: 200.0
            },
            Gesture::Zoom {
                factor: 9.0,
                about: 300.0
            }
        ]),
        [0.0, 1000.0]
    );
}

#[test]
fn no_gesture_leaves_the_run_or_shows_less_than_a_few_steps() {
    for gesture in [
        Gesture::Pan(1e12),
        Gesture::Pan(-1e12),
        Gesture::Zoom {
            factor: 1e-12,
            about: 5000.0,
        },
        Gesture::Zoom {
            factor: 1e12,
            about: -5000.0,
        },
        Gesture::Zoom {
            factor: f64::NAN,
            about: 3.0,
        },
        Gesture::Show([-900.0, -500.0]),
        Gesture::Show([7.0, 7.0]),
    ] {
        let [from, to] = after(&[Gesture::Show([300.0, 400.0]), gesture]);
        assert!(
            from >= 0.0 && to <= LAST && to - from >= 4.0,
            "{gesture:?}: {from} to {to}"
        );
    }
}

#[test]
fn a_box_drawn_in_either_direction_is_shown_and_fit_shows_all() {
    assert_eq!(after(&[Gesture::Show([600.0, 400.0])]), [400.0, 600.0]);
    assert_eq!(
        after(&[Gesture::Show([400.0, 600.0]), Gesture::Pan(-50.0)]),
        [350.0, 550.0]
    );
    assert_eq!(
        after(&[Gesture::Show([400.0, 600.0]), Gesture::Fit]),
        [0.0, 1000.0]
    );
    assert_eq!(
        after(&[Gesture::Show([400.0, 600.0]), Gesture::Box([1.0, 2.0])]),
        [400.0, 600.0],
        "only the finished box counts"
    );
}

#[test]
fn the_whole_run_stays_in_view_as_it_grows_and_a_part_stays_within_it() {
    let mut range = Range::default();
    assert_eq!(
        (range.steps(10.0), range.steps(20.0)),
        ([0.0, 10.0], [0.0, 20.0])
    );
    range.follow(Gesture::Show([400.0, 600.0]), LAST);
    assert_eq!(range.steps(2.0 * LAST), [400.0, 600.0]);
    // Rolled back to step 500.
    range.keep_within(500.0);
    assert_eq!(range.steps(500.0), [300.0, 500.0]);
    range.reveal(100.0, 500.0);
    assert_eq!(range.steps(500.0), [100.0, 300.0]);
}

#[test]
fn the_vertical_axis_fits_what_is_in_view_and_lines_that_cross_it() {
    let axis = YAxis {
        log: false,
        unit: "",
        from_zero: false,
        least_range: 0.002,
        without_data: (0.0, 2.3),
    };
    let line: Vec<PlotPoint> = [(0.0, 100.0), (10.0, 1.0), (20.0, 2.0), (40.0, 6.0)]
        .map(|(x, y)| PlotPoint::new(x, y))
        .to_vec();
    let of = |from, to| bounds(axis, std::iter::once(line.as_slice()), from, to);
    let near = |got: [f64; 2], want: [f64; 2]| {
        got.iter()
            .zip(want)
            .all(|(got, want)| (got - want).abs() < 1e-9)
    };
    assert!(
        near(of(10.0, 20.0), [1.0 - 0.08, 2.0 + 0.08]),
        "{:?}",
        of(10.0, 20.0)
    );
    assert!(
        near(of(25.0, 30.0), [3.0 - 0.08, 4.0 + 0.08]),
        "between two points: {:?}",
        of(25.0, 30.0)
    );
    let [low, high] = bounds(axis, std::iter::empty(), 0.0, 1.0);
    assert!(
        low < 0.0 && high > 2.3,
        "without data there is an axis all the same"
    );
    let level = [PlotPoint::new(0.0, 5.0), PlotPoint::new(9.0, 5.0)];
    let [low, high] = bounds(axis, std::iter::once(level.as_slice()), 0.0, 9.0);
    assert!(low < 5.0 && 5.0 < high, "{low} to {high}");
}
