//! The guided collection: each digit some times, one after the other.

use super::DIGITS;
use crate::window::action::Screen;
use crate::window::draw::Draw;
use crate::window::{App, Ctx};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    rounds: usize,
    /// What became of those before: true if it was kept, false if it was skipped.
    past: Vec<bool>,
}

impl Collection {
    /// How often each digit can be drawn; what is usual comes first.
    pub const ROUNDS: [usize; 2] = [3, 5];

    /// One that asks for each digit so often.
    pub const fn new(rounds: usize) -> Self {
        Self {
            rounds,
            past: Vec::new(),
        }
    }

    pub const fn total(&self) -> usize {
        self.rounds * DIGITS
    }

    pub const fn rounds(&self) -> usize {
        self.rounds
    }

    pub fn digit(&self) -> u8 {
        (self.past.len() % DIGITS) as u8
    }

    /// The round, from 1.
    pub fn round(&self) -> usize {
        self.past.len() / DIGITS + 1
    }

    /// How many are left, with the one that is asked for.
    pub fn left(&self) -> usize {
        self.total().saturating_sub(self.past.len())
    }

    /// The share that is done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        self.past.len() as f32 / self.total().max(1) as f32
    }

    /// True if there is something to go back to.
    pub fn can_go_back(&self) -> bool {
        !self.past.is_empty()
    }

    /// Asks for the one before again; true if that was kept.
    pub(super) fn go_back(&mut self) -> bool {
        self.past.pop().unwrap_or(false)
    }
}

impl App {
    /// Asks for the digit before again, and takes its drawing back.
    pub(in crate::window) fn previous_digit(&mut self) {
        self.draw.clear_drawing(&mut self.ctx);
        let was_kept = self
            .ctx
            .collection
            .as_mut()
            .is_some_and(Collection::go_back);
        if was_kept {
            self.my_digits.undo_kept(&mut self.ctx);
        }
    }
}

impl Draw {
    pub(in crate::window) fn start_collection(&mut self, ctx: &mut Ctx, rounds: usize) {
        self.clear_drawing(ctx);
        ctx.collection = Some(Collection::new(rounds));
        ctx.show(Screen::Draw);
    }

    /// Skips the digit that is asked for.
    pub(in crate::window) fn skip_digit(&mut self, ctx: &mut Ctx) {
        self.clear_drawing(ctx);
        ctx.collected(false);
    }
}

impl Ctx {
    pub(in crate::window) fn stop_collection(&mut self) {
        if self.collection.take().is_some() {
            self.show(Screen::MyDigits);
        }
    }

    /// Goes on to the next digit; after the last one, to the drawings.
    pub(super) fn collected(&mut self, kept: bool) {
        let Some(collection) = &mut self.collection else {
            return;
        };
        collection.past.push(kept);
        if collection.left() == 0 {
            self.stop_collection();
        }
    }
}
