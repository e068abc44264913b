//! Optimisers against steps computed by hand, schedules at their corners.

mod averaging;
mod optimizers;
mod schedules;
