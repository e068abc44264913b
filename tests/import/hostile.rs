//! Files that are broken, or mean harm: each is refused with a reason, and none makes Inkling
//! panic, run anything or fill the memory.

use std::io::Write;

use inkling::import::ImportError;
use inkling::records::{ExportSpec, ImportSpec};
use inkling::run_config::{Activation, ExportFormat, ModelKind};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::{NamedTensor, accepted, identify, import};
use crate::export::{file, untrained_model};

fn refused(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given.pt");
    std::fs::write(&path, bytes).unwrap();
    match import(&ImportSpec::of(path)) {
        Err(ImportError::Malformed { reason, .. }) => reason,
        Err(error @ (ImportError::Unreadable { .. } | ImportError::Mismatch { .. })) => {
            error.to_string()
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// What is said of an archive with this pickle and 16 bytes for its numbers.
fn refused_pickle(pickle: &[u8]) -> String {
    refused(&archive(pickle, &[0; 16], CompressionMethod::Stored))
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

/// The pickle of a dict with this many entries, whose keys and values these are, in the order of
/// their number.
fn dict(entries: usize, mut entry: impl FnMut(usize) -> Vec<u8>) -> Vec<u8> {
    [
        b"\x80\x02}(".to_vec(),
        (0..entries).flat_map(&mut entry).collect(),
        b"u.".to_vec(),
    ]
    .concat()
}

fn text(text: &str) -> Vec<u8> {
    [
        b"X".as_slice(),
        &(text.len() as u32).to_le_bytes(),
        text.as_bytes(),
    ]
    .concat()
}

/// A float tensor of storage `0` with this offset, shape and strides.
fn tensor(offset: i32, shape: &[usize], strides: &[i32]) -> Vec<u8> {
    let integer = |value: i32| [b"J".as_slice(), &value.to_le_bytes()].concat();
    let row = |values: Vec<i32>| {
        [
            b"(".to_vec(),
            values.into_iter().flat_map(integer).collect(),
            b"t".to_vec(),
        ]
        .concat()
    };
    let storage = [
        b"(".to_vec(),
        text("storage"),
        b"ctorch\nFloatStorage\n".to_vec(),
        text("0"),
        text("cpu"),
        integer(1),
        b"tQ".to_vec(),
    ]
    .concat();
    let shape = row(shape.iter().map(|&length| length as i32).collect());
    [
        b"ctorch._utils\n_rebuild_tensor_v2\n(".to_vec(),
        storage,
        integer(offset),
        shape,
        row(strides.to_vec()),
        b"\x89NtR".to_vec(),
    ]
    .concat()
}

/// A dict with one tensor that is of no network.
fn pickle(offset: i32, shape: &[usize], strides: &[i32]) -> Vec<u8> {
    dict(1, |_| {
        [text("fc.weight"), tensor(offset, shape, strides)].concat()
    })
}

#[test]
fn state_dicts_that_break_off_are_refused_wherever_they_do() {
    let whole = file(
        &untrained_model(ModelKind::Mlp, Activation::Relu),
        &ExportSpec::new(ExportFormat::PyTorch),
        "model",
    );
    for cut in [
        4,
        30,
        100,
        1000,
        whole.len() / 2,
        whole.len() - 100,
        whole.len() - 1,
    ] {
        refused(&whole[..cut]);
    }
}

#[test]
fn pickles_that_break_off_or_are_turned_about_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let whole = pickle(0, &[2, 2], &[2, 1]);
    for cut in 0..whole.len() {
        refused_pickle(&whole[..cut]);
    }
    // Other instructions at every place; fuzzing tries them all.
    let path = folder.path().join("turned.pt");
    for place in 0..whole.len() {
        for value in (0..=255).step_by(29) {
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
    let call = [
        b"\x80\x02cos\nsystem\nX".as_slice(),
        &(command.len() as u32).to_le_bytes(),
        command.as_bytes(),
        b"\x85R.",
    ]
    .concat();
    let reason = refused_pickle(&call);
    assert!(
        reason.contains("state_dict()") && !mark.exists(),
        "{reason}"
    );
}

/// The offset and the strides of a tensor of this shape.
type Place = fn(&[usize]) -> (i32, Vec<i32>);

#[test]
fn shapes_that_lie_are_refused() {
    // All that the network needs by name and shape; only the numbers are not there.
    let specs = inkling::nn::parameter_specs(ModelKind::Mlp, 10);
    let places: [Place; 5] = [
        // One number stands for all: 122 kB would become 9 GB.
        |shape| (0, vec![0; shape.len()]),
        |shape| (0, vec![1 << 30; shape.len()]),
        |shape| (0, vec![i32::MAX; shape.len()]),
        |shape| (i32::MAX, vec![1; shape.len()]),
        |shape| (0, vec![1; shape.len() + 1]),
    ];
    for place in places {
        let lie = dict(specs.len(), |index| {
            let (offset, strides) = place(&specs[index].shape);
            [
                text(&specs[index].name),
                tensor(offset, &specs[index].shape, &strides),
            ]
            .concat()
        });
        let reason = refused_pickle(&lie);
        assert!(
            reason.contains("too short") || reason.contains("no named tensors"),
            "{reason}"
        );
    }
    // Shapes of no network are refused before any number is looked at.
    for (offset, shape, strides) in [
        (0, vec![2, 3], vec![3, 1]),
        (-1, vec![2, 2], vec![2, 1]),
        (0, vec![usize::MAX >> 33; 2], vec![0, 0]),
        (0, vec![usize::MAX >> 33], vec![0]),
        (0, vec![1; 60], vec![1; 60]),
    ] {
        refused_pickle(&pickle(offset, &shape, &strides));
    }
}

#[test]
fn pickles_that_repeat_without_end_are_refused_by_their_size_or_their_instructions() {
    let wrapped = |body: Vec<u8>| [b"\x80\x02".to_vec(), body, b".".to_vec()].concat();
    // A value for each byte, and more bytes than a pickle has.
    assert!(refused_pickle(&wrapped(vec![b'N'; 600_000])).contains("instructions"));
    assert!(refused_pickle(&wrapped(vec![b'N'; 5 << 20])).contains("larger than 4 MiB"));
    // Entries whose name is a long string of the memo, and whose shape is a long list of it.
    let name = [
        b"\x80\x02".to_vec(),
        text(&"a.".repeat(50_000)),
        b"q\x000".to_vec(),
    ]
    .concat();
    let named = [
        name,
        b"}(".to_vec(),
        [b"h\x00".to_vec(), tensor(0, &[1], &[1])]
            .concat()
            .repeat(1000),
        b"u.".to_vec(),
    ]
    .concat();
    assert!(refused_pickle(&named).contains("longer name"));
    let list = [
        b"\x80\x02(".to_vec(),
        b"K\x01".repeat(100_000),
        b"tq\x000".to_vec(),
    ]
    .concat();
    let entry = |index: usize| {
        let storage = [
            b"(".to_vec(),
            text("storage"),
            b"ctorch\nFloatStorage\n".to_vec(),
            text("0"),
            b"tQ".to_vec(),
        ]
        .concat();
        [
            text(&index.to_string()),
            b"ctorch._utils\n_rebuild_tensor_v2\n(".to_vec(),
            storage,
            b"K\x00h\x00h\x00tR".to_vec(),
        ]
        .concat()
    };
    let listed = [
        list,
        b"}(".to_vec(),
        (0..10_000).flat_map(entry).collect(),
        b"u.".to_vec(),
    ]
    .concat();
    assert!(refused_pickle(&listed).contains("no named tensors"));
    // More tensors than any network has.
    let many = dict(10_001, |index| {
        [text(&index.to_string()), tensor(0, &[1], &[1])].concat()
    });
    assert!(refused_pickle(&many).contains("more tensors"));
}

#[test]
fn headers_of_safetensors_files_have_a_limit() {
    // A shape of a million ones: the library would take 36 bytes for each two.
    let header = format!(
        r#"{{"a":{{"dtype":"F32","shape":[1{}],"data_offsets":[0,4]}}}}"#,
        ",1".repeat(2 << 20)
    );
    let file = [
        &(header.len() as u64).to_le_bytes(),
        header.as_bytes(),
        &[0; 4],
    ]
    .concat();
    assert!(refused(&file).contains("header"));
    let name = "a.".repeat(50_000);
    let header = format!(r#"{{"{name}":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}}}"#);
    let file = [
        &(header.len() as u64).to_le_bytes(),
        header.as_bytes(),
        &[0; 4],
    ]
    .concat();
    assert!(refused(&file).contains("longer name"));
}

#[test]
fn a_flipped_bit_in_an_archives_weights_is_noticed() {
    let whole = file(
        &untrained_model(ModelKind::Mlp, Activation::Relu),
        &ExportSpec::new(ExportFormat::PyTorch),
        "model",
    );
    let weights = inkling::nn::Net::new(ModelKind::Mlp, Activation::Relu, 10, 3)
        .unwrap()
        .weights()
        .unwrap();
    let start: Vec<u8> = weights[0][..16]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let at = whole
        .windows(start.len())
        .position(|window| window == start)
        .unwrap();
    for index in 0..64 {
        let mut flipped = whole.clone();
        // Throughout the largest storage.
        flipped[at + index * weights[0].len() / 64 * 4] ^= 1 << (index % 8);
        assert!(refused(&flipped).contains("cannot be read"), "{index}");
    }
}

#[test]
fn an_archive_that_unpacks_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let specs = inkling::nn::parameter_specs(ModelKind::Mlp, 10);
    let whole = dict(specs.len(), |index| {
        let shape = &specs[index].shape;
        let strides: Vec<i32> = (0..shape.len())
            .map(|axis| shape[axis + 1..].iter().product::<usize>() as i32)
            .collect();
        [text(&specs[index].name), tensor(0, shape, &strides)].concat()
    });
    let packed = |bytes: usize| archive(&whole, &vec![0; bytes], CompressionMethod::Deflated);
    let bomb = packed(64 << 20);
    assert!(bomb.len() < 100_000);
    assert!(refused(&bomb).contains("unpacks to more"));
    // As large as it has to be, it is read.
    let path = folder.path().join("whole.pt");
    std::fs::write(&path, packed(784 * 256 * 4)).unwrap();
    assert!(import(&accepted(path)).is_ok());
}

#[test]
fn deep_nests_cost_nothing() {
    // A tuple in a tuple in a tuple …, a million times.
    let nest = [b"\x80\x02)".to_vec(), vec![0x85; 1_000_000], b".".to_vec()].concat();
    refused_pickle(&nest);
    // A dict that holds itself.
    let ring = b"\x80\x02}q\x00(X\x01\x00\x00\x00ah\x00X\x0a\x00\x00\x00state_dicth\x00u.";
    refused_pickle(ring);
}

#[test]
fn other_files_are_called_what_they_are() {
    let cases: [(&[u8], &str); 7] = [
        (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 old torch", "a pickle of Python"),
        (
            b"\x80\x04\x95\x25\0\0\0\0\0\0\0\x8c\x27sklearn.neural_network._multilayer_perceptron\x94",
            "scikit-learn",
        ),
        (b"\x80\x04\x95\x04\0\0\0\0\0\0\0}\x94.", "a pickle of Python"),
        (b"\x89HDF\r\n\x1a\n", "Keras"),
        (b"", "neither"),
        (b"PK\x03\x04 no archive", "zip"),
        (b"{\"strokes\": []}", "neither"),
    ];
    for (bytes, word) in cases {
        let reason = refused(bytes);
        assert!(reason.contains(word), "{word}: {reason}");
    }
    let zip = file(
        &untrained_model(ModelKind::Mlp, Activation::Relu),
        &ExportSpec::new(ExportFormat::Safetensors),
        "model",
    );
    assert!(refused(&zip[..zip.len() - 1]).contains("safetensors"));
}

#[test]
fn convolutions_that_may_be_padded_and_pooled_in_millions_of_ways_are_soon_refused() {
    let tensor = |name: String, shape: &[usize]| NamedTensor {
        name,
        shape: shape.to_vec(),
    };
    let mut tensors: Vec<NamedTensor> = (0..24)
        .map(|layer| tensor(format!("{layer}.weight"), &[1, 1, 3, 3]))
        .collect();
    tensors.push(tensor("24.weight".to_owned(), &[10, 7]));
    assert!(identify(&tensors, None, None).is_empty());
}
