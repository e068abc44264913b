//! Whether a data set is where the configuration says, found out as soon as it is chosen.

use std::path::PathBuf;

use crate::data::my_digits::FILE;
use crate::data::{self, DataError};
use crate::run_config::DataSource;
use crate::window::{App, Ctx, MyDigitsView, Train};

impl App {
    /// Why the chosen data cannot be trained on, as far as is known.
    pub fn data_problem(&self) -> Option<DataError> {
        self.ctx
            .config
            .data
            .sources()
            .iter()
            .find_map(|source| match source {
                DataSource::Path(path) => self.train.data_problems.get(path).cloned(),
                DataSource::Named(set) => {
                    let found = self.train.found.as_ref()?;
                    let is_missing = found
                        .iter()
                        .all(|found| self.ctx.source_of(found) != *source);
                    is_missing.then(|| DataError::NotFound {
                        set: set.name().to_owned(),
                        searched: self.ctx.engine.data_folders.clone(),
                    })
                }
                DataSource::Mine if self.my_digits.is_loaded() => {
                    self.my_digits.problem_with_mine(&self.ctx)
                }
                DataSource::Builtin | DataSource::Mine | DataSource::Unknown => None,
            })
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
