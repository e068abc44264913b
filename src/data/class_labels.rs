//! Labels as words: the names of folders, or what a column of a table holds.

use std::collections::HashMap;

use super::Split;
use crate::run_config::{CLASS_COUNTS, Classes, ClassesError, MAX_LABEL};

/// The different labels of a data set, numbered as they come.
#[derive(Debug, Default)]
pub struct ClassLabels {
    names: Vec<String>,
    numbers: HashMap<String, u8>,
}

impl ClassLabels {
    /// The number of this label; the next one where it is new.
    pub fn number(&mut self, label: &str) -> Result<u8, ClassesError> {
        if let Some(number) = self.numbers.get(label) {
            return Ok(*number);
        }
        if self.names.len() == *CLASS_COUNTS.end() {
            return Err(ClassesError::Count {
                given: self.names.len() + 1,
            });
        }
        let number = self.names.len() as u8;
        self.names.push(label.to_owned());
        self.numbers.insert(label.to_owned(), number);
        Ok(number)
    }

    /// The classes, and which of them each label stands for, by its number. Labels that are all
    /// numbers are the numbers of the classes; others are sorted, as torchvision's `ImageFolder`
    /// does it.
    pub fn classes(&self) -> Result<(Classes, Vec<u8>), ClassesError> {
        let as_number = |name: &String| {
            name.parse()
                .ok()
                .filter(|number: &u8| *number <= MAX_LABEL && number.to_string() == *name)
        };
        if let Some(numbers) = self
            .names
            .iter()
            .map(as_number)
            .collect::<Option<Vec<u8>>>()
        {
            return Ok((
                Classes::numbered(numbers.iter().copied().max().unwrap_or_default())?,
                numbers,
            ));
        }
        let mut sorted: Vec<&str> = self.names.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let place = |name: &String| {
            sorted
                .iter()
                .position(|other| *other == name.as_str())
                .unwrap_or_default() as u8
        };
        Ok((
            Classes::of_names(&sorted)?,
            self.names.iter().map(place).collect(),
        ))
    }
}

/// Puts the class of each label in its place.
pub fn assign(split: &mut Split, classes: &[u8]) {
    for label in &mut split.labels {
        *label = classes
            .get(usize::from(*label))
            .copied()
            .unwrap_or_default();
    }
}
