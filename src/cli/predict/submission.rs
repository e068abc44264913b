//! What a table of images shows as another table, in the form that Kaggle's competition takes:
//! `ImageId,Label`.

use std::path::Path;

use schemars::JsonSchema;
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

#[derive(Serialize, JsonSchema)]
pub struct Written {
    path: String,
    images: usize,
}

/// Recognises every row of the table `source` and writes `out`: whole, or not at all where a row
/// cannot be read.
pub fn write(
    classifier: &Classifier,
    source: Source,
    out: &Path,
    force: bool,
    json: bool,
) -> Result<(), Failure> {
    check_file(out, force, &[source.path()])?;
    let (name, path) = (source.name(), source.path().to_owned());
    let mut images = Vec::new();
    for row in source.rows()? {
        let (_, image) = row.map_err(Problem::from)?;
        images.extend_from_slice(image.pixels());
    }
    if images.is_empty() {
        return Err(Problem::from(DataError::Malformed {
            path,
            reason: "it contains no rows".to_owned(),
        })
        .into());
    }
    let progress = Progress::new();
    let digits = classifier.digits(&images, &mut |done: f32| {
        progress.show(done, "Recognising");
        Ok(())
    });
    drop(progress);
    let digits = digits.map_err(Problem::from)?;
    let label = |digit: u8| match &classifier.info().classes {
        classes @ Classes::Named(_) => classes.name(digit).to_owned(),
        // Kaggle's competitions have the numbers of classes that are known.
        _ => digit.to_string(),
    };
    write_whole_with(out, |file| {
        let mut table = csv::Writer::from_writer(file);
        table.write_record(["ImageId", "Label"])?;
        (1_usize..)
            .zip(&digits)
            .try_for_each(|(id, &digit)| table.write_record([id.to_string(), label(digit)]))?;
        table.flush()
    })?;
    let mut output = Output::new(json);
    output.json(&Written {
        path: out.display().to_string(),
        images: digits.len(),
    })?;
    let count = grouped(digits.len() as u64);
    output.text(&format!(
        "Wrote {}: the {} of {count} images in {}.",
        visible::path(out),
        if classifier.info().classes.are_digits() {
            "digits"
        } else {
            "classes"
        },
        visible::one_line(&name)
    ))
}
