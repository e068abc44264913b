//! What several tests need: a small data set on disk that a network can learn, and a model that has
//! learned nothing.

use std::fs;
use std::path::{Path, PathBuf};

use candle_core::Tensor;
use inkling::infer::Classifier;
use inkling::ink::{PIXELS, SIDE};
use inkling::math::random::Random;
use inkling::nn::{FORMAT_VERSION, Mode, ModelCard, ModelFile, Net};
use inkling::records::{Calibration, ModelRef};
use inkling::run_config::{Activation, Classes, DataSpec, Network, Preset, RunConfig};

/// Writes the four IDX files of a set into `folder`: each class is a bright square at a place of
/// its own, with noise.
pub fn write_idx_set(folder: &Path, train: usize, test: usize) {
    fs::create_dir_all(folder).unwrap();
    for (name, count, seed) in [("train", train, 1), ("t10k", test, 2)] {
        let mut random = Random::new(seed);
        let mut images = [0x0803_u32, count as u32, SIDE as u32, SIDE as u32]
            .map(u32::to_be_bytes)
            .concat();
        let mut labels = [0x0801_u32, count as u32].map(u32::to_be_bytes).concat();
        for index in 0..count {
            let label = index % 10;
            let (top, left) = (4 + label / 5 * 12, 2 + label % 5 * 5);
            let mut picture = [0_u8; PIXELS];
            for (place, pixel) in picture.iter_mut().enumerate() {
                let (y, x) = (place / SIDE, place % SIDE);
                let inside = (top..top + 8).contains(&y) && (left..left + 4).contains(&x);
                *pixel = (random.below(60) + if inside { 180 } else { 0 }) as u8;
            }
            images.extend_from_slice(&picture);
            labels.push(label as u8);
        }
        fs::write(folder.join(format!("{name}-images-idx3-ubyte")), images).unwrap();
        fs::write(folder.join(format!("{name}-labels-idx1-ubyte")), labels).unwrap();
    }
}

/// The folder of the real MNIST; `None`, and a word on the standard error, if it is not there.
pub fn mnist_folder() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let folders = std::env::var_os("INKLING_DATA_DIR")
        .map(PathBuf::from)
        .into_iter()
        .chain([shared]);
    let found = folders
        .map(|folder| folder.join("mnist"))
        .find(|folder| folder.join("train-images-idx3-ubyte.gz").is_file());
    if found.is_none() {
        eprintln!("skipped: the real MNIST is neither in INKLING_DATA_DIR nor in ../shared/data");
    }
    found
}

/// A model that has learned nothing, and says otherwise.
pub fn model_file(network: impl Into<Network>, activation: Activation) -> ModelFile {
    let network = network.into();
    let net = Net::new(network, activation, 10, 3).unwrap();
    let mut config = RunConfig {
        activation,
        ..RunConfig::preset(Preset::QuickLook)
    };
    config.set_network(network);
    let card = ModelCard {
        version: FORMAT_VERSION,
        model: network.model(),
        labels: Classes::Digits,
        normalization: net.normalization(),
        calibration: Calibration {
            temperature: 1.25,
            digit_threshold: 4.5,
        },
        data: DataSpec::builtin(),
        epochs: 2,
        validation_accuracy: Some(0.98),
        test: None,
        config,
    };
    ModelFile { net, card }
}

/// The elements of a tensor.
pub fn flat(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

/// What a network computes for these images.
pub fn logits(net: &Net, images: &[u8]) -> Vec<f32> {
    flat(&net.forward(images, Mode::Eval).unwrap())
}

/// What this gives with so many threads to share its work.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(work)
}

/// Programs that are started from now on end when they are hung up on, as is usual. Under `nohup`
/// they would inherit that they ignore it.
#[cfg(unix)]
pub fn hangups_end_programs() {
    // SAFETY: no handler is installed; what the system does by default is restored.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
}

/// The model in this file, ready to classify.
pub fn opened(path: &Path) -> Classifier {
    Classifier::load(&ModelRef::File(path.to_owned()))
        .unwrap()
        .unwrap()
}

/// The small model that comes with Inkling, ready to classify.
pub fn starter() -> Classifier {
    Classifier::load(&ModelRef::Starter).unwrap().unwrap()
}

/// A page that is made by the program is written as it is made; `INKLING_WRITE_DOCS` writes it.
pub fn assert_written(page: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    if std::env::var_os("INKLING_WRITE_DOCS").is_some() {
        fs::write(&path, made).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    assert!(
        written == made,
        "{page} differs from what it is made from; write it with INKLING_WRITE_DOCS=1"
    );
}
