//! candle's pooling and convolution gradients are wrong or slow: nothing in `src` may call them.

use std::path::Path;

fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn candles_own_pooling_and_convolution_are_never_called() {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 20, "the sources were not found");
    // What an exported program calls is for inference alone, or PyTorch's; and the benchmark times plain candle.
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed = [src.join("export"), src.join("bench/plain_candle.rs")];
    for (path, text) in found.into_iter().filter(|(path, _)| !allowed.iter().any(|allowed| Path::new(path).starts_with(allowed))) {
        for forbidden in [
            "max_pool2d(",
            "max_pool2d_with_stride(",
            "Tensor::max_pool2d",
            ".conv2d(",
            "Tensor::conv2d",
            "conv2d_with_algo",
            "conv_transpose2d",
            "candle_nn::",
        ] {
            assert!(!text.contains(forbidden), "{path} calls {forbidden}");
        }
    }
}
