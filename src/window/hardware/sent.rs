//! What was sent to the other machine and is still there: listing and deleting it.

use std::sync::Arc;

use crate::engine::SshHost;
use crate::problem::{Message, Problem};
use crate::records::{BundleId, DeletedBundle, ReceivedBundle};
use crate::window::{Ctx, Machine, Severity};

/// Lists what was sent to a machine; blocks until it is done.
pub type ListReceived = Arc<dyn Fn(&SshHost) -> Result<Vec<ReceivedBundle>, Problem> + Send + Sync>;

/// Deletes some of it; blocks until it is done.
pub type DeleteReceived =
    Arc<dyn Fn(&SshHost, &[BundleId]) -> Result<Vec<DeletedBundle>, Problem> + Send + Sync>;

/// What was sent to the other machine, as far as it is known.
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
        let Some(host) = ctx
            .other_machine()
            .map(|machine| machine.host.clone())
            .filter(|_| !self.sent.is_busy)
        else {
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
    pub fn on_sent(
        &mut self,
        ctx: &mut Ctx,
        host: &SshHost,
        listed: Result<Vec<ReceivedBundle>, Problem>,
        deleted: &[DeletedBundle],
    ) {
        if ctx
            .other_machine()
            .is_none_or(|machine| machine.host != *host)
        {
            return;
        }
        self.sent.is_busy = false;
        match listed {
            Ok(bundles) => {
                self.sent = SentView {
                    bundles: Some(bundles),
                    ..SentView::default()
                }
            }
            Err(problem) => self.sent.failure = Some(problem.message.clone()),
        }
        for DeletedBundle { what, problem, .. } in deleted {
            if let Some(problem) = problem {
                ctx.show_notice(
                    Severity::Error,
                    Message::not_deleted_there(what, host.name(), problem),
                );
            }
        }
    }
}
