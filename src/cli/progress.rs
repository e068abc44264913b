use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::format::clock;
use super::output::note;
use crate::text::visible;

const STEPS: f32 = 1000.0;

/// A progress bar on standard error, hidden if that is not a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    began: Instant,
}

impl Progress {
    /// A bar at 0 %.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {percent:>3} %  {wide_msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            began: Instant::now(),
        }
    }

    /// Moves the bar to `fraction` (0 to 1); the remaining time is extrapolated.
    pub fn show(&self, fraction: f32, text: &str) {
        let elapsed = self.began.elapsed().as_secs_f64();
        let fraction = f64::from(fraction.clamp(0.0, 1.0));
        let remaining =
            (fraction > 0.02 && elapsed > 0.5).then(|| elapsed * (1.0 - fraction) / fraction);
        self.show_remaining(fraction as f32, text, remaining);
    }

    /// Moves the bar to `fraction` (0 to 1), with the remaining time in seconds if it is known.
    pub fn show_remaining(&self, fraction: f32, text: &str, remaining: Option<f64>) {
        // The time comes first because narrow terminals cut off the end.
        let left =
            remaining.map_or_else(String::new, |seconds| format!("{} left · ", clock(seconds)));
        self.bar
            .set_message(format!("{left}{}", visible::one_line(text)));
        self.bar
            .set_position((fraction.clamp(0.0, 1.0) * STEPS) as u64);
    }

    pub fn note(&self, text: &str) {
        self.suspend(|| note(text));
    }

    /// Does what prints lines, above the bar.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    /// Removes the bar; the lines above it stay.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
