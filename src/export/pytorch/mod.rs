//! `PyTorch` files: a state dict that `torch.load(weights_only=True)` accepts, and the module it
//! belongs to.

mod model_py;
mod modules;
mod pickle;

use std::io::{Cursor, Write};

use half::f16;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use self::pickle::{Pickler, Storage};
use super::{ExportError, ExportedModel};
use crate::records::TensorInfo;
use crate::run_config::WeightFormat;

pub use model_py::model_py;

/// Alignment of storages in bytes, as torch has it, so that they can be memory-mapped.
const ALIGNMENT: u16 = 64;

/// The entry of the archive with the [`crate::records::Calibration`] of its weights, as JSON.
pub const CALIBRATION: &str = "inkling.json";

/// Encodes the state dict: a zip archive with a pickle that describes the tensors and one file of
/// raw values for each.
pub fn write(
    model: &ExportedModel,
    format: WeightFormat,
) -> Result<(Vec<u8>, Vec<TensorInfo>), ExportError> {
    let (storage, folder) = (
        if format == WeightFormat::F16 {
            Storage::Half
        } else {
            Storage::Float
        },
        model.name(),
    );
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .with_alignment(ALIGNMENT);
    let mut add = |name: &str, bytes: &[u8]| -> Result<(), ExportError> {
        zip.start_file(format!("{folder}/{name}"), stored)
            .map_err(|error| ExportError::of(&error))?;
        zip.write_all(bytes)
            .map_err(|error| ExportError::of(&error))
    };
    let parameters = model.file.net.parameters();
    let mut pickler = Pickler::new(parameters.len());
    let mut listed = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let shape = parameter.tensor().dims().to_vec();
        pickler.tensor(parameter.name(), index, storage, &shape);
        let shape = shape.iter().map(|&length| length as u64).collect();
        listed.push(TensorInfo {
            name: parameter.name().to_owned(),
            shape,
            format: format.into(),
        });
    }
    add("data.pkl", &pickler.finish())?;
    add("byteorder", b"little")?;
    for (index, parameter) in parameters.iter().enumerate() {
        let values = parameter.values()?;
        let bytes: Vec<u8> = match format {
            WeightFormat::F32 => values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            WeightFormat::F16 => values
                .iter()
                .flat_map(|&value| f16::from_f32(value).to_le_bytes())
                .collect(),
        };
        add(&format!("data/{index}"), &bytes)?;
    }
    // Torch reads only what it knows; an import brings this back.
    add(
        CALIBRATION,
        &serde_json::to_vec(&model.file.card.calibration)
            .map_err(|error| ExportError::of(&error))?,
    )?;
    add("version", b"3\n")?;
    let bytes = zip
        .finish()
        .map_err(|error| ExportError::of(&error))?
        .into_inner();
    Ok((bytes, listed))
}
