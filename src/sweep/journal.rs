//! A sweep on disk: its definition, and a journal of all that happened, line by line.
//!
//! A line is on the disk before anything else happens, so that no process that is killed loses more
//! than the trials in progress. Half a line at the end, as a power cut leaves it, is dropped.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::definition::{MAX_TRIALS, SweepDefinition};
use super::error::SweepError;
use super::space::Value;
use super::trial::{Outcome, Trial, TrialEpoch};
use crate::system::WriteError;
use crate::system::files::{
    TemporaryFolder, create_folder, open_append, open_lock, read_limited, sync_folder, write_whole,
};
use crate::text::format::name_time;
use crate::text::visible;

const JOURNAL: &str = "journal.jsonl";

/// A sweep and the folder it is kept in, which no other process works on as long as this lives.
#[derive(Debug)]
pub struct Sweep {
    folder: PathBuf,
    definition: SweepDefinition,
    trials: Vec<Trial>,
    ends: Vec<(u32, f64)>,
    elapsed: f64,
    tested: Option<(u32, Tested)>,
    data_notes: Vec<String>,
    journal: File,
    _lock: File,
}

impl Sweep {
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub const fn definition(&self) -> &SweepDefinition {
        &self.definition
    }

    /// Changes how long the sweep continues and how many trials train in parallel; everything else
    /// stays as it was when the sweep began.
    pub fn extend(
        &mut self,
        trials: Option<u32>,
        seconds: Option<f64>,
        parallel: Option<u32>,
    ) -> Result<(), SweepError> {
        let old = &self.definition;
        let definition = SweepDefinition {
            trials: trials.or(old.trials),
            seconds: seconds.or(old.seconds),
            parallel: parallel.unwrap_or(old.parallel),
            ..old.clone()
        };
        definition.check()?;
        if definition != self.definition {
            write_definition(&self.folder, &definition)?;
            self.definition = definition;
        }
        Ok(())
    }

    /// Every trial that has begun, in order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    pub fn trial(&self, number: u32) -> Option<&Trial> {
        self.trials.get(number.checked_sub(1)? as usize)
    }

    fn trial_mut(&mut self, number: u32) -> Option<&mut Trial> {
        self.trials.get_mut(number.checked_sub(1)? as usize)
    }

    /// The trial with the highest validation accuracy of those that trained to their end; of equals
    /// the earliest.
    pub fn best(&self) -> Option<&Trial> {
        Trial::ranked(&self.trials)
            .into_iter()
            .next()
            .filter(|trial| trial.result().is_some())
    }

    /// The trials that have ended, in the order in which they did, and after how many seconds.
    pub fn ends(&self) -> &[(u32, f64)] {
        &self.ends
    }

    pub fn is_complete(&self) -> bool {
        let is_over =
            |seconds: f64| self.elapsed >= seconds && self.ends.len() == self.trials.len();
        let of_trials = self
            .definition
            .max_trials()
            .is_some_and(|most| self.ends.len() >= most as usize);
        of_trials || self.definition.seconds.is_some_and(is_over)
    }

    /// Seconds that it has run, all sessions together.
    pub const fn elapsed(&self) -> f64 {
        self.elapsed
    }

    /// The run whose test accuracy was read, and the trial whose settings it has.
    pub const fn tested(&self) -> Option<&(u32, Tested)> {
        self.tested.as_ref()
    }

    /// What was done to its data besides reading it, in the words of a trial.
    pub fn data_notes(&self) -> &[String] {
        &self.data_notes
    }

    /// Notes the run that came of a trial.
    pub fn record_test(&mut self, trial: u32, tested: Tested) -> Result<(), SweepError> {
        self.record(trial, self.elapsed, Entry::Tested(tested))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The trial, from 1.
    pub trial: u32,
    /// Seconds that the sweep has run until then, all its sessions together.
    pub elapsed: f64,
    #[serde(flatten)]
    pub entry: Entry,
}

/// An event of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Entry {
    /// It began, or began again after it was cut short.
    Started {
        values: BTreeMap<String, Value>,
    },
    Epoch(TrialEpoch),
    /// It trained to its end.
    Completed,
    Pruned,
    Failed {
        reason: String,
    },
    /// It said what was done to its data besides reading it.
    DataNotes {
        notes: Vec<String>,
    },
    /// Its settings were trained once more as a saved run, which was tested.
    Tested(Tested),
}

/// The run that came of the best trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    pub run: PathBuf,
    /// Accuracy on the test split, 0 to 1; `None` if the data has none.
    pub test_accuracy: Option<f64>,
}

const DEFINITION: &str = "sweep.json";
const LOCK: &str = "lock";
const MAX_DEFINITION_BYTES: u64 = 1 << 20;
/// 10,000 trials of 40 epochs have about as much.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;
/// How often the lock is tried for, and the time between: a process that was killed, or a child
/// that is just being started, may hold it for a moment.
const ATTEMPTS: u32 = 50;
const MOMENT: Duration = Duration::from_millis(10);

impl Sweep {
    /// Begins a sweep in this folder, which is made; it must be empty if it is there.
    pub fn create(folder: &Path, definition: SweepDefinition) -> Result<Self, SweepError> {
        definition.check()?;
        if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(SweepError::Occupied {
                folder: folder.to_owned(),
            });
        }
        create_folder(folder).map_err(|error| WriteError::new(folder, &error))?;
        let lock = lock(folder)?;
        write_definition(folder, &definition)?;
        let journal = journal_of(folder)?;
        sync_folder(folder);
        Ok(Self::of(folder, definition, journal, lock))
    }

    /// Before anything has happened.
    fn of(folder: &Path, definition: SweepDefinition, journal: File, lock: File) -> Self {
        Self {
            folder: folder.to_owned(),
            definition,
            trials: Vec::new(),
            ends: Vec::new(),
            elapsed: 0.0,
            tested: None,
            data_notes: Vec::new(),
            journal,
            _lock: lock,
        }
    }

    /// Begins a sweep in a new folder in `root`, named after the time. It is created under a
    /// temporary name, so that a process that is killed meanwhile leaves only what
    /// [`remove_leftovers`](crate::system::files::remove_leftovers) deletes.
    pub fn create_in(root: &Path, definition: SweepDefinition) -> Result<Self, SweepError> {
        let temporary =
            TemporaryFolder::new_in(root).map_err(|error| WriteError::new(root, &error))?;
        // Its files are closed again: Windows does not rename a folder with open files in it.
        drop(Self::create(temporary.path(), definition)?);
        let name = name_time(jiff::Timestamp::now());
        Self::open(&temporary.move_into(root, &name, |_| {})?)
    }

    /// Opens a sweep, to resume it or to see what came of it.
    pub fn open(folder: &Path) -> Result<Self, SweepError> {
        let path = folder.join(DEFINITION);
        let unreadable = |path: &Path, error: &io::Error| SweepError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let malformed = |path: &Path, reason: String| SweepError::Malformed {
            path: path.to_owned(),
            reason: visible::one_line(&reason),
        };
        let read =
            || read_limited(&path, MAX_DEFINITION_BYTES).map_err(|error| unreadable(&path, &error));
        // No lock is made in a folder that has no sweep. What is read counts only under the lock:
        // another process may be extending the sweep.
        read()?;
        let lock = lock(folder)?;
        let json = read()?;
        let definition: SweepDefinition =
            serde_json::from_slice(&json).map_err(|error| malformed(&path, error.to_string()))?;
        definition
            .check()
            .map_err(|problem| malformed(&path, problem.to_string()))?;
        let path = folder.join(JOURNAL);
        let bytes = match read_limited(&path, MAX_JOURNAL_BYTES) {
            // Killed between making the folder and the journal.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes.map_err(|error| unreadable(&path, &error))?,
        };
        let journal = journal_of(folder)?;
        let mut sweep = Self::of(folder, definition, journal, lock);
        let whole = sweep
            .replay(&bytes)
            .map_err(|reason| malformed(&path, reason))?;
        if whole < bytes.len() {
            write_whole(&path, &bytes[..whole])?;
            sweep.journal = journal_of(folder)?;
        }
        Ok(sweep)
    }

    /// The folders in `root` that contain a sweep, even a damaged one. Hidden folders are still
    /// being created.
    pub fn folders_in(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
        let entries = fs::read_dir(root)
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        let not_hidden =
            entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
        not_hidden
            .map(|entry| entry.path())
            .filter(|folder| folder.join(DEFINITION).is_file())
    }

    /// The folder of the newest sweep in this one.
    pub fn newest(root: &Path) -> Result<PathBuf, SweepError> {
        Self::folders_in(root)
            .max()
            .ok_or_else(|| SweepError::None {
                folder: root.to_owned(),
            })
    }
}

fn write_definition(folder: &Path, definition: &SweepDefinition) -> Result<(), SweepError> {
    let path = folder.join(DEFINITION);
    let json = serde_json::to_vec_pretty(definition)
        .map_err(|error| WriteError::new(&path, &error.into()))?;
    Ok(write_whole(&path, &json)?)
}

fn journal_of(folder: &Path) -> Result<File, SweepError> {
    let path = folder.join(JOURNAL);
    Ok(open_append(&path).map_err(|error| WriteError::new(&path, &error))?)
}

fn lock(folder: &Path) -> Result<File, SweepError> {
    let path = folder.join(LOCK);
    let lock = open_lock(&path).map_err(|error| WriteError::new(&path, &error))?;
    for _ in 0..ATTEMPTS {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) => std::thread::sleep(MOMENT),
            Err(TryLockError::Error(error)) => return Err(WriteError::new(&path, &error).into()),
        }
    }
    Err(SweepError::InUse {
        folder: folder.to_owned(),
    })
}

/// The letters of a reason that are kept.
const MAX_REASON: usize = 400;

impl Sweep {
    /// Takes the lines of a journal; returns the length of those that are whole. Only the last may
    /// be damaged.
    fn replay(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let mut whole = 0;
        // A last line without its end is written again, if it happens again.
        let lines = bytes
            .split_inclusive(|&byte| byte == b'\n')
            .take_while(|line| line.ends_with(b"\n"));
        for (index, line) in lines.enumerate() {
            match serde_json::from_slice(line)
                .map_err(|error| error.to_string())
                .and_then(|record| self.take(record))
            {
                Ok(()) => whole += line.len(),
                Err(reason) if whole + line.len() < bytes.len() => {
                    return Err(format!("line {}: {reason}", index + 1));
                }
                Err(_) => break,
            }
        }
        Ok(whole)
    }

    pub(super) fn record(
        &mut self,
        trial: u32,
        elapsed: f64,
        entry: Entry,
    ) -> Result<(), SweepError> {
        let record = Record {
            trial,
            elapsed,
            entry,
        };
        let path = self.folder.join(JOURNAL);
        let unwritable = |error: &io::Error| WriteError::new(&path, error);
        let mut line = serde_json::to_vec(&record).map_err(|error| unwritable(&error.into()))?;
        line.push(b'\n');
        self.journal
            .write_all(&line)
            .and_then(|()| self.journal.sync_data())
            .map_err(|error| unwritable(&error))?;
        self.take(record)
            .map_err(|reason| SweepError::Malformed { path, reason })
    }

    /// Takes a line, whether it was read or is new; an error if it cannot follow those before it.
    fn take(
        &mut self,
        Record {
            trial,
            elapsed,
            entry,
        }: Record,
    ) -> Result<(), String> {
        if !elapsed.is_finite() || elapsed < 0.0 {
            return Err(format!("{elapsed} seconds cannot have passed"));
        }
        let known = self.trials.len() as u32;
        if let Entry::Started { values } = entry {
            self.start(trial, known, &values)?;
        } else {
            let state = self.trial_mut(trial);
            let state = state.ok_or_else(|| format!("trial {trial} has not begun"))?;
            if let Entry::DataNotes { notes } = entry {
                let notes = notes.iter().map(|note| visible::one_line(note));
                self.data_notes = notes.collect();
            } else if let Entry::Tested(tested) = entry {
                if tested
                    .test_accuracy
                    .is_some_and(|accuracy| !(0.0..=1.0).contains(&accuracy))
                {
                    return Err("an accuracy is between 0 and 1".to_owned());
                }
                self.tested = Some((trial, tested));
            } else if state.outcome.is_some() {
                return Err(format!("trial {trial} has ended already"));
            } else {
                advance(state, entry)?;
                if state.outcome.is_some() {
                    self.ends.push((trial, elapsed));
                }
            }
        }
        self.elapsed = self.elapsed.max(elapsed);
        Ok(())
    }

    fn start(
        &mut self,
        trial: u32,
        known: u32,
        values: &BTreeMap<String, Value>,
    ) -> Result<(), String> {
        let space = &self.definition.space;
        let listed: Option<Vec<Value>> = space
            .iter()
            .map(|dimension| {
                let row = dimension.setting.row();
                let mut names = [row.name].into_iter().chain(row.former.iter().copied());
                names.find_map(|name| values.get(name)).cloned()
            })
            .collect();
        let listed = listed.filter(|listed| {
            listed.len() == values.len()
                && space.iter().zip(listed).all(|(d, value)| d.contains(value))
        });
        let listed = listed.ok_or_else(|| {
            format!("the settings of trial {trial} are not in the ranges of this sweep")
        })?;
        let config = self
            .definition
            .config(&listed)
            .map_err(|error| error.to_string())?;
        let new = Trial {
            number: trial,
            values: listed,
            config,
            epochs: Vec::new(),
            outcome: None,
        };
        if trial == known + 1 && trial <= MAX_TRIALS {
            self.trials.push(new);
            return Ok(());
        }
        // It was cut short, and begins again.
        let again = self
            .trial_mut(trial)
            .filter(|before| before.outcome.is_none() && before.values == new.values);
        *again.ok_or_else(|| format!("trial {trial} cannot begin after {known} others"))? = new;
        Ok(())
    }
}

fn advance(trial: &mut Trial, entry: Entry) -> Result<(), String> {
    match entry {
        Entry::Epoch(epoch) => {
            let next = trial.epochs.len() as u32 + 1;
            let is_possible = epoch.epoch == next
                && next <= trial.config.epochs
                && (0.0..=1.0).contains(&epoch.validation_accuracy)
                && epoch.validation_loss.is_none_or(f32::is_finite)
                && epoch.seconds.is_finite()
                && epoch.seconds >= 0.0;
            if !is_possible {
                return Err(format!(
                    "trial {} cannot have such an epoch {}",
                    trial.number, epoch.epoch
                ));
            }
            trial.epochs.push(epoch);
        }
        Entry::Completed | Entry::Pruned if trial.epochs.is_empty() => {
            return Err(format!("trial {} has ended without an epoch", trial.number));
        }
        Entry::Completed => trial.outcome = Some(Outcome::Completed),
        Entry::Pruned => trial.outcome = Some(Outcome::Pruned),
        Entry::Failed { reason } => {
            let reason = visible::one_line(&reason)
                .chars()
                .take(MAX_REASON)
                .collect();
            trial.outcome = Some(Outcome::Failed { reason });
        }
        // Taken before.
        Entry::Started { .. } | Entry::DataNotes { .. } | Entry::Tested(_) => {}
    }
    Ok(())
}
