//! Learning rates at the corners of each schedule.

use inkling::optim::Schedule;
use inkling::run_config::ScheduleKind;

fn rates(kind: ScheduleKind, steps: u64) -> Vec<f32> {
    let schedule = Schedule::new(kind, 0.5, steps);
    (0..steps).map(|step| schedule.lr(step)).collect()
}

fn falls(rates: &[f32]) -> bool {
    rates.windows(2).all(|pair| pair[1] < pair[0])
}

fn rises(rates: &[f32]) -> bool {
    rates.windows(2).all(|pair| pair[1] > pair[0])
}

#[test]
fn constant_is_constant() {
    assert!(
        rates(ScheduleKind::Constant, 100)
            .iter()
            .all(|&rate| rate == 0.5)
    );
}

#[test]
fn step_falls_to_a_tenth_at_half_and_again_at_three_quarters() {
    let rates = rates(ScheduleKind::Step, 100);
    for (step, rate) in [
        (0, 0.5),
        (49, 0.5),
        (50, 0.05),
        (74, 0.05),
        (75, 0.005),
        (99, 0.005),
    ] {
        assert!(
            (rates[step] - rate).abs() < 1e-7,
            "{} at {step}",
            rates[step]
        );
    }
}

#[test]
fn cosine_warms_up_over_five_percent_and_falls_to_zero() {
    let rates = rates(ScheduleKind::Cosine, 100);
    assert!(
        (rates[0] - 0.1).abs() < 1e-6,
        "a fifth of the peak, being the first of five steps"
    );
    assert_eq!(rates[4], 0.5);
    assert!(rises(&rates[..5]) && falls(&rates[5..]));
    assert!(rates[99] > 0.0 && rates[99] < 0.5 * 0.001);
    // Half-way down at half of the 95 steps.
    assert!((rates[5 + 47] - 0.25).abs() < 0.01);
}

#[test]
fn one_cycle_rises_over_thirty_percent_and_ends_near_zero() {
    let rates = rates(ScheduleKind::OneCycle, 101);
    assert!((rates[0] - 0.5 / 25.0).abs() < 1e-6);
    assert_eq!(rates[30], 0.5);
    assert!(rises(&rates[..31]) && falls(&rates[30..]));
    assert!(
        (rates[15] - f32::midpoint(0.5, 0.02)).abs() < 1e-6,
        "half-way up, half-way between"
    );
    assert!((rates[100] - 0.5 / 250_000.0).abs() < 1e-9);
}

#[test]
fn short_runs_have_usable_rates() {
    for &kind in ScheduleKind::ALL {
        for steps in 0..8 {
            let schedule = Schedule::new(kind, 0.5, steps);
            // Past the end, too: the last rate stays.
            for step in 0..10 {
                let rate = schedule.lr(step);
                assert!(
                    rate > 0.0 && rate <= 0.5,
                    "{kind}: {rate} at step {step} of {steps}"
                );
            }
            assert_eq!(schedule.lr(steps.max(1) - 1), schedule.lr(steps + 5));
        }
    }
}
