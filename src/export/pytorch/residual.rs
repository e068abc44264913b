//! The module of a residual network, with the names of torchvision.

use super::model_py::activated;
use crate::nn::Layer;
use crate::run_config::Activation;

/// The source: a stem, stages of blocks, global average pooling and a linear layer.
pub fn module(class: &str, layers: &[Layer], activation: Activation) -> String {
    let act = |x: &str| activated(x, Some(activation));
    // The blocks of each stage, with the inputs, outputs and stride of their first convolution.
    let mut stages: Vec<Vec<String>> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let (mut stem, mut features, mut classes) = (0, 0, 0);
    for layer in layers {
        match layer {
            Layer::Conv { outputs, .. } => stem = *outputs,
            Layer::Linear {
                inputs, outputs, ..
            } => (features, classes) = (*inputs, *outputs),
            Layer::Residual { body, .. } => {
                let Some(Layer::Conv {
                    name,
                    inputs,
                    outputs,
                    kernel,
                    ..
                }) = body.first()
                else {
                    continue;
                };
                let stage = name.split('.').next().unwrap_or_default().to_owned();
                if names.last() != Some(&stage) {
                    names.push(stage);
                    stages.push(Vec::new());
                }
                if let Some(blocks) = stages.last_mut() {
                    blocks.push(format!("Block({inputs}, {outputs}, {})", kernel.stride));
                }
            }
            _ => {}
        }
    }
    let made: String = names
        .iter()
        .zip(&stages)
        .map(|(name, blocks)| {
            format!(
                "        self.{name} = nn.Sequential({})\n",
                blocks.join(", ")
            )
        })
        .collect();
    let calls = names
        .iter()
        .fold("x".to_owned(), |x, name| format!("self.{name}({x})"));
    let [inner, outer, first] = [
        act("self.bn1(self.conv1(x))"),
        act("y + self.downsample(x)"),
        act("self.bn1(self.conv1(x))"),
    ];
    format!(
        r#"class Block(nn.Module):
    """Two convolutions with a skip connection (He et al. 2016)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = {inner}
        y = self.bn2(self.conv2(y))
        return {outer}


class {class}(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, {stem}, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d({stem})
{made}        self.fc = nn.Linear({features}, {classes})

    def forward(self, x):
        x = {first}
        x = {calls}
        return self.fc(x.mean((2, 3))) / TEMPERATURE
"#
    )
}
