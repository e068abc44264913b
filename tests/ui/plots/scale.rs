//! Axes and their ticks.

use egui_plot::{GridInput, GridMark};
use inkling::window::plots::scale::{GRID, XAxis, XUnit, YAxis, marks, short_count, significant};

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
        unit: "",
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
        ["2.31", "0.0123", "0.000412", "0", "12345"]
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
