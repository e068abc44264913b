//! Where the time of a training step goes, as the window shows it.

use crate::problem::Problem;
use crate::protocol::Job;
use crate::records::{JobId, Profile};
use crate::window::messages::Message;
use crate::window::{App, Field};

/// A profile, while its dialog is open.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileView {
    pub id: JobId,
    pub title: String,
    pub state: ProfileState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ProfileState {
    Running,
    Done {
        profile: Box<Profile>,
        /// The share of the CPU that other programs used meanwhile, 0 to 1.
        background_load: f32,
    },
    Cancelled,
    Failed(Message),
}

impl App {
    pub fn why_not_profile(&self) -> Option<&'static str> {
        self.why_not_train_briefly(Field::Data)
    }

    /// Records some steps with the current settings.
    pub(in crate::window) fn profile_steps(&mut self) {
        if self.why_not_profile().is_some() {
            return;
        }
        let config = self.with_device(&self.ctx.config);
        let id = JobId(self.ctx.next_id());
        self.train.profile = Some(ProfileView {
            id,
            title: config.network().label(),
            state: ProfileState::Running,
        });
        self.ctx.submit_as(id, Job::Profile(config));
    }

    /// Closes the dialog. A recording in progress is cancelled.
    pub(in crate::window) fn close_profile(&mut self) {
        if let Some(view) = self.train.profile.take() {
            self.ctx.cancel_job(view.id);
        }
    }

    pub(in crate::window) fn profile_ended(&mut self, id: JobId, state: ProfileState) {
        if let Some(view) = self.train.profile.as_mut().filter(|view| view.id == id) {
            view.state = state;
        }
    }

    /// Notes that the profile with this job has failed; false where its dialog is not open.
    pub(in crate::window) fn profile_failed(&mut self, id: JobId, problem: &Problem) -> bool {
        self.profile_ended(id, ProfileState::Failed(Message::from(problem)));
        self.train
            .profile
            .as_ref()
            .is_some_and(|view| view.id == id)
    }
}
