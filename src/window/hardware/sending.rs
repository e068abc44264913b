//! My digits on their way to the other machine: the question before they are sent, and the answers
//! that are remembered. What was sent and is still there: listing and deleting it.

use std::sync::Arc;

use crate::data::Recipients;
use crate::engine::SshHost;
use crate::problem::{Message, Problem};
use crate::records::{BundleId, DeletedBundle, ReceivedBundle};
use crate::run_config::DataSpec;
use crate::window::{
    Action, App, Ctx, Machine, ModelsAction, Request, SearchAction, SearchKind, Severity,
    SweepAction, TrainAction,
};

/// The question whether My digits may be sent to the other machine, while it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct SendingQuestion {
    pub host: String,
    /// The action if they may.
    then: Action,
}

impl App {
    /// Asks whether My digits may be sent to the other machine, if this action would send them
    /// and nobody has agreed yet; false if nothing has to be asked.
    pub fn ask_before_sending(&mut self, action: &Action) -> bool {
        let Some(host) = self.ctx.engine.host.remote() else {
            return false;
        };
        let host = host.recipient().to_owned();
        if !self.data_of(action).is_some_and(DataSpec::has_my_digits) {
            return false;
        }
        self.machine.read_recipients(&mut self.ctx);
        if self.machine.may_send_my_digits(&self.ctx) != Some(false) {
            return false;
        }
        // Another window may have changed them.
        self.my_digits.load_my_digits(&self.ctx);
        let then = action.clone();
        self.machine.sending_question = Some(SendingQuestion { host, then });
        true
    }

    /// The data that this action would have sent to the other machine.
    fn data_of(&self, action: &Action) -> Option<&DataSpec> {
        let Self {
            ctx, train, sweeps, ..
        } = self;
        match action {
            Action::Train(TrainAction::Start | TrainAction::QueueRun)
            | Action::Sweep(SweepAction::Start) => Some(&ctx.config.data),
            Action::Search(SearchAction::Open(kind)) => match kind {
                SearchKind::LearningRate => Some(&ctx.config.data),
                // It waits to be started, and the profile is of the network alone.
                SearchKind::BatchSize | SearchKind::Profile => None,
            },
            Action::Train(TrainAction::StartQueued) => Some(&train.queue.first()?.data),
            Action::Search(SearchAction::Start) => Some(&train.search.as_ref()?.config.data),
            Action::Models(ModelsAction::Reproduce(folder)) => {
                Some(&self.models.listed(folder)?.config.data)
            }
            Action::Train(
                TrainAction::ResumeInterrupted(folder) | TrainAction::SaveInterrupted(folder),
            ) => {
                let here = train.run.as_ref();
                let here = here.filter(|run| run.is_resumed_from(folder));
                let mut listed = train.interrupted.iter();
                here.map(|run| &run.config.data).or_else(|| {
                    let run = listed.find(|run| run.folder == *folder)?;
                    Some(&run.card.config.data)
                })
            }
            Action::Sweep(SweepAction::Test) => Some(&sweeps.shown.as_ref()?.definition.base.data),
            Action::Sweep(SweepAction::Resume(folder) | SweepAction::Extend(folder, _)) => {
                let shown = sweeps.shown.as_ref();
                let shown = shown.filter(|view| view.folder.as_ref() == Some(folder));
                let definition = shown.map(|view| &view.definition);
                let definition = definition.or_else(|| sweeps.listed_definition(folder));
                definition.map(|definition| &definition.base.data)
            }
            _ => None,
        }
    }
}

impl Machine {
    /// Notes the answer, and goes on if they may be sent.
    pub fn answer_sending(&mut self, ctx: &mut Ctx, may_send: bool) {
        let question = self.sending_question.take().filter(|_| may_send);
        let Some(SendingQuestion { host, then }) = question else {
            return;
        };
        match Recipients::in_file(&ctx.deps.paths.recipients).add(&host) {
            Ok(()) => {
                self.read_recipients(ctx);
                ctx.request(Request::Do(Box::new(then)));
            }
            Err(error) => ctx.show_problem(&error.into()),
        }
    }
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

/// Lists what was sent to a machine; blocks until it is done.
pub type ListReceived = Arc<dyn Fn(&SshHost) -> Result<Vec<ReceivedBundle>, Problem> + Send + Sync>;

/// Deletes some of it; blocks until it is done.
pub type DeleteReceived =
    Arc<dyn Fn(&SshHost, &[BundleId]) -> Result<Vec<DeletedBundle>, Problem> + Send + Sync>;

/// The bundles on the other machine, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentView {
    /// The data sets and models, the one that was used last first; `None` before they were listed.
    pub bundles: Option<Vec<ReceivedBundle>>,
    /// Why they could not be listed.
    pub failure: Option<Message>,
    pub is_busy: bool,
}

impl Machine {
    /// Lists what was sent to the other machine that is in use.
    pub fn list_sent(&mut self, ctx: &mut Ctx) {
        let list = Arc::clone(&ctx.deps.list_received);
        self.ask_what_was_sent(ctx, move |host| (list(host), Vec::new()));
    }

    pub fn delete_sent(&mut self, ctx: &mut Ctx, bundle: BundleId) {
        let (list, delete) = (
            Arc::clone(&ctx.deps.list_received),
            Arc::clone(&ctx.deps.delete_received),
        );
        self.ask_what_was_sent(ctx, move |host| match delete(host, &[bundle]) {
            Ok(deleted) => (list(host), deleted),
            Err(problem) => (Err(problem), Vec::new()),
        });
    }

    fn ask_what_was_sent(
        &mut self,
        ctx: &mut Ctx,
        ask: impl FnOnce(&SshHost) -> (Result<Vec<ReceivedBundle>, Problem>, Vec<DeletedBundle>)
        + Send
        + 'static,
    ) {
        let machine = ctx.other_machine.as_ref().filter(|_| !self.sent.is_busy);
        let Some(host) = machine.map(|machine| machine.host.clone()) else {
            return;
        };
        self.sent.is_busy = true;
        ctx.background.run(
            move || (ask(&host), host),
            |app, ((listed, deleted), host)| {
                app.machine.on_sent(&mut app.ctx, &host, listed, &deleted);
            },
        );
    }

    /// Takes the answer in, unless another machine is in use by now.
    fn on_sent(
        &mut self,
        ctx: &mut Ctx,
        host: &SshHost,
        listed: Result<Vec<ReceivedBundle>, Problem>,
        deleted: &[DeletedBundle],
    ) {
        let machine = ctx.other_machine.as_ref();
        if machine.is_none_or(|machine| machine.host != *host) {
            return;
        }
        self.sent.is_busy = false;
        match listed {
            Ok(bundles) => (self.sent.bundles, self.sent.failure) = (Some(bundles), None),
            Err(problem) => self.sent.failure = Some(problem.message.clone()),
        }
        for DeletedBundle { what, problem, .. } in deleted {
            if let Some(problem) = problem {
                let message = Message::not_deleted_there(what, host.name(), problem);
                ctx.show_notice(Severity::Error, message);
            }
        }
    }
}
