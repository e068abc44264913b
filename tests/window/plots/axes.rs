//! The steps in view, the heights that fit them, and the ticks of both axes.

use egui_plot::{GridInput, GridMark, PlotPoint};
use inkling::text::format::significant;
use inkling::window::plots::chart::bounds;
use inkling::window::plots::range::{Gesture, Range};
use inkling::window::plots::scale::{GRID, XAxis, XUnit, YAxis, marks, short_count};

/// Steps of the run.
const LAST: f64 = 1000.0;

fn steps_after(gestures: &[Gesture]) -> [f64; 2] {
    let mut range = Range::default();
    gestures
        .iter()
        .for_each(|&gesture| range.follow(gesture, LAST));
    range.steps(LAST)
}

#[test]
fn zooming_keeps_the_step_under_the_pointer_where_it_is() {
    assert_eq!(steps_after(&[]), [0.0, 1000.0]);
    assert_eq!(
        steps_after(&[Gesture::Zoom {
            factor: 0.5,
            about: 200.0
        }]),
        [100.0, 600.0]
    );
    assert_eq!(
        steps_after(&[
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
        let [from, to] = steps_after(&[Gesture::Show([300.0, 400.0]), gesture]);
        assert!(
            from >= 0.0 && to <= LAST && to - from >= 4.0,
            "{gesture:?}: {from} to {to}"
        );
    }
}

#[test]
fn a_box_drawn_in_either_direction_is_shown_and_fit_shows_all() {
    assert_eq!(
        steps_after(&[Gesture::Show([600.0, 400.0])]),
        [400.0, 600.0]
    );
    assert_eq!(
        steps_after(&[Gesture::Show([400.0, 600.0]), Gesture::Pan(-50.0)]),
        [350.0, 550.0]
    );
    assert_eq!(
        steps_after(&[Gesture::Show([400.0, 600.0]), Gesture::Fit]),
        [0.0, 1000.0]
    );
    assert_eq!(
        steps_after(&[Gesture::Show([400.0, 600.0]), Gesture::Box([1.0, 2.0])]),
        [400.0, 600.0],
        "only the finished box counts"
    );
}

#[test]
fn the_whole_run_stays_in_view_as_it_grows_and_a_part_stays_within_it() {
    let mut range = Range::default();
    assert_eq!(range.steps(10.0), [0.0, 10.0]);
    assert_eq!(range.steps(20.0), [0.0, 20.0]);
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
        in_percent: false,
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

#[test]
fn steps_and_epochs_are_two_scales_of_one_axis() {
    let axis = XAxis {
        unit: XUnit::Epoch,
        steps_per_epoch: 430.0,
    };
    assert_eq!((axis.position(860.0), axis.step(2.0)), (2.0, 860.0));
    let axis = XAxis {
        unit: XUnit::Step,
        ..axis
    };
    assert_eq!((axis.position(860.0), axis.step(860.0)), (860.0, 860.0));
    assert_eq!(
        axis.tick(GridMark {
            value: 0.5,
            step_size: 0.5
        }),
        "",
        "between steps there is nothing"
    );
}

#[test]
fn a_logarithmic_axis_places_powers_of_ten_evenly_and_survives_zero() {
    let axis = YAxis {
        log: true,
        in_percent: false,
        from_zero: false,
        least_range: 0.05,
        without_data: (-1.0, 0.0),
    };
    assert!((axis.position(100.0) - 2.0).abs() < 1e-12);
    assert!(axis.position(0.0).is_finite() && axis.position(-1.0).is_finite());
    assert_eq!(
        axis.tick(GridMark {
            value: -2.0,
            step_size: 1.0
        }),
        "0.01"
    );
    let marks = YAxis::log_marks(&GridInput {
        bounds: (-1.1, 0.4),
        base_step_size: 0.1,
    });
    let values: Vec<String> = marks
        .iter()
        .map(|mark| significant(10f64.powf(mark.value)))
        .collect();
    assert_eq!(values, ["0.1", "0.2", "0.5", "1", "2"]);
}

#[test]
fn marks_are_round_and_far_enough_apart() {
    // 0 to 100 over 200 points: a point is 0.5, so 32 points are 16, and the next round step is 20.
    let input = GridInput {
        bounds: (0.0, 100.0),
        base_step_size: 0.5 * f64::from(GRID),
    };
    let values: Vec<f64> = marks(&input, 32.0).iter().map(|mark| mark.value).collect();
    assert_eq!(values, [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
    for bounds in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (0.0, 1e300)] {
        assert!(
            marks(
                &GridInput {
                    bounds,
                    base_step_size: 1e-9
                },
                32.0
            )
            .len()
                <= 2001
        );
    }
}

#[test]
fn figures_are_short() {
    assert_eq!(
        [940.0, 2000.0, 37_500.0, 1_200_000.0].map(short_count),
        ["940", "2k", "37.5k", "1.2M"]
    );
    assert_eq!(
        [2.3051, 0.0123, 0.000_412, 0.0, 12345.0].map(significant),
        ["2.31", "0.0123", "0.000412", "0", "12,345"]
    );
}

#[test]
fn ticks_close_together_are_told_apart() {
    let axis = XAxis {
        unit: XUnit::Step,
        steps_per_epoch: 100.0,
    };
    let labels = |first: f64, step_size: f64| {
        [0.0, 1.0, 2.0].map(|index| {
            axis.tick(GridMark {
                value: first + index * step_size,
                step_size,
            })
        })
    };
    assert_eq!(labels(1262.0, 1.0), ["1,262", "1,263", "1,264"]);
    assert_eq!(labels(1260.0, 10.0), ["1.26k", "1.27k", "1.28k"]);
    assert_eq!(
        labels(1_200_000.0, 1000.0),
        ["1,200,000", "1,201,000", "1,202,000"]
    );
}
