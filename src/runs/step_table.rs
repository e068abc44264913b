//! The steps of a run as CSV: one line per step, or per several of a long run.

use std::fmt::Write as _;

use crate::records::StepPoint;

pub fn text(steps: &[StepPoint]) -> String {
    let mut text = String::from("step,loss,accuracy,learning_rate\n");
    for StepPoint {
        step,
        loss,
        accuracy,
        learning_rate,
    } in steps
    {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{step},{loss},{accuracy},{learning_rate}");
    }
    text
}

/// The steps in a table; other lines, such as the first, are left out.
pub fn parse(text: &str) -> Vec<StepPoint> {
    let mut steps: Vec<StepPoint> = text.lines().filter_map(point).collect();
    // Plots rely on the order.
    steps.sort_by_key(|point| point.step);
    steps
}

fn point(line: &str) -> Option<StepPoint> {
    let mut fields = line.split(',');
    let step = fields.next()?.parse().ok()?;
    let mut number = || {
        fields
            .next()?
            .parse()
            .ok()
            .filter(|number: &f32| number.is_finite())
    };
    let [loss, accuracy, learning_rate] = [number()?, number()?, number()?];
    fields.next().is_none().then_some(StepPoint {
        step,
        loss,
        accuracy,
        learning_rate,
    })
}
