//! My digits on their way to the other machine: the question before they are sent, and the answers
//! that are remembered.

use crate::data::Recipients;
use crate::run_config::DataSpec;
use crate::window::{
    Action, App, Ctx, Machine, ModelsAction, SearchAction, SearchKind, SweepAction, TrainAction,
};

/// The question whether My digits may be sent to the other machine, while it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct SendingQuestion {
    pub host: String,
    /// What is done if they may.
    then: Action,
}

impl App {
    /// Asks whether My digits may be sent to the other machine, where this action would send them
    /// and nobody has agreed yet; false where nothing has to be asked.
    pub fn ask_before_sending(&mut self, action: &Action) -> bool {
        if self.ctx.engine.host.remote().is_none()
            || !self.data_of(action).is_some_and(DataSpec::has_my_digits)
        {
            return false;
        }
        self.machine.read_recipients(&mut self.ctx);
        if self.machine.may_send_my_digits(&self.ctx) != Some(false) {
            return false;
        }
        let Some(host) = self
            .ctx
            .engine
            .host
            .remote()
            .map(|host| host.recipient().to_owned())
        else {
            return false;
        };
        // Another window may have changed them.
        self.my_digits.load_my_digits(&mut self.ctx);
        self.machine.sending_question = Some(SendingQuestion {
            host,
            then: action.clone(),
        });
        true
    }

    /// Notes the answer, and goes on if they may be sent.
    pub fn answer_sending(&mut self, may_send: bool) {
        let Some(SendingQuestion { host, then }) =
            self.machine.sending_question.take().filter(|_| may_send)
        else {
            return;
        };
        match Recipients::in_file(&self.ctx.deps.paths.recipients).add(&host) {
            Ok(()) => {
                self.machine.read_recipients(&mut self.ctx);
                self.apply(then);
            }
            Err(error) => self.ctx.show_problem(&error.into()),
        }
    }

    /// The data that this action would have sent to the other machine.
    fn data_of(&self, action: &Action) -> Option<&DataSpec> {
        match action {
            Action::Train(TrainAction::Start | TrainAction::QueueRun)
            | Action::Search(SearchAction::Open(SearchKind::LearningRate))
            | Action::Sweep(SweepAction::Start) => Some(&self.ctx.config.data),
            Action::Train(TrainAction::StartQueued) => {
                self.train.queue.first().map(|config| &config.data)
            }
            Action::Search(SearchAction::Start) => {
                let search = self.train.search.as_ref();
                search.map(|search| &search.config.data)
            }
            Action::Models(ModelsAction::Reproduce(folder)) => {
                self.models.listed(folder).map(|run| &run.config.data)
            }
            Action::Train(
                TrainAction::ResumeInterrupted(folder) | TrainAction::SaveInterrupted(folder),
            ) => {
                let here = self.train.run.as_ref().filter(|run| {
                    run.resumable_checkpoint()
                        .is_some_and(|last| last.folder == *folder)
                });
                let listed = || {
                    self.train
                        .interrupted
                        .iter()
                        .find(|run| run.folder == *folder)
                        .map(|run| &run.card.config.data)
                };
                here.map(|run| &run.config.data).or_else(listed)
            }
            Action::Sweep(SweepAction::Test) => self
                .sweeps
                .shown
                .as_ref()
                .map(|view| &view.definition.base.data),
            Action::Sweep(SweepAction::Resume(folder) | SweepAction::Extend(folder, _)) => {
                let shown = self
                    .sweeps
                    .shown
                    .as_ref()
                    .filter(|view| view.folder.as_ref() == Some(folder));
                let listed = || {
                    self.sweeps
                        .listed
                        .iter()
                        .flatten()
                        .find(|entry| entry.folder == *folder)?
                        .card
                        .as_ref()
                        .ok()
                };
                shown
                    .map(|view| &view.definition.base.data)
                    .or_else(|| listed().map(|card| &card.definition.base.data))
            }
            _ => None,
        }
    }
}

impl Machine {
    /// Whether My digits may be sent to the other machine that is in use; `None` on this machine.
    pub fn may_send_my_digits(&self, ctx: &Ctx) -> Option<bool> {
        let host = ctx.engine.host.remote()?;
        Some(self.recipients.iter().any(|name| name == host.recipient()))
    }

    /// Reads the answers anew: a terminal or another window may have changed them.
    pub fn read_recipients(&mut self, ctx: &mut Ctx) {
        self.recipients = Recipients::in_file(&ctx.deps.paths.recipients).list();
    }

    /// Sends My digits to the other machine no longer.
    pub fn withdraw_my_digits(&mut self, ctx: &mut Ctx) {
        let Some(host) = ctx.engine.host.remote() else {
            return;
        };
        if let Err(error) = Recipients::in_file(&ctx.deps.paths.recipients).remove(host.recipient())
        {
            ctx.show_problem(&error.into());
        }
        self.read_recipients(ctx);
    }
}
