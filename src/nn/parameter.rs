//! A named weight and its gradient, and the weights of a network.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candle_core::{CpuStorage, Device, InplaceOp1, Layout, Result, Tensor, Var};

use super::DeviceContext;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Multiplied with activations; weight decay acts on it.
    Weight,
    /// Added to activations.
    Bias,
    /// Scale or shift of a normalization.
    Norm,
    /// A running statistic: saved with the model, but neither trained nor decayed.
    Buffer,
}

impl Role {
    /// True if an optimizer updates it.
    pub const fn is_trainable(self) -> bool {
        !matches!(self, Self::Buffer)
    }
}

/// A weight. Clones share it: a clone sees every later update.
///
/// Its gradient is a tensor on its device that `backward` adds to, as `PyTorch`'s `.grad`; `None`
/// before the first. On the CPU, ops add to it in place: a fresh tensor for each pass would move
/// more memory than the matrix multiplications of the larger models do.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: String,
    role: Role,
    var: Var,
    grad: Arc<Mutex<Option<Tensor>>>,
}

impl Parameter {
    /// A weight on the CPU with these values, or a bias if its shape has one dimension.
    pub fn new(name: impl Into<String>, values: Vec<f32>, shape: &[usize]) -> Result<Self> {
        let role = if shape.len() == 1 {
            Role::Bias
        } else {
            Role::Weight
        };
        Ok(Self {
            name: name.into(),
            role,
            var: Var::from_vec(values, shape, &Device::Cpu)?,
            grad: Arc::default(),
        })
    }

    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// As in the model file: `fc1.weight`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn role(&self) -> Role {
        self.role
    }

    /// The weight decay that applies to it: `weight_decay` for weights, 0 for biases and
    /// normalizations.
    pub fn decay(&self, weight_decay: f32) -> f32 {
        if self.role == Role::Weight {
            weight_decay
        } else {
            0.0
        }
    }

    pub fn len(&self) -> usize {
        self.var.elem_count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn dims(&self) -> &[usize] {
        self.var.dims()
    }

    /// True if both are the same parameter.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.grad, &other.grad)
    }

    /// The values as a variable of candle's graph, for ops that candle differentiates.
    pub(super) fn var(&self) -> &Tensor {
        self.var.as_tensor()
    }

    /// The values, for reading only; they share the weight's memory.
    pub fn tensor(&self) -> Tensor {
        self.var.as_detached_tensor()
    }

    /// A copy of the values in the order of the model file.
    pub fn values(&self) -> Result<Vec<f32>> {
        self.tensor().flatten_all()?.to_vec1()
    }

    /// Replaces the values by these, on its device.
    pub fn set(&self, values: &Tensor) -> Result<()> {
        self.var.set(values)
    }

    /// A copy of it on another device, without a gradient.
    pub fn to_device(&self, context: &DeviceContext) -> Result<Self> {
        let var = Var::from_tensor(&self.tensor().to_device(&context.device)?.copy()?)?;
        Ok(Self {
            name: self.name.clone(),
            role: self.role,
            var,
            grad: Arc::default(),
        })
    }

    /// The gradient accumulated so far, in the shape of the values; `None` if there is none.
    pub fn grad(&self) -> Option<Tensor> {
        self.lock().clone()
    }

    pub fn set_grad(&self, grad: Option<Tensor>) {
        *self.lock() = grad;
    }

    /// The gradient, which is `None` from here on.
    pub fn take_grad(&self) -> Option<Tensor> {
        self.lock().take()
    }

    pub fn zero_grad(&self) {
        self.set_grad(None);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Tensor>> {
        // A panic while adding leaves a gradient that is wrong but whole; the run that panicked is
        // over anyway.
        self.grad.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `change` rewrite the values in place, on the CPU.
    pub fn update_values<T>(&self, change: impl FnOnce(&mut [f32]) -> T) -> Result<T> {
        in_place(&self.tensor(), change)
    }

    /// Lets `add` add to the gradient in place, on the CPU; it starts from zeros.
    pub fn add_to_grad<T>(&self, add: impl FnOnce(&mut [f32]) -> T) -> Result<T> {
        let mut grad = self.lock();
        let grad = match &mut *grad {
            Some(grad) => grad,
            none => none.insert(self.tensor().zeros_like()?),
        };
        in_place(grad, add)
    }

    /// Lets `change` rewrite values and gradient in place, on the CPU.
    pub fn update<T>(&self, change: impl FnOnce(&mut [f32], &mut [f32]) -> T) -> Result<T> {
        self.add_to_grad(|grad| self.update_values(|values| change(values, grad)))?
    }
}

#[derive(Debug)]
pub struct Parameters {
    list: Vec<Parameter>,
    index: HashMap<String, usize>,
}

impl Parameters {
    /// These, in the order in which they are stored.
    pub fn new(list: Vec<Parameter>) -> Self {
        let names = list.iter().map(|parameter| parameter.name.clone());
        Self {
            index: names.zip(0..).collect(),
            list,
        }
    }

    /// All of them, in the order in which they are stored.
    pub fn list(&self) -> &[Parameter] {
        &self.list
    }

    pub fn get(&self, name: &str) -> Result<&Parameter> {
        match self.index.get(name) {
            Some(&index) => Ok(&self.list[index]),
            None => candle_core::bail!("the network has no weights named {name}"),
        }
    }

    /// The parameter of a layer with this name: `weight`, `bias`.
    pub fn of(&self, layer: &str, what: &str) -> Result<&Parameter> {
        self.get(&format!("{layer}.{what}"))
    }
}

/// Lets `change` rewrite a contiguous f32 tensor on the CPU.
fn in_place<T>(tensor: &Tensor, change: impl FnOnce(&mut [f32]) -> T) -> Result<T> {
    let op = InPlace {
        change: Cell::new(Some(change)),
        returned: Cell::new(None),
    };
    tensor.inplace_op1(&op)?;
    match op.returned.take() {
        Some(returned) => Ok(returned),
        None => candle_core::bail!("a parameter was not changed"),
    }
}

struct InPlace<F, T> {
    change: Cell<Option<F>>,
    returned: Cell<Option<T>>,
}

impl<F: FnOnce(&mut [f32]) -> T, T> InplaceOp1 for InPlace<F, T> {
    fn name(&self) -> &'static str {
        "in-place"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let CpuStorage::F32(values) = storage else {
            candle_core::bail!("a parameter is not f32")
        };
        match layout
            .contiguous_offsets()
            .and_then(|(start, end)| values.get_mut(start..end))
        {
            Some(values) => self
                .returned
                .set(self.change.take().map(|change| change(values))),
            None => candle_core::bail!("a parameter is not contiguous"),
        }
        Ok(())
    }
}
