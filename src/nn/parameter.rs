//! Owns a named weight and the gradient that gathers for it.
//! Must not know which layer it belongs to nor how an optimiser uses it.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candle_core::{CpuStorage, Device, InplaceOp1, Layout, Result, Tensor, Var};

use crate::device::{Kernels, Place};

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Multiplied with activations; weight decay acts on it.
    Weight,
    /// Added to activations.
    Bias,
    /// Scale or shift of a normalisation.
    Norm,
    /// A running statistic: stored with the model, but neither trained nor decayed.
    Buffer,
}

impl Role {
    /// True where an optimiser moves it.
    pub const fn is_trainable(self) -> bool {
        !matches!(self, Self::Buffer)
    }
}

/// A weight. Clones share it: a clone sees every later update.
///
/// Its gradient is one buffer that our ops add to during `backward` (as `PyTorch`'s `.grad`), instead of a fresh tensor in
/// candle's `GradStore`: candle sums into zeros it allocates for each variable and pass, which for the larger models
/// moves more memory than the matrix products do, and micro-batches have to be summed anyway. Where candle's ops compute, its gradient is
/// a tensor on its device that `backward` adds to.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: String,
    role: Role,
    var: Var,
    gradient: Arc<Mutex<Vec<f32>>>,
    /// The gradient where candle's ops compute; `None` while there is none.
    device_gradient: Arc<Mutex<Option<Tensor>>>,
}

impl Parameter {
    /// A weight with these values and no gradient yet, or a bias where its shape has one dimension.
    pub fn new(name: impl Into<String>, values: Vec<f32>, shape: &[usize]) -> Result<Self> {
        let gradient = Arc::new(Mutex::new(vec![0.0; values.len()]));
        let role = if shape.len() == 1 { Role::Bias } else { Role::Weight };
        let var = Var::from_vec(values, shape, &Device::Cpu)?;
        Ok(Self { name: name.into(), role, var, gradient, device_gradient: Arc::default() })
    }

    /// The same parameter for this purpose.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// As in the model file: `fc1.weight`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// What it decays by: `weight_decay` where that acts, on weights, but nothing on biases and norms.
    pub fn decay(&self, weight_decay: f32) -> f32 {
        if self.role == Role::Weight { weight_decay } else { 0.0 }
    }

    /// How many numbers.
    pub fn len(&self) -> usize {
        self.var.elem_count()
    }

    /// True without numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, as part of the graph.
    pub(super) fn tracked(&self) -> &Tensor {
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

    /// The gradient gathered since it was last cleared, in the order of the values.
    pub fn gradient(&self) -> MutexGuard<'_, Vec<f32>> {
        // A panic while adding leaves a gradient that is wrong but whole; the run that panicked is over anyway.
        self.gradient.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of it in another place, with no gradient yet.
    pub fn to_place(&self, place: &Place) -> Result<Self> {
        let var = Var::from_tensor(&self.tensor().to_device(&place.device)?.copy()?)?;
        let gradient = match place.kernels {
            Kernels::Ours => vec![0.0; self.len()],
            Kernels::Cuda | Kernels::Candle => Vec::new(),
        };
        let gradient = Arc::new(Mutex::new(gradient));
        Ok(Self { name: self.name.clone(), role: self.role, var, gradient, device_gradient: Arc::default() })
    }

    /// Takes these values, which lie on its device.
    pub fn set(&self, values: &Tensor) -> Result<()> {
        self.var.set(values)
    }

    /// The gradient gathered by candle's ops since the last call, in the shape of the values; `None` where there is none.
    pub fn take_device_gradient(&self) -> Option<Tensor> {
        self.lock_device_gradient().take()
    }

    /// The gradient gathered by candle's ops so far.
    pub fn device_gradient(&self) -> Option<Tensor> {
        self.lock_device_gradient().clone()
    }

    /// The sum of the gradient gathered by candle's ops and this one.
    pub(super) fn with_device_gradient(&self, gradient: &Tensor) -> Result<Tensor> {
        match self.device_gradient() {
            None => Ok(gradient.detach()),
            Some(earlier) => Ok((earlier + gradient)?.detach()),
        }
    }

    /// Puts a gradient in the place of that gathered by candle's ops.
    pub(super) fn set_device_gradient(&self, gradient: Tensor) {
        *self.lock_device_gradient() = Some(gradient);
    }

    fn lock_device_gradient(&self) -> MutexGuard<'_, Option<Tensor>> {
        self.device_gradient.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `change` rewrite values and gradient in place, where our ops compute.
    pub fn update(&self, change: impl FnMut(&mut [f32], &mut [f32])) -> Result<()> {
        self.var.inplace_op1(&Update { change: RefCell::new(change), gradient: &self.gradient })
    }
}

struct Update<'a, F> {
    change: RefCell<F>,
    gradient: &'a Mutex<Vec<f32>>,
}

impl<F: FnMut(&mut [f32], &mut [f32])> InplaceOp1 for Update<'_, F> {
    fn name(&self) -> &'static str {
        "parameter-update"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, _layout: &Layout) -> Result<()> {
        let CpuStorage::F32(values) = storage else { candle_core::bail!("a parameter is not f32") };
        let mut gradient = self.gradient.lock().unwrap_or_else(PoisonError::into_inner);
        (self.change.borrow_mut())(values, &mut gradient);
        Ok(())
    }
}
