//! A network as `nn.Module`s. Its parts, as in the names of its parameters (`stem` of
//! `stem.conv1.weight`), are separate modules, and so are their parts.

use crate::export::activation;
use crate::nn::ops::ConvGeometry;
use crate::nn::{Layer, Shape, Step, residual_block, walk};

/// The source of the classes, the whole network's last.
pub fn modules(class: &str, about: Option<&str>, layers: &[Layer]) -> String {
    let steps: Vec<Step<'_>> = walk(layers, Shape::INPUT).collect();
    let all = steps.iter().flat_map(|step| step.flattened());
    let mut writer = Writer {
        classes: Vec::new(),
        is_flat: parts(&steps, "").iter().all(String::is_empty),
        dropouts: all.filter(|step| step.layer.is_dropout()).count(),
        dropout: 0,
    };
    let mut module = Module::of('x', 'x');
    writer.write(&steps, "", &mut module);
    // TorchScript knows attributes, and no global variables.
    module.init.push("self.temperature = TEMPERATURE".into());
    let source = module.source(about, " / self.temperature");
    writer.add_class(class, source);
    let classes = writer.classes.iter();
    let sources = classes.map(|(name, source)| format!("class {name}(nn.Module):\n{source}"));
    sources.collect::<Vec<_>>().join("\n\n")
}

/// The code of a class, or of a branch in it.
struct Module {
    init: Vec<String>,
    forward: Vec<String>,
    /// The next layer's input.
    expression: String,
    /// The variable that expressions are assigned to.
    variable: char,
}

impl Module {
    /// Before its first layer, which takes `input`.
    fn of(input: char, variable: char) -> Self {
        Self {
            init: Vec::new(),
            forward: Vec::new(),
            expression: input.to_string(),
            variable,
        }
    }

    /// Ends a line of `forward`.
    fn assign(&mut self) {
        let variable = self.variable.to_string();
        if self.expression != variable {
            let line = format!("{variable} = {}", self.expression);
            self.forward.push(line);
            self.expression = variable;
        }
    }

    /// The source below `class`, whose result has `suffix` after it.
    fn source(mut self, about: Option<&str>, suffix: &str) -> String {
        // What would only be assigned and returned is returned immediately.
        if suffix.is_empty()
            && self.expression.len() == 1
            && let Some(last) = self.forward.pop()
        {
            self.expression = last
                .split_once(" = ")
                .map_or(last.clone(), |(_, x)| x.into());
        }
        self.forward
            .push(format!("return {}{suffix}", self.expression));
        let about = about.map(|about| format!("    \"\"\"{about}\"\"\"\n\n"));
        let lines = |lines: &[String]| -> String {
            let lines = lines.iter().map(|line| format!("        {line}\n"));
            lines.collect()
        };
        format!(
            "{}    def __init__(self):\n        super().__init__()\n{}\n    def forward(self, x):\n{}",
            about.unwrap_or_default(),
            lines(&self.init),
            lines(&self.forward)
        )
    }
}

struct Writer {
    /// The names of classes, and what is below them.
    classes: Vec<(String, String)>,
    /// Whether the network has no parts: each of its layers is a line then.
    is_flat: bool,
    dropouts: usize,
    /// The number of the last dropout layer.
    dropout: usize,
}

impl Writer {
    /// Adds a class, unless there is the same; returns its name.
    fn add_class(&mut self, name: &str, source: String) -> String {
        let alike: Vec<_> = self
            .classes
            .iter()
            .filter(|(other, _)| other.strip_prefix(name).is_some_and(is_number))
            .collect();
        if let Some((name, _)) = alike.iter().find(|(_, other)| *other == source) {
            return name.clone();
        }
        let name = match alike.len() {
            0 => name.to_owned(),
            others => format!("{name}{}", others + 1),
        };
        self.classes.push((name.clone(), source));
        name
    }

    /// Adds these layers, which are in this part of the network, to its module.
    fn write(&mut self, steps: &[Step<'_>], part: &str, module: &mut Module) {
        for (name, steps) in members(steps, part) {
            if let Some(name) = name {
                let made = self.module(steps, &joined(part, &name));
                module.init.push(format!("self.{name} = {made}"));
                module.expression = format!("self.{name}({})", module.expression);
            } else {
                for (index, step) in steps.iter().enumerate() {
                    let next = steps.get(index + 1).map(|step| step.layer);
                    self.layer(*step, next, part, module);
                }
            }
        }
    }

    /// The expression that makes a module of the layers of a part.
    fn module(&mut self, steps: &[Step<'_>], part: &str) -> String {
        if let [step] = steps
            && let Some((source, arguments)) = basic_block(step.layer, part)
        {
            return format!("{}({arguments})", self.add_class("Block", source));
        }
        let members = members(steps, part);
        let is_sequential = members.iter().all(|(name, steps)| match name {
            Some(name) => is_number(name),
            None => steps.iter().all(|step| is_element(step.layer)),
        });
        if !is_sequential {
            let mut module = Module::of('x', 'x');
            self.write(steps, part, &mut module);
            let about = about(part, steps);
            let source = module.source(about.as_deref(), "");
            return format!("{}()", self.add_class(&class_name(part), source));
        }
        let mut made = Vec::new();
        for (name, steps) in members {
            match name {
                Some(name) => made.push(self.module(steps, &joined(part, &name))),
                None => made.extend(steps.iter().filter_map(|step| made_by(step.layer, None))),
            }
        }
        match made.as_slice() {
            [first, others @ ..]
                if first.ends_with("()") && others.iter().all(|other| other == first) =>
            {
                format!("nn.Sequential(*({first} for _ in range({})))", made.len())
            }
            _ => format!("nn.Sequential({})", made.join(", ")),
        }
    }

    fn layer(
        &mut self,
        Step { layer, input, .. }: Step<'_>,
        next: Option<&Layer>,
        part: &str,
        module: &mut Module,
    ) {
        let name = match layer {
            Layer::Dropout(_) if self.dropouts > 1 => {
                self.dropout += 1;
                format!("dropout{}", self.dropout)
            }
            _ => local(layer.name()).to_owned(),
        };
        if let Some(made) = made_by(layer, next) {
            module.init.push(format!("self.{name} = {made}"));
        }
        if matches!(layer, Layer::GlobalAveragePool | Layer::Residual { .. }) {
            module.assign();
        }
        let x = std::mem::take(&mut module.expression);
        let called = format!("self.{name}({x})");
        module.expression = match layer {
            Layer::Conv {
                pool, activation, ..
            } => {
                let pooled = pool.then(|| format!("F.max_pool2d({called}, 2)"));
                activation::pytorch(&pooled.unwrap_or(called), *activation)
            }
            Layer::BatchNorm { activation, .. } | Layer::Linear { activation, .. } => {
                activation::pytorch(&called, *activation)
            }
            Layer::Activation(activation) => activation::pytorch(&x, Some(*activation)),
            Layer::GlobalAveragePool => match input {
                Shape::Tokens { .. } => format!("{x}.mean(1)"),
                Shape::Image { .. } | Shape::Features(_) => format!("{x}.mean((2, 3))"),
            },
            Layer::Residual {
                body,
                shortcut,
                activation,
            } => {
                let sum = self.sum([body, shortcut], input, part, module);
                activation::pytorch(&sum, *activation)
            }
            Layer::Tokens => format!("{x}.flatten(2).transpose(1, 2)"),
            Layer::Positions { .. } => format!("{x} + self.{name}"),
            Layer::LayerNorm { .. } | Layer::Dropout(_) => called,
            Layer::Attention { heads, .. } => {
                let mixed = module.variable;
                module.forward.extend([
                    format!("q, k, v = {x}.unflatten(2, (3, {heads}, -1)).permute(2, 0, 3, 1, 4).unbind(0)"),
                    format!("{mixed} = F.scaled_dot_product_attention(q, k, v)"),
                ]);
                format!("{mixed}.transpose(1, 2).flatten(2)")
            }
            Layer::Flatten => format!("{x}.flatten(1)"),
        };
        let ends_line = match layer {
            Layer::BatchNorm { activation, .. } => activation.is_some(),
            Layer::Residual { .. } | Layer::Positions { .. } => true,
            _ => self.is_flat,
        };
        if ends_line {
            module.assign();
        }
    }

    /// Adds the body and the shortcut of a residual layer; returns their sum.
    fn sum(
        &mut self,
        branches: [&[Layer]; 2],
        input: Shape,
        part: &str,
        module: &mut Module,
    ) -> String {
        let x = module.variable;
        let y = if x == 'x' { 'y' } else { 'z' };
        let [mut body, shortcut] = [0, 1].map(|index| {
            let mut branch = Module::of(x, if index == 0 { y } else { x });
            let steps: Vec<Step<'_>> = walk(branches[index], input).collect();
            self.write(&steps, part, &mut branch);
            module.init.append(&mut branch.init);
            branch
        });
        if body.forward.is_empty() && branches[1].is_empty() {
            return format!("{x} + {}", body.expression);
        }
        body.assign();
        let lines = body.forward.into_iter().chain(shortcut.forward);
        module.forward.extend(lines);
        format!("{y} + {}", shortcut.expression)
    }
}

/// The module that a layer is, if it is one.
fn made_by(layer: &Layer, next: Option<&Layer>) -> Option<String> {
    match layer {
        Layer::Conv {
            inputs,
            outputs,
            kernel,
            bias,
            ..
        } => Some(convolution(*inputs, *outputs, *kernel, *bias)),
        Layer::BatchNorm { channels, .. } => Some(format!("nn.BatchNorm2d({channels})")),
        Layer::Linear {
            inputs, outputs, ..
        } => Some(match next {
            // Queries, keys and values.
            Some(Layer::Attention { features, .. }) => {
                format!("nn.Linear({inputs}, 3 * {features})")
            }
            _ => format!("nn.Linear({inputs}, {outputs})"),
        }),
        Layer::Dropout(probability) => Some(format!("nn.Dropout({probability})")),
        Layer::LayerNorm { features, .. } => Some(format!("nn.LayerNorm({features})")),
        Layer::Positions {
            tokens, features, ..
        } => Some(format!(
            "nn.Parameter(torch.zeros(1, {tokens}, {features}))"
        )),
        Layer::Activation(_)
        | Layer::GlobalAveragePool
        | Layer::Residual { .. }
        | Layer::Tokens
        | Layer::Attention { .. }
        | Layer::Flatten => None,
    }
}

/// Whether a layer is nothing but a module with a number, as in `nn.Sequential`.
fn is_element(layer: &Layer) -> bool {
    let is_bare = match layer {
        Layer::Conv {
            pool, activation, ..
        } => !pool && activation.is_none(),
        Layer::BatchNorm { activation, .. } | Layer::Linear { activation, .. } => {
            activation.is_none()
        }
        _ => true,
    };
    is_bare
        && layer
            .parameter_name()
            .is_some_and(|name| is_number(local(name)))
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// `nn.Conv2d` with the arguments that differ from its defaults.
fn convolution(inputs: usize, outputs: usize, kernel: ConvGeometry, bias: bool) -> String {
    let mut text = format!("nn.Conv2d({inputs}, {outputs}, {}", kernel.size);
    if kernel.stride != 1 {
        text += &format!(", stride={}", kernel.stride);
    }
    if kernel.padding != 0 {
        text += &format!(", padding={}", kernel.padding);
    }
    if !bias {
        text += ", bias=False";
    }
    text + ")"
}

/// The class of the blocks that residual networks repeat in several sizes, and the arguments that
/// make this layer of it.
fn basic_block(layer: &Layer, part: &str) -> Option<(String, String)> {
    let Layer::Residual {
        body,
        activation: Some(activation),
        ..
    } = layer
    else {
        return None;
    };
    let Some(Layer::Conv {
        inputs,
        outputs,
        kernel: ConvGeometry { stride, .. },
        ..
    }) = body.first()
    else {
        return None;
    };
    if *layer != residual_block(part, *inputs, *outputs, *stride, *activation) {
        return None;
    }
    let [inner, outer] = ["self.bn1(self.conv1(x))", "y + self.downsample(x)"]
        .map(|x| activation::pytorch(x, Some(*activation)));
    let source = format!(
        r#"    """Two convolutions with a skip connection (He et al. 2016)."""

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
"#
    );
    Some((source, format!("{inputs}, {outputs}, {stride}")))
}

/// The comment on the class of a part.
fn about(part: &str, steps: &[Step<'_>]) -> Option<String> {
    let of_layer = steps.iter().find_map(|step| match step.layer {
        Layer::Attention { heads, .. } => Some(format!(
            "Self-attention with {heads} heads (Vaswani et al. 2017)."
        )),
        Layer::Conv { kernel, .. } if part == "patch_embed" => Some(format!(
            "One token for every {0}x{0} patch of the feature map.",
            kernel.stride
        )),
        _ => None,
    });
    let is_stem = part == "stem";
    of_layer.or_else(|| is_stem.then(|| "Convolutional stem (Xiao et al. 2021).".to_owned()))
}

/// `PatchEmbed` of `patch_embed`, and `Block` of each of several that have numbers.
fn class_name(part: &str) -> String {
    match local(part) {
        "attn" => "SelfAttention".to_owned(),
        number if is_number(number) => "Block".to_owned(),
        name => name
            .split('_')
            .flat_map(|word| {
                let (first, rest) = word.split_at(word.len().min(1));
                [first.to_ascii_uppercase(), rest.to_owned()]
            })
            .collect(),
    }
}

/// Layers in their order, by the part within this one that they belong to; `None` for its own.
fn members<'a, 's>(steps: &'a [Step<'s>], part: &str) -> Vec<(Option<String>, &'a [Step<'s>])> {
    let name = |path: String| {
        let within = path.strip_prefix(part).unwrap_or(&path);
        let name = within.split('.').find(|name| !name.is_empty());
        name.map(str::to_owned)
    };
    let names: Vec<Option<String>> = parts(steps, part).into_iter().map(name).collect();
    let mut members = Vec::new();
    let mut rest = steps;
    for names in names.chunk_by(|one, other| one == other) {
        let (steps, others) = rest.split_at(names.len());
        members.push((names[0].clone(), steps));
        rest = others;
    }
    members
}

/// The part of the network that each of these layers belongs to, all of them within `part`.
fn parts(steps: &[Step<'_>], part: &str) -> Vec<String> {
    let of_names = |step: &Step<'_>| {
        let steps = step.flattened().into_iter();
        let names = steps.filter_map(|step| step.layer.parameter_name());
        names
            .map(|name| {
                name.rsplit_once('.')
                    .map_or("", |(part, _)| part)
                    .to_owned()
            })
            .reduce(|one, other| shared(&one, &other))
    };
    let known: Vec<Option<String>> = steps.iter().map(of_names).collect();
    let part_of = |(index, step): (usize, &Step<'_>)| {
        if let Some(known) = &known[index] {
            return known.clone();
        }
        let before = known[..index].iter().flatten().next_back();
        let before = before.map_or(part, String::as_str);
        let after = known[index..].iter().flatten().next();
        match step.layer {
            // As timm has it, the convolution into patches makes the sequence as well.
            Layer::Tokens if index > 0 && is_convolution(steps[index - 1].layer) => {
                before.to_owned()
            }
            _ => shared(before, after.map_or(part, String::as_str)),
        }
    };
    steps.iter().enumerate().map(part_of).collect()
}

const fn is_convolution(layer: &Layer) -> bool {
    matches!(layer, Layer::Conv { .. })
}

/// The smallest part that both are in.
fn shared(one: &str, other: &str) -> String {
    let both = one.split('.').zip(other.split('.'));
    let names = both.take_while(|(one, other)| one == other);
    names.map(|(name, _)| name).collect::<Vec<_>>().join(".")
}

fn joined(part: &str, name: &str) -> String {
    if part.is_empty() {
        name.to_owned()
    } else {
        format!("{part}.{name}")
    }
}

/// The name within its part.
fn local(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
