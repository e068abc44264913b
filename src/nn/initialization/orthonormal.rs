//! Random weights whose rows, or columns where there are fewer of them, are orthonormal (Saxe et
//! al. 2014): what LSUV starts from.

use candle_core::Result;
use nalgebra::DMatrix;

use crate::math::random::Random;
use crate::nn::{Net, Role};

/// Sets every weight of the network, and every bias to zero; normalisations and positional
/// embeddings stay as they are.
pub fn set_weights(net: &Net, random: &mut Random) -> Result<()> {
    for parameter in net.parameters() {
        match (parameter.role(), parameter.dims()) {
            (Role::Weight, [outputs, ..]) => {
                let matrix = matrix(*outputs, parameter.len() / outputs, random);
                parameter.update_values(|values| values.copy_from_slice(&matrix))?;
            }
            (Role::Bias, [_]) => parameter.update_values(|values| values.fill(0.0))?,
            _ => {}
        }
    }
    Ok(())
}

/// A random matrix, row by row.
fn matrix(rows: usize, columns: usize, random: &mut Random) -> Vec<f32> {
    let (long, short) = (rows.max(columns), rows.min(columns));
    let orthonormal = DMatrix::from_fn(long, short, |_, _| random.normal())
        .qr()
        .q();
    // nalgebra stores column by column, so a tall matrix is transposed to be read row by row.
    if rows < columns {
        orthonormal.as_slice().to_vec()
    } else {
        orthonormal.transpose().as_slice().to_vec()
    }
}
