//! Model files: what is written comes back; what is not a model of ours is refused with the reason.

use std::collections::HashMap;
use std::path::Path;

use inkling::nn::{
    FORMAT_VERSION, MAX_FILE_BYTES, ModelCard, ModelError, ModelFile, Net, parameter_specs,
};
use inkling::run_config::{
    Activation, Classes, DataSource, DataSpec, ModelKind, PublicDataset, WeightFormat,
};
use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::support::{logits, model_file};

fn model(kind: ModelKind) -> ModelFile {
    model_file(kind, Activation::Relu)
}

fn reason(bytes: &[u8]) -> String {
    match ModelFile::from_bytes(bytes, Path::new("some.safetensors")) {
        Err(ModelError::Malformed { path, reason }) => {
            assert_eq!(path, Path::new("some.safetensors"));
            reason
        }
        other => panic!("not refused as malformed: {other:?}"),
    }
}

#[test]
fn what_is_written_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for &kind in ModelKind::ALL {
        let path = folder.path().join(format!("{kind}.safetensors"));
        let written = model(kind);
        std::fs::write(&path, written.to_bytes(WeightFormat::F32).unwrap()).unwrap();
        let read = ModelFile::load(&path).unwrap();
        assert_eq!(read.card, written.card);
        assert_eq!(read.net.weights().unwrap(), written.net.weights().unwrap());
    }
}

#[test]
fn the_activation_comes_back() {
    let mut written = model(ModelKind::LeNet);
    written.card.config.activation = Activation::Silu;
    written.net = Net::new(ModelKind::LeNet, Activation::Silu, 10, 3).unwrap();
    let picture: Vec<u8> = (0..784).map(|place| (place % 251) as u8).collect();
    let logits = |net: &Net| logits(net, &picture);
    let bytes = written.to_bytes(WeightFormat::F32).unwrap();
    let read = ModelFile::from_bytes(&bytes, Path::new("silu")).unwrap();
    assert_eq!(logits(&read.net), logits(&written.net));
}

#[test]
fn half_precision_halves_the_file_and_rounds() {
    let written = model(ModelKind::LeNet);
    let bytes = written.to_bytes(WeightFormat::F16).unwrap();
    // The bound on the starter model in `assets`.
    assert!(bytes.len() <= 200_000, "{} bytes", bytes.len());
    let read = ModelFile::from_bytes(&bytes, Path::new("starter")).unwrap();
    for (written, read) in written
        .net
        .weights()
        .unwrap()
        .iter()
        .flatten()
        .zip(read.net.weights().unwrap().iter().flatten())
    {
        assert!(
            (written - read).abs() <= written.abs() / 2048.0 + 1e-7,
            "{read} and not {written}"
        );
    }
}

#[test]
fn other_programs_can_open_it() {
    let bytes = model(ModelKind::Speedrun)
        .to_bytes(WeightFormat::F32)
        .unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(
        tensors.tensor("conv1.weight").unwrap().shape(),
        [24, 1, 5, 5]
    );
    assert_eq!(tensors.tensor("fc2.bias").unwrap().dtype(), Dtype::F32);
}

#[test]
fn damaged_files_are_refused() {
    let bytes = model(ModelKind::LeNet).to_bytes(WeightFormat::F32).unwrap();
    for cut in [0, 4, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(
            reason(&bytes[..cut]).contains("safetensors"),
            "cut at {cut}"
        );
    }
    assert!(reason(b"PK\x03\x04 certainly not a model, but long enough").contains("safetensors"));
    let giant_header = [u64::MAX.to_le_bytes().as_slice(), &bytes[8..]].concat();
    assert!(reason(&giant_header).contains("safetensors"));
}

/// The model's file with one thing changed.
fn changed(change: impl Fn(&mut ModelCard, &mut Vec<(String, Vec<usize>, Vec<f32>)>)) -> Vec<u8> {
    let ModelFile { net, mut card } = model(ModelKind::LeNet);
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = parameter_specs(ModelKind::LeNet, 10)
        .into_iter()
        .zip(net.weights().unwrap())
        .map(|(spec, values)| (spec.name, spec.shape, values))
        .collect();
    change(&mut card, &mut tensors);
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, _, values)| {
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        })
        .collect();
    let views = tensors.iter().zip(&bytes).map(|((name, shape, _), bytes)| {
        (
            name,
            TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap(),
        )
    });
    let metadata = HashMap::from([("inkling".to_owned(), serde_json::to_string(&card).unwrap())]);
    safetensors::serialize(views, Some(metadata)).unwrap()
}

#[test]
fn every_claim_is_checked() {
    assert!(ModelFile::from_bytes(&changed(|_, _| ()), Path::new("whole")).is_ok());
    assert!(reason(&changed(|card, _| card.version = FORMAT_VERSION + 1)).contains("newer"));
    assert!(reason(&changed(|card, _| card.normalization.std = 0.0)).contains("normalization"));
    for wrong in [0.0, -1.0, 0.04, 21.0] {
        assert!(
            reason(&changed(|card, _| card.calibration.temperature = wrong))
                .contains("temperature"),
            "{wrong}"
        );
    }
    assert!(reason(&changed(|card, _| card.labels = Classes::Letters)).contains("digits"));
    assert!(reason(&changed(|card, _| card.model = ModelKind::Mlp)).contains("but MLP has"));
    assert!(
        reason(&changed(|_, tensors| tensors[0].0 = "other".to_owned()))
            .contains("conv1.weight is missing")
    );
    assert!(reason(&changed(|_, tensors| tensors[0].1 = vec![6, 1, 25])).contains("shape"));
    assert!(reason(&changed(|_, tensors| tensors[3].2[0] = f32::NAN)).contains("finite"));
}

#[test]
fn weights_of_other_programs_are_told_from_damaged_models() {
    let is_foreign = |bytes: &[u8]| match ModelFile::from_bytes(bytes, Path::new("weights.pt")) {
        Err(ModelError::Foreign { path }) => path == Path::new("weights.pt"),
        _ => false,
    };
    let plain = safetensors::serialize(Vec::<(String, TensorView<'_>)>::new(), None).unwrap();
    let archive = |name: &str| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.finish().unwrap().into_inner()
    };
    assert!(
        is_foreign(&plain)
            && is_foreign(&archive("model/data.pkl"))
            && is_foreign(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.")
    );
    assert!(is_foreign(b"\x08\x08\x12\x07pytorch"), "ONNX");
    let whole = changed(|_, _| ());
    for other in [
        &archive("model.onnx")[..],
        b"PK\x03\x04",
        b"",
        b"dear reader",
        &whole,
        &whole[..whole.len() - 1],
    ] {
        assert!(!is_foreign(other));
    }
}

#[test]
fn a_missing_file_and_a_folder_are_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("absent"), folder.path().to_owned()] {
        assert!(
            matches!(ModelFile::load(&path), Err(ModelError::Unreadable { path: named, .. }) if named == path)
        );
    }
}

#[test]
fn a_file_beyond_the_bound_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("giant");
    // Sparse: it takes no room on the disk.
    std::fs::File::create(&path)
        .unwrap()
        .set_len(MAX_FILE_BYTES + 1)
        .unwrap();
    assert!(
        matches!(ModelFile::load(&path), Err(ModelError::Unreadable { reason, .. }) if reason.contains("larger than"))
    );
}

#[test]
fn labels_are_those_of_the_data() {
    let labeled = |data: &DataSpec, classes: Classes| {
        let mut written = model(ModelKind::Linear);
        (written.card.data, written.card.labels) = (data.clone(), classes);
        written.to_bytes(WeightFormat::F32).unwrap()
    };
    let fashion = DataSpec::single(DataSource::Named(PublicDataset::FashionMnist));
    let read =
        ModelFile::from_bytes(&labeled(&fashion, Classes::Clothing), Path::new("fashion")).unwrap();
    assert_eq!(read.card.labels, Classes::Clothing);
    assert!(reason(&labeled(&fashion, Classes::Digits)).contains("Fashion-MNIST"));
    let said = reason(&labeled(&fashion, Classes::Hiragana));
    assert!(
        said.contains("tsu") && said.contains("articles of clothing of Fashion-MNIST"),
        "{said}"
    );
    assert!(
        reason(&labeled(&DataSpec::builtin(), Classes::Clothing))
            .contains("not the digits of Built-in digits")
    );
}
