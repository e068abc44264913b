//! What a table of images shows as another table, in the form that Kaggle's competition takes: `ImageId,Label`.

use std::path::Path;

use serde::Serialize;

use super::source::Source;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::data::DataError;
use crate::infer::Classifier;
use crate::problem::Problem;
use crate::run_config::Classes;
use crate::system::files::write_whole_with;
use crate::system::targets::check_file;
use crate::text::format::grouped;
use crate::text::visible;

/// What was written, as JSON.
#[derive(Serialize)]
struct Written {
    path: String,
    images: usize,
}

/// A field of a table, in quotes where it has to be.
fn quoted(name: &str) -> String {
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

/// Recognises every row of the table `source` and writes `out`: whole, or not at all where a row cannot be read.
pub fn write(classifier: &Classifier, source: Source, out: &Path, force: bool, json: bool) -> Result<(), Failure> {
    check_file(out, force, &[source.path()])?;
    let (name, path) = (source.name(), source.path().to_owned());
    let mut images = Vec::new();
    for row in source.rows()? {
        let (_, image) = row.map_err(Problem::from)?;
        images.extend_from_slice(image.pixels());
    }
    if images.is_empty() {
        return Err(Problem::from(DataError::Malformed { path, reason: "it contains no rows".to_owned() }).into());
    }
    let progress = Progress::new();
    let digits = classifier.digits(&images, &mut |done: f32| {
        progress.show(done, "Recognising");
        Ok(())
    });
    drop(progress);
    let digits = digits.map_err(Problem::from)?;
    write_whole_with(out, |file| {
        writeln!(file, "ImageId,Label")?;
        (1_usize..).zip(&digits).try_for_each(|(id, &digit)| match &classifier.info().classes {
            classes @ Classes::Named(_) => writeln!(file, "{id},{}", quoted(classes.name(digit))),
            // Kaggle's competitions have the numbers of classes that are known.
            _ => writeln!(file, "{id},{digit}"),
        })
    })?;
    let mut output = Output::new(json);
    output.json(&Written { path: out.display().to_string(), images: digits.len() })?;
    let count = grouped(digits.len() as u64);
    output.text(&format!(
        "Wrote {}: the {} of {count} images in {}.",
        visible::path(out),
        if classifier.info().classes.are_digits() { "digits" } else { "classes" },
        visible::one_line(&name)
    ))
}
