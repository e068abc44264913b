//! The steps in view, which all charts share: zoomed, panned, and never without a part of the run.
//! And what pointer and keys do to it: scroll zooms, drag pans, Shift or the secondary button draws
//! a box, double click fits.

use eframe::egui::{self, CursorIcon, Key, PointerButton, Response, Ui};
use egui_plot::PlotTransform;

use super::scale::XAxis;

const MIN_STEPS: f64 = 20.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// First and last step; `None` for the whole run, also as it grows.
    zoomed: Option<[f64; 2]>,
}

/// A gesture by pointer or keys that changes the range; all positions are steps.
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
    // What is too narrow grows about its center.
    let from = (from - (width - (to - from)) / 2.0).clamp(0.0, last - width);
    Some([from, from + width])
}

/// Scrolling this many points makes the view e times as wide or narrow.
const ZOOM_POINTS: f64 = 200.0;
const KEY_ZOOM: f64 = 1.25;

/// Of a chart: where it is, and how points on the screen become steps.
pub struct Target<'a> {
    pub response: &'a Response,
    /// From plot to screen.
    pub transform: PlotTransform,
    pub x: XAxis,
    pub cursor: f64,
}

impl Target<'_> {
    /// The step at a horizontal position on the screen.
    pub fn step(&self, x: f32) -> f64 {
        self.x
            .step(self.transform.value_from_position(egui::pos2(x, 0.0)).x)
    }

    /// The steps that this many points are.
    fn steps(&self, points: f32) -> f64 {
        self.x
            .step(f64::from(points) * self.transform.dvalue_dpos()[0])
    }

    /// What is being done to the chart in this frame. `from` is where the box that is being drawn
    /// began, and is kept here.
    pub fn gesture(&self, ui: &Ui, from: &mut Option<f64>) -> Option<Gesture> {
        let response = self.response;
        if response.double_clicked() {
            return Some(Gesture::Fit);
        }
        self.drawn_box(ui, from)
            .or_else(|| self.pan(ui))
            .or_else(|| self.scroll(ui))
            .or_else(|| self.keys(ui))
    }

    fn drawn_box(&self, ui: &Ui, from: &mut Option<f64>) -> Option<Gesture> {
        let response = self.response;
        if response.drag_started()
            && (response.dragged_by(PointerButton::Secondary)
                || ui.input(|input| input.modifiers.shift))
        {
            let origin = ui.input(|input| input.pointer.press_origin())?;
            *from = Some(self.step(origin.x));
        }
        if !(response.dragged() || response.drag_stopped()) {
            return None;
        }
        let to = self.step(response.interact_pointer_pos()?.x);
        if response.drag_stopped() {
            return from.take().map(|from| Gesture::Show([from, to]));
        }
        let from = (*from)?;
        ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        Some(Gesture::Box([from, to]))
    }

    fn pan(&self, ui: &Ui) -> Option<Gesture> {
        let moved = self.response.drag_delta().x;
        if !self.response.dragged_by(PointerButton::Primary) || moved == 0.0 {
            return None;
        }
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        Some(Gesture::Pan(-self.steps(moved)))
    }

    fn scroll(&self, ui: &Ui) -> Option<Gesture> {
        let pointer = ui
            .input(|input| input.pointer.hover_pos())
            .filter(|_| self.response.contains_pointer())?;
        let (scrolled, pinched) =
            ui.input(|input| (input.smooth_scroll_delta(), f64::from(input.zoom_delta())));
        let factor = (-f64::from(scrolled.y) / ZOOM_POINTS).exp() / pinched;
        if factor != 1.0 {
            return Some(Gesture::Zoom {
                factor,
                about: self.step(pointer.x),
            });
        }
        (scrolled.x != 0.0).then(|| Gesture::Pan(-self.steps(scrolled.x)))
    }

    fn keys(&self, ui: &Ui) -> Option<Gesture> {
        if !self.response.has_focus() {
            return None;
        }
        let zoom = ui.input(|input| {
            let pressed = |key| {
                if input.modifiers.command {
                    0
                } else {
                    input.num_presses(key) as i32
                }
            };
            pressed(Key::Minus) - pressed(Key::Plus) - pressed(Key::Equals)
        });
        (zoom != 0).then(|| Gesture::Zoom {
            factor: KEY_ZOOM.powi(zoom),
            about: self.cursor,
        })
    }
}

/// Keeps what encloses the chart from scrolling as well.
pub fn consume_scroll(ui: &Ui) {
    ui.input_mut(|input| input.smooth_scroll_delta = egui::Vec2::ZERO);
}
