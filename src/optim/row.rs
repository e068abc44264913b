//! A tensor as a rule's element: the numbers of all weights in one long row.

use std::cell::Cell;
use std::ops::{Add, Div, Mul, Sub};

use candle_core::{Error, Result, Tensor};

use super::rule::Element;

/// The first error of the operations on some rows: formulas have no room for one at each step.
#[derive(Default)]
pub(super) struct FirstError(Cell<Option<Error>>);

impl FirstError {
    fn note(&self, error: Error) {
        self.0.set(Some(self.0.take().unwrap_or(error)));
    }
}

/// A row, or nothing after an error.
#[derive(Clone)]
pub(super) struct Row<'a> {
    tensor: Option<Tensor>,
    error: &'a FirstError,
}

impl<'a> Row<'a> {
    pub fn new(tensor: Result<Tensor>, error: &'a FirstError) -> Self {
        Self {
            tensor: tensor.map_err(|failed| error.note(failed)).ok(),
            error,
        }
    }

    /// The tensor, or the first error.
    pub fn finish(self) -> Result<Tensor> {
        match self.tensor {
            Some(tensor) => Ok(tensor.detach()),
            None => Err(self
                .error
                .0
                .take()
                .unwrap_or_else(|| Error::Msg("an earlier operation failed".to_owned()))),
        }
    }

    fn map(self, operation: impl FnOnce(&Tensor) -> Result<Tensor>) -> Self {
        match &self.tensor {
            Some(tensor) => Self::new(operation(tensor), self.error),
            None => self,
        }
    }

    fn with(self, other: Self, operation: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor>) -> Self {
        match &other.tensor {
            Some(other) => self.map(|tensor| operation(tensor, other)),
            None => other,
        }
    }
}

macro_rules! elementwise {
    ($($operator:ident $method:ident $symbol:tt),*) => {$(
        impl $operator for Row<'_> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.with(other, |a, b| a $symbol b)
            }
        }
    )*};
}

elementwise!(Add add +, Sub sub -, Mul mul *, Div div /);

macro_rules! with_number {
    ($($operator:ident $method:ident $symbol:tt),*) => {$(
        impl $operator<f32> for Row<'_> {
            type Output = Self;

            fn $method(self, number: f32) -> Self {
                self.map(|tensor| tensor $symbol f64::from(number))
            }
        }
    )*};
}

with_number!(Add add +, Mul mul *);

impl Element for Row<'_> {
    fn sqrt(self) -> Self {
        self.map(Tensor::sqrt)
    }

    fn recip(self) -> Self {
        self.map(Tensor::recip)
    }

    fn sign(self) -> Self {
        self.map(Tensor::sign)
    }
}
