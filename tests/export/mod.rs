//! Exports: what is in each file, without the tools that read them; those run in `.ci/exports`.

mod documents;
mod hostile;
mod html;
mod onnx;
mod pytorch;
mod saving;
pub mod tensorboard;

use inkling::export::{ExportedModel, export};
use inkling::records::ExportSpec;
use inkling::run_config::{Activation, ExportFormat, ModelKind, Network};

use crate::support::model_file;

/// An untrained model without a run.
pub fn untrained_model(network: impl Into<Network>, activation: Activation) -> ExportedModel {
    ExportedModel {
        file: model_file(network, activation),
        run: None,
        quantized: None,
    }
}

/// The bytes of the export's file of this name.
pub fn file(exported: &ExportedModel, spec: &ExportSpec, name: &str) -> Vec<u8> {
    let export = export(exported, spec, "model").unwrap();
    export
        .files()
        .iter()
        .find(|file| file.info.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
        .bytes
        .clone()
}

#[test]
fn every_network_exports_in_every_format_and_twice_the_same() {
    for &model in ModelKind::ALL {
        for &activation in Activation::ALL {
            let exported = untrained_model(model, activation);
            for &format in ExportFormat::ALL {
                let spec = ExportSpec {
                    quantize: true,
                    ..ExportSpec::new(format)
                };
                let [one, other] =
                    [(), ()].map(|()| export(&exported, &spec, format.file_name()).unwrap());
                assert!(one.files().iter().all(
                    |file| !file.bytes.is_empty() && file.info.bytes == file.bytes.len() as u64
                ));
                for (one, other) in one.files().iter().zip(other.files()) {
                    assert!(
                        one.bytes == other.bytes,
                        "{} of {model} differs from one time to the next",
                        one.info.name
                    );
                }
            }
        }
    }
}
