//! Samples of the data set that the next run will learn from.

use crate::data::{self, Issue, Overview, Preview};
use crate::ink::Image;
use crate::run_config::{Classes, DataSource, DataSpec};
use crate::window::{App, Ctx, Screen, Train};

/// Images that are shown, about: as many of each class.
const SHOWN: usize = 40;

#[derive(Debug)]
pub struct Samples {
    pub data: DataSpec,
    /// Its images, digit by digit; empty while they are loaded, and where they cannot be.
    pub images: Vec<Image>,
    /// What it holds and what may be wrong with it, where that is not known anyway.
    pub overview: Option<Overview>,
    /// What its classes stand for, once that is known.
    pub classes: Option<Classes>,
    /// True until it was looked at.
    pub loading: bool,
}

impl App {
    /// True while the chosen data set is being looked at.
    pub fn is_looking_at_data(&self) -> bool {
        self.train
            .samples
            .as_ref()
            .is_some_and(|samples| samples.loading && samples.data == self.ctx.config.data)
            && self.data_problem().is_none()
    }

    /// Loads samples of the chosen data set where they will be seen: on Train, with the next run.
    /// People's own data is looked at before every run.
    pub fn update_samples(&mut self) {
        let own = self
            .ctx
            .config
            .data
            .sources()
            .iter()
            .any(|source| matches!(source, DataSource::Path(_)));
        let seen = self.ctx.screen == Screen::Train
            && (self.train.shows_next_run() || own)
            && self.ctx.wizard.is_none()
            && self.machine.discovery_started;
        let loaded = self
            .train
            .samples
            .as_ref()
            .is_some_and(|samples| samples.data == self.ctx.config.data);
        if !seen || loaded {
            return;
        }
        let (data, folders) = (
            self.ctx.config.data.clone(),
            self.ctx.engine.data_folders.clone(),
        );
        self.train.samples = Some(Samples {
            data: data.clone(),
            images: Vec::new(),
            overview: None,
            classes: None,
            loading: true,
        });
        let read = move || {
            let nothing = Samples {
                data: data.clone(),
                images: Vec::new(),
                overview: None,
                classes: None,
                loading: false,
            };
            match (data::preview(&data, &folders, SHOWN), data.sources()) {
                (
                    Ok(Preview {
                        samples,
                        overview,
                        classes,
                    }),
                    _,
                ) => {
                    let images = (0..samples.len())
                        .filter_map(|index| Image::try_from(samples.image(index)).ok())
                        .collect();
                    Ok(Samples {
                        images,
                        overview,
                        classes: Some(classes),
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
        self.ctx.background.run(read, |app, read| match read {
            Ok(samples) => app.train.take_samples(&mut app.ctx, samples),
            Err((path, error)) => app.train.data_checked(path, Some(error)),
        });
    }
}

impl Train {
    /// Samples of the data set that is chosen, once there are some.
    pub fn samples(&self, ctx: &Ctx) -> Option<&Samples> {
        self.samples
            .as_ref()
            .filter(|samples| samples.data == ctx.config.data && !samples.images.is_empty())
    }

    /// What the classes of the chosen data set stand for: those of people's own data are known once
    /// it was looked at.
    pub fn data_classes(&self, ctx: &Ctx) -> Classes {
        let looked_at = self
            .samples
            .as_ref()
            .filter(|samples| samples.data == ctx.config.data);
        looked_at
            .and_then(|samples| samples.classes.clone())
            .unwrap_or_else(|| ctx.config.data.classes())
    }

    /// What may be wrong with the data set that is chosen, as far as that is known.
    pub fn data_issues(&self, ctx: &Ctx) -> Vec<String> {
        let Some(samples) = self.samples(ctx) else {
            return Vec::new();
        };
        let Some(overview) = &samples.overview else {
            return Vec::new();
        };
        overview
            .imbalance_sentence(&self.data_classes(ctx))
            .into_iter()
            .chain(overview.issues.iter().map(Issue::sentence))
            .collect()
    }

    /// Takes samples, unless another data set was chosen meanwhile.
    pub fn take_samples(&mut self, ctx: &mut Ctx, samples: Samples) {
        if samples.data == ctx.config.data {
            self.samples = Some(samples);
        }
    }
}
