//! The pickle of a state dict: protocol 2, with the same opcodes that `torch.save` writes for a
//! dict of tensors.

/// The storage class of a tensor in torch.
#[derive(Clone, Copy)]
pub enum Storage {
    Float,
    Half,
}

impl Storage {
    const fn class(self) -> &'static str {
        match self {
            Self::Float => "FloatStorage",
            Self::Half => "HalfStorage",
        }
    }
}

pub struct Pickler {
    bytes: Vec<u8>,
}

impl Pickler {
    /// Starts an empty ordered dict; `tensors` is the expected number of tensors.
    pub fn new(tensors: usize) -> Self {
        let mut pickler = Self {
            bytes: Vec::with_capacity(128 * tensors),
        };
        pickler.op(b"\x80\x02");
        pickler.empty_dict();
        // The items between this mark and the final opcode are added to it.
        pickler.op(b"(");
        pickler
    }

    /// Adds the tensor `name` of this shape, whose values are in storage `index` in row-major
    /// order.
    pub fn tensor(&mut self, name: &str, index: usize, storage: Storage, shape: &[usize]) {
        let count: usize = shape.iter().product();
        self.text(name);
        self.global("torch._utils", "_rebuild_tensor_v2");
        self.op(b"(");
        self.op(b"(");
        self.text("storage");
        self.global("torch", storage.class());
        self.text(&index.to_string());
        self.text("cpu");
        self.integer(count);
        // A tuple of these five is the persistent id by which torch finds the storage.
        self.op(b"tQ");
        self.integer(0);
        self.integers(shape);
        let strides: Vec<usize> = (0..shape.len())
            .map(|axis| shape.iter().skip(axis + 1).product())
            .collect();
        self.integers(&strides);
        // requires_grad is false, and there are no hooks.
        self.op(b"\x89");
        self.empty_dict();
        self.op(b"tR");
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.op(b"u.");
        self.bytes
    }

    fn empty_dict(&mut self) {
        self.global("collections", "OrderedDict");
        self.op(b")R");
    }

    fn op(&mut self, code: &[u8]) {
        self.bytes.extend_from_slice(code);
    }

    fn global(&mut self, module: &str, name: &str) {
        self.op(b"c");
        self.op(module.as_bytes());
        self.op(b"\n");
        self.op(name.as_bytes());
        self.op(b"\n");
    }

    fn text(&mut self, text: &str) {
        self.op(b"X");
        self.op(&(text.len() as u32).to_le_bytes());
        self.op(text.as_bytes());
    }

    fn integer(&mut self, value: usize) {
        self.op(b"J");
        self.op(&(value as i32).to_le_bytes());
    }

    fn integers(&mut self, values: &[usize]) {
        self.op(b"(");
        values.iter().for_each(|&value| self.integer(value));
        self.op(b"t");
    }
}
