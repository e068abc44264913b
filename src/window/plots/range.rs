//! The steps in view, which all charts share: zoomed, panned, and never without a part of the run.

const MIN_STEPS: f64 = 20.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// First and last step; `None` for the whole run, also as it grows.
    zoomed: Option<[f64; 2]>,
}

/// What a person does to the range with pointer or keys; all positions are steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gesture {
    /// Show this many times as many steps, with the step `about` staying where it is.
    Zoom {
        /// Below 1 comes closer.
        factor: f64,
        /// Stays where it is.
        about: f64,
    },
    Pan(f64),
    /// A box is being drawn over these steps.
    Box([f64; 2]),
    /// The box is complete: show these steps.
    Show([f64; 2]),
    Fit,
}

impl Range {
    /// The first and the last step in view, of a run of `last` steps.
    pub fn steps(self, last: f64) -> [f64; 2] {
        self.zoomed.unwrap_or([0.0, last.max(1.0)])
    }

    /// True while the whole run is in view.
    pub const fn is_whole(self) -> bool {
        self.zoomed.is_none()
    }

    /// Follows a gesture, in a run of `last` steps.
    pub fn follow(&mut self, gesture: Gesture, last: f64) {
        let [from, to] = self.steps(last);
        let wanted = match gesture {
            Gesture::Zoom { factor, about } => [
                about - (about - from) * factor,
                about + (to - about) * factor,
            ],
            Gesture::Pan(steps) => [from + steps, to + steps],
            Gesture::Show([one, other]) => [one.min(other), one.max(other)],
            Gesture::Box(_) => return,
            Gesture::Fit => [0.0, last],
        };
        self.zoomed = within(wanted, last);
    }

    /// Moves so far that this step is in view.
    pub fn reveal(&mut self, step: f64, last: f64) {
        let [from, to] = self.steps(last);
        self.follow(
            Gesture::Pan((step - to).max(0.0) + (step - from).min(0.0)),
            last,
        );
    }

    /// Keeps a part of the run in view, after it became another or was rolled back.
    pub fn keep_within(&mut self, last: f64) {
        self.zoomed = self.zoomed.and_then(|range| within(range, last));
    }
}

/// The range moved and widened so that it is a part of the run; `None` if it is the whole run, or
/// is not a range.
fn within([from, to]: [f64; 2], last: f64) -> Option<[f64; 2]> {
    let width = (to - from).max(MIN_STEPS);
    if !(from.is_finite() && width < last) {
        return None;
    }
    // What is too narrow grows about its centre.
    let from = (from - (width - (to - from)) / 2.0).clamp(0.0, last - width);
    Some([from, from + width])
}
