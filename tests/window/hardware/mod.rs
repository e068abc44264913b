//! Hardware: the machine, its checks, its load, and other machines.

mod checks;
mod monitor;
mod other_machine;
mod screen;
