//! Files that are broken, or mean harm: each is refused with a reason, and none makes Inkling panic, run anything or fill the memory.

use std::io::Write;
use std::path::Path;

use inkling::import::{ImportError, import};
use inkling::records::{ExportSpec, ImportSpec};
use inkling::run_config::{Activation, ExportFormat, ModelKind};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::export::{file, untrained_model};

fn refused(folder: &Path, bytes: &[u8]) -> String {
    let path = folder.join("given.pt");
    std::fs::write(&path, bytes).unwrap();
    match import(&ImportSpec::of(path)) {
        Err(ImportError::Malformed { reason, .. }) => reason,
        Err(error @ (ImportError::Unreadable { .. } | ImportError::Mismatch { .. })) => error.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

/// An archive as torch writes it, with this pickle and no storage but `0`, packed or not.
fn archive(pickle: &[u8], storage: &[u8], method: CompressionMethod) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in [("a/data.pkl", pickle), ("a/data/0", storage)] {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A dict with one tensor: `fc.weight`, of storage `0`, with this count, offset, shape and strides.
fn pickle(offset: i32, shape: &[i32], strides: &[i32]) -> Vec<u8> {
    let integer = |value: i32| [b"J".as_slice(), &value.to_le_bytes()].concat();
    let row = |values: &[i32]| [b"(".to_vec(), values.iter().flat_map(|&value| integer(value)).collect(), b"t".to_vec()].concat();
    let text = |text: &str| [b"X".as_slice(), &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    [
        b"\x80\x02}(".to_vec(),
        text("fc.weight"),
        b"ctorch._utils\n_rebuild_tensor_v2\n((".to_vec(),
        text("storage"),
        b"ctorch\nFloatStorage\n".to_vec(),
        text("0"),
        text("cpu"),
        integer(4),
        b"tQ".to_vec(),
        integer(offset),
        row(shape),
        row(strides),
        b"\x89NtRu.".to_vec(),
    ]
    .concat()
}

#[test]
fn state_dicts_that_break_off_are_refused_wherever_they_do() {
    let folder = tempfile::tempdir().unwrap();
    let whole = file(&untrained_model(ModelKind::Mlp, Activation::Relu), &ExportSpec::new(ExportFormat::PyTorch), "model");
    for cut in [4, 30, 100, 1000, whole.len() / 2, whole.len() - 100, whole.len() - 1] {
        refused(folder.path(), &whole[..cut]);
    }
}

#[test]
fn pickles_that_break_off_or_are_turned_about_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let whole = pickle(0, &[2, 2], &[2, 1]);
    for cut in 0..whole.len() {
        refused(folder.path(), &archive(&whole[..cut], &[0; 16], CompressionMethod::Stored));
    }
    // Every instruction there could be, at every place.
    let path = folder.path().join("turned.pt");
    for place in 0..whole.len() {
        for value in (0..=255).step_by(7) {
            let mut turned = whole.clone();
            turned[place] = value;
            std::fs::write(&path, archive(&turned, &[0; 16], CompressionMethod::Stored)).unwrap();
            assert!(import(&ImportSpec::of(path.clone())).is_err());
        }
    }
}

#[test]
fn what_a_pickle_calls_is_never_called() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("was-here");
    let command = format!("touch {}", mark.display());
    let call = [b"\x80\x02cos\nsystem\nX".as_slice(), &(command.len() as u32).to_le_bytes(), command.as_bytes(), b"\x85R."].concat();
    let reason = refused(folder.path(), &archive(&call, &[], CompressionMethod::Stored));
    assert!(reason.contains("state_dict()") && !mark.exists(), "{reason}");
}

#[test]
fn shapes_that_lie_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (offset, shape, strides) in [
        (0, vec![2, 3], vec![3, 1]),
        (1, vec![2, 2], vec![2, 1]),
        (-1, vec![2, 2], vec![2, 1]),
        (0, vec![2, 2], vec![1 << 30, 1]),
        (0, vec![i32::MAX, i32::MAX], vec![0, 0]),
        (0, vec![i32::MAX], vec![0]),
        (0, vec![2, 2], vec![1]),
        (0, vec![1; 60], vec![1; 60]),
    ] {
        refused(folder.path(), &archive(&pickle(offset, &shape, &strides), &[0; 16], CompressionMethod::Stored));
    }
}

#[test]
fn an_archive_that_unpacks_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = archive(&pickle(0, &[2, 2], &[2, 1]), &vec![0; 257 << 20], CompressionMethod::Deflated);
    assert!(bomb.len() < 1 << 20);
    assert!(refused(folder.path(), &bomb).contains("256 MB"));
}

#[test]
fn deep_nests_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // A tuple in a tuple in a tuple …, a million times.
    let nest = [b"\x80\x02)".to_vec(), vec![0x85; 1_000_000], b".".to_vec()].concat();
    refused(folder.path(), &archive(&nest, &[], CompressionMethod::Stored));
    // A dict that holds itself.
    let ring = b"\x80\x02}q\x00(X\x01\x00\x00\x00ah\x00X\x0a\x00\x00\x00state_dicth\x00u.";
    refused(folder.path(), &archive(ring, &[], CompressionMethod::Stored));
}

#[test]
fn other_files_are_called_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &str); 6] = [
        (b"\x80\x02\x8a\x0alF\xf9 old torch", "before 1.6"),
        (b"\x89PNG\r\n\x1a\n", "image"),
        (b"\x89HDF\r\n\x1a\n", "Keras"),
        (b"", "neither"),
        (b"PK\x03\x04 no archive", "zip"),
        (b"{\"strokes\": []}", "neither"),
    ];
    for (bytes, word) in cases {
        let reason = refused(folder.path(), bytes);
        assert!(reason.contains(word), "{word}: {reason}");
    }
    let onnx = file(&untrained_model(ModelKind::Mlp, Activation::Relu), &ExportSpec::new(ExportFormat::Onnx), "model");
    assert!(refused(folder.path(), &onnx).contains("ONNX"));
    let zip = file(&untrained_model(ModelKind::Mlp, Activation::Relu), &ExportSpec::new(ExportFormat::Safetensors), "model");
    assert!(refused(folder.path(), &zip[..zip.len() - 1]).contains("safetensors"));
}
