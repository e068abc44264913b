//! A record card for people, as Markdown.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::export::Untrusted;
use crate::records::{RecordCard, RunSeconds, SeedRun};
use crate::run_config::Setting;
use crate::text::format::{count, grouped, percent};

/// The most images in the list of the hard ones.
const LISTED_IMAGES: usize = 50;

/// The path of a card's Markdown file, which is beside its JSON file.
pub fn markdown_path(json: &Path) -> PathBuf {
    json.with_extension("md")
}

pub fn markdown(card: &RecordCard) -> String {
    let config = &card.config;
    let name = config.preset.map_or_else(
        || config.network().label(),
        |preset| preset.label().to_owned(),
    );
    let title = format!("{name} on {}", config.data.label());
    let mut text = format!(
        "# {}\n\n{}.\n\n| | |\n|---|---|\n",
        Untrusted::from(title).markdown(),
        card.summary()
    );
    for (name, value) in rows(card) {
        let _ = writeln!(text, "| {name} | {value} |");
    }
    text += "\nThe test images were not read before the last run had ended. \
             The time of a run is from the start of its process until its model was saved.\n\
             \n## Runs\n\n| seed | validation | test | seconds |\n|---:|---:|---:|---:|\n";
    for run in &card.runs {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.2} |",
            run.seed,
            percent(run.validation_accuracy, 2),
            percent(run.test_accuracy, 2),
            run.seconds.total
        );
    }
    hard_images(card, &mut text);
    text
}

/// What is measured, by what, and the settings.
fn rows(card: &RecordCard) -> Vec<(&'static str, String)> {
    let seconds = |part: fn(RunSeconds) -> f64| card.median_seconds(part);
    let time = format!(
        "median {:.2} s: {:.2} s of preparation, {:.2} s of training, {:.2} s of validation, calibration and saving",
        seconds(|run| run.total),
        seconds(|run| run.preparation),
        seconds(|run| run.training),
        seconds(RunSeconds::finishing),
    );
    let plain = |text: &str| Untrusted::from(text).markdown();
    let date = card.measured_at.split('T').next().unwrap_or_default();
    let mut rows = vec![
        ("Command", Untrusted::from(card.command()).markdown_code()),
        ("Machine", plain(&card.machine)),
        ("Device", card.device.label().to_owned()),
        (
            "Inkling",
            format!("{}, {}", plain(&card.program), plain(date)),
        ),
        ("Parameters", grouped(card.parameters)),
        ("Test accuracy", accuracy(card, |run| run.test_accuracy)),
        (
            "Validation accuracy",
            accuracy(card, |run| run.validation_accuracy),
        ),
        ("Time of a run", time),
    ];
    let is_of_all = |setting: &&Setting| {
        !matches!(
            setting,
            Setting::Device | Setting::Repeats | Setting::Seed | Setting::SealedTest
        )
    };
    let settings = Setting::ALL.iter().filter(is_of_all);
    rows.extend(settings.filter_map(|setting| {
        let row = setting.row();
        Some((row.label, plain(&(row.describe)(&card.config)?)))
    }));
    rows
}

/// "mean 99.20%, standard deviation 0.04 percentage points, 99.12% to 99.28%".
fn accuracy(card: &RecordCard, of: fn(&SeedRun) -> f64) -> String {
    let (lowest, highest) = card
        .runs
        .iter()
        .map(of)
        .fold((1.0_f64, 0.0_f64), |(low, high), accuracy| {
            (low.min(accuracy), high.max(accuracy))
        });
    match card.mean(of) {
        Some(mean) => format!(
            "mean {}, standard deviation {:.2} percentage points, {} to {}",
            percent(mean.mean, 2),
            mean.deviation * 100.0,
            percent(lowest, 2),
            percent(highest, 2)
        ),
        None => percent(lowest, 2),
    }
}

fn hard_images(card: &RecordCard, text: &mut String) {
    if card.hard.is_empty() || card.runs.len() < 2 {
        return;
    }
    let _ = write!(
        text,
        "\n## Hard for everybody\n\nMore than half of the runs misclassify {} of {}. \
         Confident learning suspects the labels of those with a question mark.\n\n\
         | image | label | answer | runs |\n|---:|---|---|---:|\n",
        count(card.hard.len() as u64, "image"),
        grouped(card.test_images)
    );
    let plain = |text: &str| Untrusted::from(text).markdown();
    for image in card.hard.iter().take(LISTED_IMAGES) {
        let _ = writeln!(
            text,
            "| {} | {}{} | {} | {} of {} |",
            image.index,
            plain(&image.label),
            if image.doubtful { " ?" } else { "" },
            plain(&image.answer),
            image.runs,
            card.runs.len()
        );
    }
    if card.hard.len() > LISTED_IMAGES {
        *text += "\nThe JSON file has the others.\n";
    }
}
