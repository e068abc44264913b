//! Owns a small Rust program that reads pictures with the model through candle: its source and its manifest.
//! Must not know where they are written.

use super::Subject;
use super::code::Indented;
use crate::ink::SIDE;
use crate::nn::{Layer, layers, ops::Kernel};
use crate::records::{CLASSES, Normalization};
use crate::run_config::Activation;

/// `Cargo.toml` of a program in this file.
pub fn manifest(subject: &Subject, program: &str) -> String {
    format!(
        r#"[package]
name = "{}"
version = "0.1.0"
edition = "2024"
publish = false

[[bin]]
name = "{0}"
path = "{program}"

[dependencies]
candle-core = "0.11"
candle-nn = "0.11"
image = {{ version = "0.25", default-features = false, features = ["jpeg", "png"] }}
"#,
        subject.name(),
    )
}

/// `main.rs`, beside `weights`, a safetensors file of this name.
pub fn main_rs(subject: &Subject, weights: &str) -> String {
    let card = &subject.file.card;
    let Normalization { mean, std } = card.normalization;
    let layers = layers(card.model, card.config.activation);
    let mut body = Indented::default();
    let mut uses = Uses::default();
    through(&layers, 1, &mut body, &mut uses);
    let attention = if uses.attention { ATTENTION } else { "" };
    let mut from_nn = vec!["Module", "VarBuilder"];
    from_nn.extend(uses.conv.then_some("Conv2dConfig"));
    from_nn.extend(uses.batch_norm.then_some("ModuleT"));
    from_nn.extend(uses.batch_norm.then_some("batch_norm"));
    from_nn.extend(uses.conv_bias.then_some("conv2d"));
    from_nn.extend(uses.conv_plain.then_some("conv2d_no_bias"));
    from_nn.extend(uses.layer_norm.then_some("layer_norm"));
    from_nn.extend(["linear", "ops"]);
    from_nn.sort_unstable();
    format!(
        r##"//! {title}. {sentence}
//! Written by Inkling {version}. Run it beside {weights}: `cargo run --release -- picture.png …`

use candle_core::{{D, DType, Device, Error, Result, Tensor}};
use candle_nn::{{{from_nn}}};

const WEIGHTS: &str = "{weights}";
const LABELS: [&str; {CLASSES}] = {labels};
const MEAN: f64 = {mean:?};
const STD: f64 = {std:?};

fn main() -> Result<()> {{
    let device = Device::Cpu;
    let weights = VarBuilder::from_buffered_safetensors(std::fs::read(WEIGHTS)?, DType::F32, &device)?;
    for path in std::env::args().skip(1) {{
        let pixels = pixels(&path)?;
        let x = Tensor::from_vec(pixels, (1, 1, {SIDE}, {SIDE}), &device)?.to_dtype(DType::F32)?;
        let logits = network(((x / 255.0)? - MEAN)?.affine(1.0 / STD, 0.0)?, &weights)?;
        let probabilities = ops::softmax(&logits, D::Minus1)?.squeeze(0)?.to_vec1::<f32>()?;
        let best = (0..LABELS.len()).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap_or(0);
        let (digit, confidence) = (LABELS[best], probabilities[best]);
        println!(r#"{{{{"path": {{path:?}}, "digit": {{digit:?}}, "confidence": {{confidence}}, "probabilities": {{probabilities:?}}}}}}"#);
    }}
    Ok(())
}}

/// The pixels of a picture of {SIDE}x{SIDE}, light ink on dark ground.
fn pixels(path: &str) -> Result<Vec<u8>> {{
    let picture = image::open(path).map_err(Error::wrap)?.to_luma8();
    if picture.dimensions() != ({SIDE}, {SIDE}) {{
        return Err(Error::Msg(format!("{{path}}: the picture has to be {SIDE}x{SIDE} pixels")));
    }}
    Ok(picture.into_raw())
}}

/// From normalised pictures [n, 1, {SIDE}, {SIDE}] to logits [n, {CLASSES}].
fn network(x: Tensor, w: &VarBuilder) -> Result<Tensor> {{
{body}    Ok(x)
}}
{attention}"##,
        title = subject.title(),
        sentence = subject.sentence(),
        version = env!("CARGO_PKG_VERSION"),
        from_nn = from_nn.join(", "),
        labels = super::code::list(&card.labels),
        body = body.finish(),
    )
}

const ATTENTION: &str = r"
/// softmax(Q Kᵀ / √d) V for every head, from queries, keys and values one after the other.
fn attention(qkv: &Tensor, heads: usize) -> Result<Tensor> {
    let (n, tokens, width) = qkv.dims3()?;
    let depth = width / (3 * heads);
    let parts = qkv.reshape((n, tokens, 3, heads, depth))?.permute((2, 0, 3, 1, 4))?.contiguous()?;
    let (q, k, v) = (parts.get(0)?, parts.get(1)?, parts.get(2)?);
    let scores = (q.matmul(&k.t()?.contiguous()?)? / (depth as f64).sqrt())?;
    let mixed = ops::softmax(&scores, D::Minus1)?.matmul(&v)?;
    mixed.transpose(1, 2)?.contiguous()?.reshape((n, tokens, heads * depth))
}
";

/// Which of candle's functions the program needs.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each function")]
struct Uses {
    conv: bool,
    conv_bias: bool,
    conv_plain: bool,
    batch_norm: bool,
    layer_norm: bool,
    attention: bool,
    /// True between `Tokens` and `GlobalAveragePool`.
    sequence: bool,
}

fn through(layers: &[Layer], steps: usize, text: &mut Indented, uses: &mut Uses) {
    for layer in layers {
        match layer {
            Layer::ConvPool { name, inputs, outputs, kernel, padding, bias, activation } => {
                let kernel = Kernel { size: *kernel, stride: 1, padding: *padding };
                text.line(steps, &convolution(name, *inputs, *outputs, kernel, *bias, uses));
                text.line(steps, "let x = x.max_pool2d(2)?;");
                activate(*activation, steps, text);
            }
            Layer::Conv { name, inputs, outputs, kernel, bias } => {
                text.line(steps, &convolution(name, *inputs, *outputs, *kernel, *bias, uses));
            }
            Layer::BatchNorm { name, channels, activation, .. } => {
                uses.batch_norm = true;
                text.line(steps, &format!("let x = batch_norm({channels}, 1e-5, w.pp(\"{name}\"))?.forward_t(&x, false)?;"));
                activate(*activation, steps, text);
            }
            Layer::GlobalAveragePool => {
                text.line(steps, if uses.sequence { "let x = x.mean(1)?;" } else { "let x = x.mean((2, 3))?;" });
                uses.sequence = false;
            }
            Layer::Residual { body, shortcut, activation } => {
                text.line(steps, "let y = x.clone();");
                through(body, steps, text, uses);
                if shortcut.is_empty() {
                    text.line(steps, "let x = (x + y)?;");
                } else {
                    text.line(steps, "let y = {");
                    text.line(steps + 1, "let x = y;");
                    through(shortcut, steps + 1, text, uses);
                    text.line(steps + 1, "x");
                    text.line(steps, "};");
                    text.line(steps, "let x = (x + y)?;");
                }
                activate(*activation, steps, text);
            }
            Layer::Tokens => {
                uses.sequence = true;
                text.line(steps, "let x = x.flatten_from(2)?.transpose(1, 2)?.contiguous()?;");
            }
            Layer::Positions { name, tokens, features } => {
                text.line(steps, &format!("let x = x.broadcast_add(&w.get((1, {tokens}, {features}), \"{name}\")?)?;"));
            }
            Layer::LayerNorm { name, features } => {
                uses.layer_norm = true;
                text.line(steps, &format!("let x = layer_norm({features}, 1e-5, w.pp(\"{name}\"))?.forward(&x)?;"));
            }
            Layer::Attention { heads, .. } => {
                uses.attention = true;
                text.line(steps, &format!("let x = attention(&x, {heads})?;"));
            }
            Layer::Flatten => text.line(steps, "let x = x.flatten_from(1)?;"),
            Layer::Linear { name, inputs, outputs, activation } => {
                text.line(steps, &format!("let x = linear({inputs}, {outputs}, w.pp(\"{name}\"))?.forward(&x)?;"));
                activate(*activation, steps, text);
            }
            // It does nothing when a network reads.
            Layer::Dropout(_) => {}
        }
    }
}

fn convolution(name: &str, inputs: usize, outputs: usize, kernel: Kernel, bias: bool, uses: &mut Uses) -> String {
    let Kernel { size, stride, padding } = kernel;
    uses.conv = true;
    (uses.conv_bias, uses.conv_plain) = (uses.conv_bias || bias, uses.conv_plain || !bias);
    let function = if bias { "conv2d" } else { "conv2d_no_bias" };
    let how = format!("Conv2dConfig {{ stride: {stride}, padding: {padding}, ..Default::default() }}");
    format!("let x = {function}({inputs}, {outputs}, {size}, {how}, w.pp(\"{name}\"))?.forward(&x)?;")
}

fn activate(activation: Option<Activation>, steps: usize, text: &mut Indented) {
    let Some(activation) = activation else { return };
    text.line(
        steps,
        match activation {
            Activation::Relu => "let x = x.relu()?;",
            Activation::LeakyRelu => "let x = ops::leaky_relu(&x, 0.01)?;",
            Activation::Gelu => "let x = x.gelu_erf()?;",
            Activation::Silu => "let x = x.silu()?;",
            Activation::Tanh => "let x = x.tanh()?;",
        },
    );
}
