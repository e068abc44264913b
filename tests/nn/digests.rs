//! Damage to model files is noticed: every bit of a file counts, or its flip changes nothing that
//! is read.

use std::path::Path;

use inkling::nn::{ModelError, ModelFile};
use inkling::run_config::{Activation, ModelKind, WeightFormat};

use crate::support::model_file;

fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    ModelFile::from_bytes(bytes, Path::new("a")).map_err(|error| match error {
        ModelError::Malformed { reason, .. } => reason,
        other => panic!("it was read: {other}"),
    })
}

#[test]
fn every_flipped_bit_is_refused_or_in_the_name_of_the_digest() {
    let model = model_file(ModelKind::Tiny, Activation::Relu);
    let whole = model.to_bytes(WeightFormat::F16).unwrap();
    let header = 8 + u64::from_le_bytes(*whole.first_chunk().unwrap()) as usize;
    let key = whole
        .windows(14)
        .position(|window| window == b"inkling_sha256")
        .unwrap();
    let mut refused_for_digest = 0;
    // Two bits of each byte of the header, and of the numbers, which are many and alike, one of
    // every seventh.
    let of_header = (0..header).flat_map(|byte| [(byte, byte % 8), (byte, (byte + 3) % 8)]);
    let bits = of_header.chain(
        (header..whole.len())
            .step_by(7)
            .map(|byte| (byte, byte % 8)),
    );
    for (byte, bit) in bits {
        let mut flipped = whole.clone();
        flipped[byte] ^= 1 << bit;
        match read(&flipped) {
            Err(reason) => refused_for_digest += usize::from(reason.contains("checksum")),
            // The file then looks like one without a digest. Nothing else has changed.
            Ok(file) => {
                assert!(
                    (key..key + 14).contains(&byte),
                    "bit {bit} of byte {byte} went unnoticed"
                );
                assert_eq!(
                    (file.card, file.net.weights().unwrap()),
                    (
                        read(&whole).unwrap().card,
                        read(&whole).unwrap().net.weights().unwrap()
                    )
                );
            }
        }
    }
    assert!(refused_for_digest > whole.len() / 7);
}

#[test]
fn files_without_a_digest_are_read_and_the_digest_says_no_more_than_the_content() {
    let model = model_file(ModelKind::LeNet, Activation::Tanh);
    let whole = model.to_bytes(WeightFormat::F32).unwrap();
    assert_eq!(
        whole,
        model.to_bytes(WeightFormat::F32).unwrap(),
        "the same model gives other bytes"
    );
    assert_eq!(read(&whole).unwrap().card, model.card);
    let file = inkling::nn::SafetensorsFile::read(&whole).unwrap();
    assert_eq!(file.text("inkling_sha256").unwrap(), file.digest());
}

#[test]
fn weights_that_give_no_probabilities_are_refused() {
    for (kind, value) in [(ModelKind::Mlp, 3e38), (ModelKind::Tiny, -1.0)] {
        let model = model_file(kind, Activation::Relu);
        let mut weights = model.net.weights().unwrap();
        let index = if kind == ModelKind::Tiny {
            model
                .net
                .parameters()
                .iter()
                .position(|parameter| parameter.name().ends_with("running_var"))
                .unwrap()
        } else {
            0
        };
        weights[index].fill(value);
        model.net.set_weights(&weights).unwrap();
        let reason = read(&model.to_bytes(WeightFormat::F32).unwrap()).unwrap_err();
        assert!(
            reason.contains("no valid probabilities"),
            "{kind}: {reason}"
        );
    }
}
