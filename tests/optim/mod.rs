//! Optimisers against steps computed by hand, schedules at their corners.

mod optimizers;
mod schedules;
