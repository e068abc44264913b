//! Taking changes of the kept drawings back, and making them again.

use super::{FileStep, MyDigitsView};
use crate::data::my_digits::Edit;
use crate::problem::Message;
use crate::window::action::{Action, Screen};
use crate::window::notice::{Offer, Severity};
use crate::window::{Collection, Ctx, MyDigitsAction};

const UNDONE: usize = 200;

impl MyDigitsView {
    /// The change that would be taken back next.
    pub fn last_change(&self) -> Option<&Edit> {
        self.undo.last()
    }

    /// True if there is a change to take back.
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// True if a change was taken back, and no other was made since.
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// Remembers a change that is being made, so that it can be taken back.
    pub(super) fn remember(&mut self, edit: Edit) {
        self.undo.push(edit);
        if self.undo.len() > UNDONE {
            self.undo.remove(0);
        }
    }

    /// The file is as it was: what was not changed is not taken back, and what was not taken back
    /// can still be.
    pub(super) fn step_failed(&mut self, step: FileStep, collection: Option<&mut Collection>) {
        match step {
            FileStep::Read => {}
            FileStep::Change(edit) => {
                if let Some(place) = self.undo.iter().rposition(|other| *other == edit) {
                    self.undo.remove(place);
                }
                // The canvas's own history brings the drawing back, and the collection asks for it
                // again.
                self.just_kept = None;
                if let Some(collection) = collection.filter(|_| edit.remove.is_empty()) {
                    collection.go_back();
                }
            }
            FileStep::Undo(edit) => {
                let edit = edit.inverse();
                self.redo.retain(|other| *other != edit);
                self.undo.push(edit);
            }
        }
    }
}

impl MyDigitsView {
    /// Takes the last change of the kept drawings back; on My digits, says what that was.
    pub(in crate::window) fn undo_kept(&mut self, ctx: &mut Ctx) {
        let Some(edit) = self.undo.pop() else {
            return;
        };
        ctx.withdraw_redo();
        self.redo.push(edit.clone());
        if ctx.screen == Screen::MyDigits {
            let offer = Offer {
                label: "Redo",
                action: Action::MyDigits(MyDigitsAction::RedoKept),
            };
            ctx.show_notice_with(Severity::Info, Message::undone(&edit), Some(offer));
        }
        self.my_digits_step(ctx, FileStep::Undo(edit.inverse()));
    }

    /// Makes the change again that was taken back last.
    pub(in crate::window) fn redo_kept(&mut self, ctx: &mut Ctx) {
        let Some(edit) = self.redo.pop() else {
            return;
        };
        ctx.withdraw_redo();
        self.remember(edit.clone());
        self.my_digits_step(ctx, FileStep::Change(edit));
    }
}

impl Ctx {
    /// What was taken back is not what an older notice says any more.
    pub(super) fn withdraw_redo(&mut self) {
        self.notices.retain(|notice| {
            notice
                .offer
                .as_ref()
                .is_none_or(|offer| offer.action != Action::MyDigits(MyDigitsAction::RedoKept))
        });
    }
}
