//! Turns pointer, touch and keys into what the pen and the eraser do on the canvas.

use eframe::egui::{
    Context, Event, EventFilter, Key, LayerId, PointerButton, Pos2, Rect, Response, TouchPhase, Ui,
};

use crate::window::{CANVAS, DrawAction, Tool};

/// How far an arrow key moves the pen, in canvas units: about a pixel of the model's image.
const STRIDE: f32 = 10.0;
const FINE_STRIDE: f32 = 2.0;

#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// The pen is down, put down by the pointer with this button.
    pub by_pointer: Option<PointerButton>,
    /// The pointer's last position while it is, also outside of the canvas.
    last: Pos2,
    /// The last touch, and how hard it pressed.
    touch: Option<(Pos2, f32)>,
    /// The pen is down, put down by the space bar.
    pub by_key: bool,
    /// The keyboard pen's position, in canvas units.
    pub at: [f32; 2],
}

impl Default for Pen {
    fn default() -> Self {
        Self {
            by_pointer: None,
            last: Pos2::ZERO,
            touch: None,
            by_key: false,
            at: [CANVAS / 2.0; 2],
        }
    }
}

impl Pen {
    /// Every pointer position since the last frame becomes a point, so that fast strokes stay
    /// smooth. The first finger or the pen also arrives as pointer events, each after its own;
    /// further fingers and a resting palm draw nothing.
    pub fn follow_pointer(
        &mut self,
        ctx: &Context,
        rect: Rect,
        layer: LayerId,
        scale: f32,
        tool: Tool,
        actions: &mut Vec<DrawAction>,
    ) {
        let events = ctx.input(|input| input.events.clone());
        for event in events {
            match event {
                // The system takes over the finger for a gesture, or another window
                // comes to the front. A pointer that only leaves the window with its button held
                // comes back, or lets go out there.
                Event::Touch {
                    phase: TouchPhase::Cancel,
                    ..
                }
                | Event::WindowFocused(false)
                    if self.by_pointer.is_some() =>
                {
                    self.lift(actions);
                }
                Event::Touch { pos, force, .. } => self.touch = force.map(|force| (pos, force)),
                // Not through a menu or a dialog in front of the canvas.
                Event::PointerButton {
                    pos,
                    button: button @ (PointerButton::Primary | PointerButton::Secondary),
                    pressed: true,
                    ..
                } if self.by_pointer.is_none()
                    && rect.contains(pos)
                    && ctx.layer_id_at(pos).is_none_or(|top| top == layer) =>
                {
                    (self.by_pointer, self.by_key, self.last) = (Some(button), false, pos);
                    self.press(pos, actions);
                    actions.push(DrawAction::PenScale(scale));
                    let at = to_canvas(pos, rect, scale);
                    actions.push(
                        if tool == Tool::Eraser || button == PointerButton::Secondary {
                            DrawAction::EraserDown(at)
                        } else {
                            DrawAction::PenDown(at)
                        },
                    );
                }
                Event::PointerMoved(pos) if self.by_pointer.is_some() => {
                    self.draw_to(pos, rect, scale, actions);
                }
                Event::PointerButton {
                    pos,
                    button,
                    pressed: false,
                    ..
                } if self.by_pointer == Some(button) => {
                    self.draw_to(pos, rect, scale, actions);
                    self.lift(actions);
                }
                _ => {}
            }
        }
    }

    /// Moves the pen here. Outside of the canvas it follows the edge, from where it left to where
    /// it comes back.
    fn draw_to(&mut self, pos: Pos2, rect: Rect, scale: f32, actions: &mut Vec<DrawAction>) {
        self.press(pos, actions);
        let last = std::mem::replace(&mut self.last, pos);
        let is_inside = [last, pos].map(|at| rect.contains(at));
        if is_inside != [true; 2]
            && let Some(shares) = inside(last, pos, rect)
        {
            for (share, is_inside) in shares.into_iter().zip(is_inside) {
                if !is_inside {
                    let crossing = last.lerp(pos, share);
                    actions.push(DrawAction::PenMove(to_canvas(crossing, rect, scale)));
                }
            }
        }
        actions.push(DrawAction::PenMove(to_canvas(pos, rect, scale)));
    }

    fn press(&self, pos: Pos2, actions: &mut Vec<DrawAction>) {
        actions.extend(
            self.touch
                .filter(|(at, _)| *at == pos)
                .map(|(_, force)| DrawAction::PenPressure(force)),
        );
    }

    /// Lifts the pen that the pointer holds.
    pub fn lift(&mut self, actions: &mut Vec<DrawAction>) {
        (self.by_pointer, self.touch) = (None, None);
        actions.push(DrawAction::PenUp);
    }

    /// Arrow keys move the pen, and the space bar puts it down and lifts it, while the canvas has
    /// the focus.
    pub fn follow_keys(
        &mut self,
        ui: &Ui,
        response: &Response,
        size: [f32; 2],
        tool: Tool,
        actions: &mut Vec<DrawAction>,
    ) {
        if !response.has_focus() {
            if std::mem::take(&mut self.by_key) {
                actions.push(DrawAction::PenUp);
            }
            return;
        }
        let arrows = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        let events = ui.input(|input| input.events.clone());
        for event in events {
            let Event::Key {
                key,
                pressed: true,
                repeat,
                modifiers,
                ..
            } = event
            else {
                continue;
            };
            let stride = if modifiers.shift { FINE_STRIDE } else { STRIDE };
            let [dx, dy] = match key {
                Key::ArrowLeft => [-stride, 0.0],
                Key::ArrowRight => [stride, 0.0],
                Key::ArrowUp => [0.0, -stride],
                Key::ArrowDown => [0.0, stride],
                Key::Space if !repeat && !modifiers.any() => {
                    self.by_key = !self.by_key;
                    actions.push(DrawAction::PenScale(response.rect.width() / size[0]));
                    actions.push(match (self.by_key, tool) {
                        (false, _) => DrawAction::PenUp,
                        (true, Tool::Pen) => DrawAction::PenDown(self.at),
                        (true, Tool::Eraser) => DrawAction::EraserDown(self.at),
                    });
                    continue;
                }
                _ => continue,
            };
            self.at = [
                (self.at[0] + dx).clamp(0.0, size[0]),
                (self.at[1] + dy).clamp(0.0, size[1]),
            ];
            if self.by_key {
                actions.push(DrawAction::PenMove(self.at));
            }
        }
    }
}

/// From screen to canvas units; a position outside of the canvas comes to its edge.
fn to_canvas(pos: Pos2, rect: Rect, scale: f32) -> [f32; 2] {
    let at = (pos - rect.min) / scale;
    [
        at.x.clamp(0.0, rect.width() / scale),
        at.y.clamp(0.0, rect.height() / scale),
    ]
}

/// The fractions of the way between two positions where it enters this rectangle and leaves it
/// (Liang & Barsky 1984); `None` if it stays outside.
fn inside(from: Pos2, to: Pos2, rect: Rect) -> Option<[f32; 2]> {
    let mut shares = [0.0_f32, 1.0_f32];
    for axis in 0..2 {
        let (start, way) = (from[axis], to[axis] - from[axis]);
        let (low, high) = (rect.min[axis] - start, rect.max[axis] - start);
        if way == 0.0 {
            if low > 0.0 || high < 0.0 {
                return None;
            }
            continue;
        }
        let (first, second) = (low / way, high / way);
        shares = [
            shares[0].max(first.min(second)),
            shares[1].min(first.max(second)),
        ];
    }
    (shares[0] < shares[1]).then_some(shares)
}
