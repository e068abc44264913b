//! Owns ops on a GPU that have no kernel of ours: candle's, put together, with candle's gradients. Must not know which op it is.

use candle_core::{Result, Tensor, Var};

use crate::nn::Parameter;
use crate::nn::ops::tape::{self, Gradients};
use crate::nn::ops::{Context, Gradient};

/// What `op` makes of `x` and the values of parameters.
pub fn through(
    x: &Tensor,
    parameters: &[&Parameter],
    context: Context,
    op: impl Fn(&Tensor, &[Tensor]) -> Result<Tensor>,
) -> Result<Tensor> {
    if context.gradient == Gradient::None {
        return op(x, &parameters.iter().map(|parameter| parameter.tensor()).collect::<Vec<_>>());
    }
    // A graph of its own, which begins here.
    let start = Var::from_tensor(&x.detach())?;
    let values: Vec<Tensor> = parameters.iter().map(|parameter| parameter.tracked().clone()).collect();
    let computed = op(start.as_tensor(), &values)?;
    let (result, of_x) = (computed.detach(), tape::leads_back(x));
    let parameters: Vec<Parameter> = parameters.iter().map(|&parameter| parameter.clone()).collect();
    tape::note_there(vec![x.clone()], &result, move |gradient| {
        let gradients = (computed * gradient)?.sum_all()?.backward()?;
        let learned = parameters.iter().filter_map(|parameter| Some((parameter.clone(), gradients.get(parameter.tracked())?.clone())));
        let of_x = if of_x { gradients.get(start.as_tensor()).cloned() } else { None };
        Ok(Gradients { inputs: vec![of_x], parameters: learned.collect() })
    });
    Ok(result)
}
