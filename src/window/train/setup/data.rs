//! The data of the next run: whether it is where the configuration says, samples of it, and the
//! download of a data set, which goes on in the background.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::data::my_digits::FILE;
use crate::data::{self, DataError, FoundDataset, Issue, Overview};
use crate::download::{DownloadError, Downloader, by_hand, published_size};
use crate::ink::Image;
use crate::problem::{Explain, Message};
use crate::progress::Cancelled;
use crate::run_config::{Classes, DataSource, DataSpec, PublicDataset};
use crate::window::{Ctx, MyDigitsView, Screen, Train};

impl Train {
    /// Why the chosen data cannot be trained on, as far as is known.
    pub(super) fn data_problem(&self, ctx: &Ctx, mine: &MyDigitsView) -> Option<DataError> {
        let problem = |source: &DataSource| match source {
            DataSource::Path(path) => self.data_problems.get(path).cloned(),
            DataSource::Named(set) => {
                let mut found = self.found.as_ref()?.iter();
                let is_missing = found.all(|found| ctx.source_of(found) != *source);
                is_missing.then(|| DataError::NotFound {
                    set: set.name().to_owned(),
                    searched: ctx.engine.data_folders.clone(),
                })
            }
            DataSource::Mine if mine.is_loaded() => mine.problem_with_mine(ctx),
            DataSource::Builtin | DataSource::Mine | DataSource::Unknown => None,
        };
        ctx.config.data.sources().iter().find_map(problem)
    }
}

impl Ctx {
    /// Looks at the chosen folders and files in the background.
    pub fn check_data(&self) {
        for source in self.config.data.sources() {
            if let DataSource::Path(path) = source {
                let path = path.clone();
                self.background.run(
                    move || (data::check(&path).err(), path),
                    |app, (problem, path)| app.train.data_checked(path, problem),
                );
            }
        }
    }
}

impl Train {
    pub fn data_checked(&mut self, path: PathBuf, problem: Option<DataError>) {
        match problem {
            Some(problem) => _ = self.data_problems.insert(path, problem),
            // What had a problem is worth another look.
            None if self.data_problems.remove(&path).is_some() => self.samples = None,
            None => {}
        }
    }
}

impl MyDigitsView {
    fn problem_with_mine(&self, ctx: &Ctx) -> Option<DataError> {
        let missing = self.missing();
        if self.drawings().is_empty() {
            Some(DataError::NoDrawings {
                path: PathBuf::from(FILE),
            })
        } else if missing.is_empty() || ctx.config.data.sources().len() > 1 {
            None
        } else {
            Some(DataError::MissingDigits { digits: missing })
        }
    }
}

/// Images that are shown, about: as many of each class.
const SHOWN: usize = 40;

#[derive(Debug)]
pub struct Samples {
    pub data: DataSpec,
    /// Its images, digit by digit; empty while they are loaded, and if they cannot be.
    pub images: Vec<Image>,
    /// Its content and its possible problems, if they are not known anyway.
    pub overview: Option<Overview>,
    /// The meaning of its classes, once that is known.
    pub classes: Option<Classes>,
    /// True until it was looked at.
    pub loading: bool,
}

impl Train {
    /// Samples of the data set that is chosen, once there are some.
    pub fn samples(&self, ctx: &Ctx) -> Option<&Samples> {
        let samples = self.chosen_samples(ctx);
        samples.filter(|samples| !samples.images.is_empty())
    }

    /// What the classes of the chosen data set stand for: for people's own data, it is known once
    /// it was looked at.
    pub fn data_classes(&self, ctx: &Ctx) -> Classes {
        let looked_at = self.chosen_samples(ctx);
        let known = looked_at.and_then(|samples| samples.classes.clone());
        known.unwrap_or_else(|| ctx.config.data.classes())
    }

    /// The possible problems of the chosen data set, as far as they are known.
    pub fn data_issues(&self, ctx: &Ctx) -> Vec<String> {
        let samples = self.samples(ctx);
        let Some(overview) = samples.and_then(|samples| samples.overview.as_ref()) else {
            return Vec::new();
        };
        let imbalance = overview.imbalance_sentence(&self.data_classes(ctx));
        let issues = overview.issues.iter().map(Issue::sentence);
        imbalance.into_iter().chain(issues).collect()
    }
}

impl Train {
    /// The preview of the chosen data set, or that one is being read.
    fn chosen_samples(&self, ctx: &Ctx) -> Option<&Samples> {
        let samples = self.samples.as_ref();
        samples.filter(|samples| samples.data == ctx.config.data)
    }

    /// True while the chosen data set is being looked at.
    pub fn is_looking_at_data(&self, ctx: &Ctx, mine: &MyDigitsView) -> bool {
        self.chosen_samples(ctx)
            .is_some_and(|samples| samples.loading)
            && self.data_problem(ctx, mine).is_none()
    }

    /// Loads samples of the chosen data set where they will be seen: on Train, with the next run.
    /// People's own data is looked at before every run.
    pub fn update_samples(&mut self, ctx: &Ctx) {
        let mut sources = ctx.config.data.sources().iter();
        let own = sources.any(|source| matches!(source, DataSource::Path(_)));
        let seen = ctx.screen == Screen::Train
            && (self.shows_next_run() || own)
            && ctx.wizard.is_none()
            && ctx.discovery_started;
        if !seen || self.chosen_samples(ctx).is_some() {
            return;
        }
        let (data, folders) = (ctx.config.data.clone(), ctx.engine.data_folders.clone());
        self.samples = Some(Samples::nothing(data.clone(), true));
        let read = move || {
            let nothing = Samples::nothing(data.clone(), false);
            match (data::preview(&data, &folders, SHOWN), data.sources()) {
                (Ok(preview), _) => {
                    let samples = preview.samples;
                    let image = |index| Image::try_from(samples.image(index)).ok();
                    Ok(Samples {
                        images: (0..samples.len()).filter_map(image).collect(),
                        overview: preview.overview,
                        classes: Some(preview.classes),
                        ..nothing
                    })
                }
                // Better said now than after Start.
                (Err(error), [DataSource::Path(path)]) => Err((path.clone(), error)),
                (Err(error), _) => {
                    tracing::info!(%error, "no samples of the data set");
                    Ok(nothing)
                }
            }
        };
        ctx.background.run(read, |app, read| match read {
            // Unless another data set was chosen meanwhile.
            Ok(samples) if samples.data == app.ctx.config.data => app.train.samples = Some(samples),
            Ok(_) => {}
            Err((path, error)) => app.train.data_checked(path, Some(error)),
        });
    }
}

impl Samples {
    fn nothing(data: DataSpec, loading: bool) -> Self {
        Self {
            data,
            images: Vec::new(),
            overview: None,
            classes: None,
            loading,
        }
    }
}

const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// A remaining time is not estimated earlier than this.
const FIRST_ESTIMATE: Duration = Duration::from_secs(1);

/// A data set that is being downloaded, or could not be.
#[derive(Debug)]
pub struct DownloadView {
    pub set: PublicDataset,
    pub state: DownloadState,
    /// The data of the next run when the download was started.
    data_before: DataSpec,
    cancelled: Arc<AtomicBool>,
    started: Instant,
    /// The fraction that was there already; `None` before the first update.
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
        /// How to get the files without Inkling, if that may help.
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
        let DownloadState::InProgress(fraction) = &self.state else {
            return None;
        };
        let (elapsed, done) = (self.started.elapsed(), fraction - self.fraction_before?);
        (elapsed >= FIRST_ESTIMATE && done > 0.0)
            .then(|| elapsed.as_secs_f32() / done * (1.0 - fraction))
    }
}

impl Train {
    /// How many bytes are downloaded for a data set that was not found on this machine; `None` for
    /// one that was, and until the search has ended.
    pub fn download_size(&self, set: PublicDataset) -> Option<u64> {
        let is_missing = self.found.is_some() && self.found_set(set).is_none();
        is_missing.then(|| published_size(set))
    }

    /// The download of this data set, while it is in progress and after it has failed.
    pub fn download_of(&self, set: PublicDataset) -> Option<&DownloadView> {
        let download = self.download.as_ref();
        download.filter(|download| download.set == set)
    }

    /// Starts it in the background, unless another one is in progress. Once the data set is there,
    /// the next run will train on it.
    pub fn start_download(&mut self, ctx: &mut Ctx, set: PublicDataset) {
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
            let outcome = download(set, &folder, &mut progress).map(|_| data::find(&folders));
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

    pub fn downloaded(&mut self, ctx: &mut Ctx, outcome: Result<Vec<FoundDataset>, DownloadError>) {
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
                        .filter(|_| download.set == PublicDataset::Mnist && ctx.wizard.is_some());
                    let alone = DataSpec::single(DataSource::Named(download.set));
                    ctx.config.data = recommended.unwrap_or(alone);
                }
                self.follow_recommendation(ctx);
            }
            Err(DownloadError::Cancelled(_)) => {}
            Err(error) => {
                tracing::info!(%error, "a data set could not be downloaded");
                let folder = ctx.engine.data_folders.first();
                let folder = folder.filter(|_| error.is_of_the_network());
                let by_hand = folder.and_then(|folder| by_hand(download.set, folder));
                let message = error.message();
                download.state = DownloadState::Failed { message, by_hand };
                self.download = Some(download);
            }
        }
    }
}
