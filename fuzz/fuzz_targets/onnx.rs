//! An ONNX file of anybody's weights.
#![no_main]

#[path = "../weights.rs"]
mod weights;

// Other files begin in other ways: the first two fields are always those of ONNX.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let file = [&[0x08, 8, 0x12, 0], bytes].concat();
    weights::read(&file);
    if let Ok(graph) = inkling::nn::onnx::OnnxGraph::open(&file) {
        let net = inkling::nn::Net::of_graph(graph, inkling::records::Normalization::MNIST);
        let _ = net.forward(&[128; 784], inkling::nn::Mode::Eval);
    }
});
