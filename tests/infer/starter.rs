//! The model that comes with Inkling.

use inkling::data::load;
use inkling::infer::Classifier;
use inkling::progress::Unwatched;
use inkling::run_config::DataSpec;

#[test]
fn it_is_small_and_learned_from_mnist_and_the_built_in_digits() {
    let size = std::fs::metadata(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/starter.safetensors")).unwrap().len();
    assert!(size <= 200_000, "{size} bytes");
    assert_eq!(Classifier::starter().unwrap().info().data, "mnist+builtin".parse::<DataSpec>().unwrap());
}

#[test]
fn it_reads_digits_of_real_people() {
    let Some(folder) = crate::support::mnist_folder() else { return };
    let set = load(&"mnist".parse().unwrap(), &[folder], &mut Unwatched).unwrap();
    let measured = Classifier::starter().unwrap().evaluate(&set.test, &mut Unwatched).unwrap();
    assert!(measured.accuracy >= 0.985, "{}", measured.accuracy);
}
