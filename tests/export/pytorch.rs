//! State dicts, read back by candle's reader, and the module beside them.

use candle_core::DType;
use inkling::nn::parameter_specs;
use inkling::records::ExportSpec;
use inkling::run_config::{Activation, ExportFormat, ModelKind, WeightFormat};

use super::{file, untrained_model};

#[test]
fn candle_reads_every_state_dict() {
    let folder = tempfile::tempdir().unwrap();
    for &kind in ModelKind::ALL {
        let exported = untrained_model(kind, Activation::Relu);
        for (weights, dtype) in [
            (WeightFormat::F32, DType::F32),
            (WeightFormat::F16, DType::F16),
        ] {
            let path = folder.path().join(format!("{kind}-{weights}.pt"));
            std::fs::write(
                &path,
                file(
                    &exported,
                    &ExportSpec {
                        weights,
                        ..ExportSpec::new(ExportFormat::PyTorch)
                    },
                    "model",
                ),
            )
            .unwrap();
            let tensors = candle_core::pickle::read_all(&path).unwrap();
            assert_eq!(tensors.len(), parameter_specs(kind, 10).len());
            for parameter in exported.file.net.parameters() {
                let name = parameter.name();
                let (_, tensor) = tensors.iter().find(|(found, _)| found == name).unwrap();
                assert_eq!(
                    (tensor.dtype(), tensor.dims()),
                    (dtype, parameter.tensor().dims()),
                    "{name}"
                );
                let wanted = parameter
                    .tensor()
                    .to_dtype(dtype)
                    .unwrap()
                    .to_dtype(DType::F32)
                    .unwrap();
                let got = tensor.to_dtype(DType::F32).unwrap();
                let values = |tensor: &candle_core::Tensor| {
                    tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap()
                };
                assert_eq!(values(&got), values(&wanted), "{name}");
            }
        }
    }
}

#[test]
fn the_module_has_every_layer_of_the_network() {
    for &kind in ModelKind::ALL {
        let source = String::from_utf8(file(
            &untrained_model(kind, Activation::Silu),
            &ExportSpec::new(ExportFormat::PyTorch),
            "model.py",
        ))
        .unwrap();
        for spec in parameter_specs(kind, 10) {
            // Numbers in a name count the places in a sequence; all others are attributes.
            let parts = spec
                .name
                .split('.')
                .filter(|part| part.parse::<u32>().is_err());
            for part in parts
                .filter(|part| !["weight", "bias", "running_mean", "running_var"].contains(part))
            {
                assert!(
                    source.contains(&format!("self.{part} = ")),
                    "{kind}: nothing is called {part}\n{source}"
                );
            }
        }
        assert!(
            source.contains("F.silu(") || kind == ModelKind::Linear,
            "{kind} has no activation: {source}"
        );
        assert!(
            source.contains("weights_only=True") && !source.contains("NotImplementedError"),
            "{source}"
        );
        assert!(
            source.contains("\nTEMPERATURE = 1.25\n")
                && source.matches(" / self.temperature\n").count() == 1,
            "{source}"
        );
    }
}

#[test]
fn no_two_classes_of_a_module_share_a_name() {
    for &kind in ModelKind::ALL {
        let source = String::from_utf8(file(
            &untrained_model(kind, Activation::Relu),
            &ExportSpec::new(ExportFormat::PyTorch),
            "model.py",
        ))
        .unwrap();
        let mut names: Vec<&str> = source
            .lines()
            .filter_map(|line| line.strip_prefix("class "))
            .collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert!(!names.is_empty() && names.len() == all, "{kind}: {names:?}");
    }
}
