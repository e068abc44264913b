//! Samples of the data set that the next run will learn from.

use crate::app::background::BackgroundResult;
use crate::app::{App, Screen};
use crate::data;
use crate::ink::Image;
use crate::run_config::DataSpec;

/// Images of each digit.
const PER_DIGIT: usize = 4;

/// Samples of a data set.
#[derive(Debug)]
pub struct Samples {
    /// The data set.
    pub data: DataSpec,
    /// Its images, digit by digit; empty while they are loaded, and where they cannot be.
    pub images: Vec<Image>,
}

impl App {
    /// Samples of the data set that is chosen, once there are some.
    pub fn samples(&self) -> Option<&Samples> {
        self.samples.as_ref().filter(|samples| samples.data == self.config.data && !samples.images.is_empty())
    }

    /// Loads samples of the chosen data set where they will be seen: on Train, before the first run.
    pub(in crate::app) fn update_samples(&mut self) {
        let seen = self.screen == Screen::Train && self.run.is_none() && self.wizard.is_none() && self.discovery_started;
        let loaded = self.samples.as_ref().is_some_and(|samples| samples.data == self.config.data);
        if !seen || loaded {
            return;
        }
        let (data, folders) = (self.config.data.clone(), self.engine.data_folders.clone());
        self.samples = Some(Samples { data: data.clone(), images: Vec::new() });
        self.background.run(move || {
            let split = data::samples(&data, &folders, PER_DIGIT);
            let split = split.inspect_err(|error| tracing::info!(%error, "no samples of the data set")).ok()?;
            let images = (0..split.len()).filter_map(|index| Image::try_from(split.image(index)).ok()).collect();
            Some(BackgroundResult::Samples(Samples { data, images }))
        });
    }

    /// Takes samples, unless another data set was chosen meanwhile.
    pub(in crate::app) fn take_samples(&mut self, samples: Samples) {
        if samples.data == self.config.data {
            self.samples = Some(samples);
        }
    }
}
