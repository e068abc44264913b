//! Owns `inkling data`: which data sets there are, and a look at one.
//! Must not read data itself: `data` does.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;

use super::arguments::choice;
use super::engine::data_folders;
use super::failure::Failure;
use super::output::Output;
use super::progress::Progress;
use crate::data::augment::Augmenter;
use crate::data::{BUILTIN_SIZE, Found, contact_sheet, find, load};
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::problem::Problem;
use crate::run_config::{Augmentation, DataSource, DataSpec, NamedSet};
use crate::system::files::write_whole;
use crate::system::paths::Paths;
use crate::text::format::grouped;

/// Pictures of each class on a sheet.
const COLUMNS: usize = 20;

/// The commands of `inkling data`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the data sets known by name, and where they were found
    List(List),
    /// Write a sheet of pictures of a data set, a row per class
    Show(Show),
}

/// The options of `inkling data list`.
#[derive(Debug, clap::Args)]
pub struct List {
    /// A folder to look for data sets in before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object a line on standard output
    #[arg(long)]
    json: bool,
}

/// The options of `inkling data show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// builtin, mnist, fashion-mnist, kmnist, emnist-digits, a path, or several joined by +
    #[arg(value_name = "NAME")]
    data: DataSpec,
    /// The PNG file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Which pictures are chosen
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Show the pictures as training changes them
    #[arg(long, value_name = "NAME", default_value = "off", ignore_case = true, value_parser = choice::<Augmentation>(Augmentation::ALL.iter().map(|c| c.name())))]
    augmentation: Augmentation,
    /// A folder to look for data sets in before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// A data set in the list.
#[derive(Serialize)]
struct Entry {
    name: String,
    found: bool,
    folder: Option<String>,
    train_images: Option<u64>,
    test_images: Option<u64>,
    original: Option<bool>,
}

/// A sheet that was written.
#[derive(Serialize)]
struct Sheet {
    path: String,
    data: String,
    train_images: usize,
    test_images: usize,
}

/// Lists or shows.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::List(list) => run_list(list),
        Command::Show(show) => run_show(show),
    }
}

fn run_list(list: List) -> Result<(), Failure> {
    let folders = data_folders(list.data_dir, &Paths::find())?;
    let found = find(&folders);
    let mut output = Output::new(list.json);
    let [train_images, test_images] = BUILTIN_SIZE.map(|images| images as u64);
    let builtin = Entry {
        name: DataSource::Builtin.name(),
        found: true,
        folder: None,
        train_images: Some(train_images),
        test_images: Some(test_images),
        original: None,
    };
    output.json(&builtin)?;
    if !output.is_json() {
        output.text(&line(&builtin, "written by Inkling itself when it is needed"))?;
    }
    let searched = folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
    let mut all = true;
    for set in NamedSet::ALL {
        let entry = entry(set, found.iter().find(|found| found.set == set));
        all &= entry.found;
        output.json(&entry)?;
        if !output.is_json() {
            output.text(&line(&entry, &whereabouts(&entry)))?;
        }
    }
    if !all && !output.is_json() {
        output.text(&format!("\nA set is found when its four IDX files lie in a folder of its name in one of these: {searched}"))?;
    }
    Ok(())
}

fn entry(set: NamedSet, found: Option<&Found>) -> Entry {
    Entry {
        name: set.name().to_owned(),
        found: found.is_some(),
        folder: found.map(|found| found.folder.display().to_string()),
        train_images: found.map(|found| found.train_images),
        test_images: found.map(|found| found.test_images),
        original: found.and_then(|found| found.original),
    }
}

fn line(entry: &Entry, whereabouts: &str) -> String {
    let counts = match (entry.train_images, entry.test_images) {
        (Some(train), Some(test)) => format!("{:>7} + {:>6} images", grouped(train), grouped(test)),
        _ => " ".repeat(23),
    };
    format!("{:<14} {counts}  {whereabouts}", entry.name)
}

fn whereabouts(entry: &Entry) -> String {
    let Some(folder) = &entry.folder else { return "not found".to_owned() };
    match entry.original {
        Some(true) => format!("{folder} (the original files)"),
        Some(false) => format!("{folder} (not the original files)"),
        None => folder.clone(),
    }
}

fn run_show(show: Show) -> Result<(), Failure> {
    let folders = data_folders(show.data_dir, &Paths::find())?;
    let progress = Progress::new();
    let mut set = load(&show.data, &folders, &mut |fraction| {
        progress.show(fraction, "Reading the data");
        ControlFlow::Continue(())
    })?;
    drop(progress);
    if let Some(mut augmenter) = Augmenter::new(show.augmentation) {
        for (index, pixels) in (0..).zip(set.train.images.chunks_exact_mut(PIXELS)) {
            augmenter.apply(pixels, &mut Random::stream(show.seed, "augmentation", index));
        }
    }
    let mut png = Cursor::new(Vec::new());
    contact_sheet(&set.train, COLUMNS, show.seed)
        .write_to(&mut png, image::ImageFormat::Png)
        .map_err(|error| Problem::Write { path: show.out.clone(), reason: error.to_string() })?;
    write_whole(&show.out, png.get_ref())?;
    let mut output = Output::new(show.json);
    let sheet = Sheet {
        path: show.out.display().to_string(),
        data: show.data.to_string(),
        train_images: set.train.len(),
        test_images: set.test.len(),
    };
    output.json(&sheet)?;
    output.text(&format!("Wrote {}: up to {COLUMNS} training images of each class of {}.", sheet.path, show.data.label()))
}
