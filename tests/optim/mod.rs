//! Optimizers against their published formulas and on other devices, schedules at their corners.

mod averaging;
mod devices;
mod optimizers;
mod schedules;
