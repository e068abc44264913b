//! What follows from the lines of a journal, whether they were read or are new, and which cannot
//! follow those before them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Entry, JOURNAL, Record, Sweep};
use crate::sweep::definition::MAX_TRIALS;
use crate::sweep::error::SweepError;
use crate::sweep::space::Value;
use crate::sweep::trial::{Outcome, Trial};
use crate::system::WriteError;
use crate::text::visible;

/// The letters of a reason that are kept.
const MAX_REASON: usize = 400;

impl Sweep {
    /// Takes the lines of a journal; gives the length of those that are whole. Only the last may be
    /// damaged.
    pub(super) fn replay(&mut self, bytes: &[u8]) -> Result<usize, String> {
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

    /// Adds to the journal.
    pub(in crate::sweep) fn record(
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
            let state = trial
                .checked_sub(1)
                .and_then(|index| self.trials.get_mut(index as usize));
            let state = state.ok_or_else(|| format!("trial {trial} has not begun"))?;
            if let Entry::Tested(tested) = entry {
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
        let again = trial
            .checked_sub(1)
            .and_then(|index| self.trials.get_mut(index as usize));
        let again = again.filter(|before| before.outcome.is_none() && before.values == new.values);
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
        Entry::Started { .. } | Entry::Tested(_) => {}
    }
    Ok(())
}
