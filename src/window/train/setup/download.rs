//! The download of a data set, which goes on in the background while the person does something
//! else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::data::Found;
use crate::download::{DownloadError, Downloader, by_hand, published_size};
use crate::problem::{Explain, Message};
use crate::progress::Cancelled;
use crate::run_config::{DataSource, DataSpec, NamedSet};
use crate::window::{Ctx, Train};

const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// A remaining time is not estimated earlier than this.
const FIRST_ESTIMATE: Duration = Duration::from_secs(1);

/// A data set that is being downloaded, or could not be.
#[derive(Debug)]
pub struct DownloadView {
    pub set: NamedSet,
    pub state: DownloadState,
    /// The data of the next run when the download was started.
    data_before: DataSpec,
    cancelled: Arc<AtomicBool>,
    started: Instant,
    /// The share that was there already; `None` before the first update.
    fraction_before: Option<f32>,
}

#[derive(Debug)]
pub enum DownloadState {
    /// So much is there, from 0 to 1.
    InProgress(f32),
    /// It is being cancelled, with so much of it there.
    Cancelling(f32),
    Failed {
        /// Why, and what to do.
        message: Message,
        /// How to get the files without Inkling, where that may help.
        by_hand: Option<String>,
    },
}

impl DownloadView {
    /// True until it has ended.
    pub const fn is_active(&self) -> bool {
        !matches!(self.state, DownloadState::Failed { .. })
    }

    /// The seconds that it will still take, once they can be estimated.
    pub fn remaining_seconds(&self) -> Option<f32> {
        let (DownloadState::InProgress(fraction), elapsed) = (&self.state, self.started.elapsed())
        else {
            return None;
        };
        let done = fraction - self.fraction_before?;
        (elapsed >= FIRST_ESTIMATE && done > 0.0)
            .then(|| elapsed.as_secs_f32() / done * (1.0 - fraction))
    }
}

impl Train {
    /// How many bytes are downloaded for a data set that was not found on this machine; `None` for
    /// one that was, and until the search has ended.
    pub fn download_size(&self, set: NamedSet) -> Option<u64> {
        let is_missing = self
            .found
            .as_ref()
            .is_some_and(|found| found.iter().all(|found| found.set != set));
        is_missing.then(|| published_size(set))
    }

    /// The download of this data set, while it is in progress and after it has failed.
    pub fn download_of(&self, set: NamedSet) -> Option<&DownloadView> {
        self.download
            .as_ref()
            .filter(|download| download.set == set)
    }

    /// Starts it in the background, unless another one is in progress. Once the data set is there,
    /// the next run will train on it.
    pub fn start_download(&mut self, ctx: &mut Ctx, set: NamedSet) {
        if self.download.as_ref().is_some_and(DownloadView::is_active) {
            return;
        }
        let folders = ctx.engine.data_folders.clone();
        let Some(folder) = folders.first().cloned() else {
            return;
        };
        let cancelled = Arc::new(AtomicBool::new(false));
        self.download = Some(DownloadView {
            set,
            state: DownloadState::InProgress(0.0),
            data_before: ctx.config.data.clone(),
            cancelled: Arc::clone(&cancelled),
            started: Instant::now(),
            fraction_before: None,
        });
        let download: Downloader = Arc::clone(&ctx.deps.download);
        ctx.background.run_with_updates(move |report| {
            let mut last: Option<Instant> = None;
            let mut progress = |fraction: f32| {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(Cancelled);
                }
                if last.is_none_or(|last| last.elapsed() >= UPDATE_INTERVAL) {
                    last = Some(Instant::now());
                    report(Box::new(move |app| app.train.download_progressed(fraction)));
                }
                Ok(())
            };
            let outcome =
                download(set, &folder, &mut progress).map(|_| crate::data::find(&folders));
            report(Box::new(|app| app.train.downloaded(&mut app.ctx, outcome)));
        });
    }

    pub fn cancel_download(&mut self) {
        let Some(download) = &mut self.download else {
            return;
        };
        match download.state {
            DownloadState::InProgress(fraction) => {
                download.cancelled.store(true, Ordering::Relaxed);
                download.state = DownloadState::Cancelling(fraction);
            }
            DownloadState::Cancelling(_) => {}
            DownloadState::Failed { .. } => self.download = None,
        }
    }

    pub fn download_progressed(&mut self, fraction: f32) {
        if let Some(download) = &mut self.download
            && let DownloadState::InProgress(shown) = &mut download.state
        {
            *shown = fraction;
            download.fraction_before.get_or_insert(fraction);
        }
    }

    pub fn downloaded(&mut self, ctx: &mut Ctx, outcome: Result<Vec<Found>, DownloadError>) {
        let Some(mut download) = self.download.take() else {
            return;
        };
        match outcome {
            Ok(found) => {
                self.found = Some(found);
                // What the person has chosen meanwhile stays.
                if ctx.config.data == download.data_before {
                    let recommended = self
                        .mnist_and_builtin(ctx)
                        .filter(|_| download.set == NamedSet::Mnist && ctx.wizard.is_some());
                    ctx.config.data = recommended
                        .unwrap_or_else(|| DataSpec::single(DataSource::Named(download.set)));
                }
                self.follow_recommendation(ctx);
            }
            Err(DownloadError::Cancelled(_)) => {}
            Err(error) => {
                tracing::info!(%error, "a data set could not be downloaded");
                let folder = ctx
                    .engine
                    .data_folders
                    .first()
                    .filter(|_| error.is_of_the_network());
                let by_hand = folder.and_then(|folder| by_hand(download.set, folder));
                download.state = DownloadState::Failed {
                    message: error.message(),
                    by_hand,
                };
                self.download = Some(download);
            }
        }
    }
}
