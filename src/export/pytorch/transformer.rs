//! The module of the small vision transformer, with the names of timm.

use super::model_py::activated;
use crate::nn::Layer;
use crate::run_config::Activation;

/// The source: a convolutional stem, patches as tokens, blocks, and a linear layer on the mean of
/// the tokens.
pub fn module(class: &str, layers: &[Layer], activation: Activation) -> String {
    let act = |x: &str| activated(x, Some(activation));
    let (mut tokens, mut features, mut heads, mut hidden, mut blocks, mut classes) =
        (0, 0, 1, 0, 0, 0);
    let mut channels = Vec::new();
    for layer in layers {
        match layer {
            Layer::ConvPool { outputs, .. } | Layer::Conv { outputs, .. } => {
                channels.push(*outputs)
            }
            Layer::Linear { outputs, .. } => classes = *outputs,
            Layer::Positions {
                tokens: count,
                features: width,
                ..
            } => (tokens, features) = (*count, *width),
            Layer::Residual { body, .. } => {
                for layer in body {
                    match layer {
                        Layer::Attention { heads: count, .. } => {
                            heads = *count;
                            blocks += 1;
                        }
                        Layer::Linear { name, outputs, .. } if name.ends_with("mlp.fc1") => {
                            hidden = *outputs
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let [first, second] =
        [channels.first(), channels.get(1)].map(|count| count.copied().unwrap_or_default());
    let [stem1, stem2, mlp] = [
        act("self.bn1(F.max_pool2d(self.conv1(x), 2))"),
        act("self.bn2(self.conv2(x))"),
        act("self.fc1(x)"),
    ];
    format!(
        r#"class Stem(nn.Module):
    """Convolutional stem (Xiao et al. 2021)."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, {first}, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d({first})
        self.conv2 = nn.Conv2d({first}, {second}, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d({second})

    def forward(self, x):
        x = {stem1}
        return {stem2}


class PatchEmbed(nn.Module):
    """One token for every 2x2 patch of the feature map."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d({second}, {features}, 2, stride=2)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class SelfAttention(nn.Module):
    """Self-attention with {heads} heads (Vaswani et al. 2017)."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear({features}, 3 * {features})
        self.proj = nn.Linear({features}, {features})

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(2, (3, {heads}, -1)).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear({features}, {hidden})
        self.fc2 = nn.Linear({hidden}, {features})

    def forward(self, x):
        return self.fc2({mlp})


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm({features})
        self.attn = SelfAttention()
        self.norm2 = nn.LayerNorm({features})
        self.mlp = Mlp()

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class {class}(nn.Module):
    """A small vision transformer (Dosovitskiy et al. 2021)."""

    def __init__(self):
        super().__init__()
        self.stem = Stem()
        self.patch_embed = PatchEmbed()
        self.pos_embed = nn.Parameter(torch.zeros(1, {tokens}, {features}))
        self.blocks = nn.Sequential(*(Block() for _ in range({blocks})))
        self.fc_norm = nn.LayerNorm({features})
        self.head = nn.Linear({features}, {classes})

    def forward(self, x):
        x = self.patch_embed(self.stem(x)) + self.pos_embed
        x = self.blocks(x)
        return self.head(self.fc_norm(x.mean(1))) / TEMPERATURE
"#
    )
}
