//! Train: the panel of settings and the run.

mod blocks;
mod closing;
mod download;
mod fields;
mod interrupted;
mod last_session;
mod learning;
mod panel;
mod run;
mod searches;
