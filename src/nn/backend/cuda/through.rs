//! Owns ops on a GPU that have no kernel of ours: candle's, put together, with candle's gradients. Must not know which op it is.

use candle_core::{Result, Tensor, Var};

use crate::nn::ops::tape::{self, Gradients};
use crate::nn::ops::{Context, Gradient};

/// What `op`, which has no parameters, makes of `x`.
pub fn through(x: &Tensor, context: Context, op: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if context.gradient == Gradient::None || !tape::leads_back(x) {
        return op(x);
    }
    // A graph of its own, which begins here.
    let start = Var::from_tensor(&x.detach())?;
    let computed = op(start.as_tensor())?;
    let result = computed.detach();
    tape::note_there(vec![x.clone()], &result, move |gradient| {
        let gradients = (computed * gradient)?.sum_all()?.backward()?;
        Ok(Gradients { inputs: vec![gradients.get(start.as_tensor()).cloned()], parameters: Vec::new() })
    });
    Ok(result)
}
