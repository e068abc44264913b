// Everything a GPU computes besides matrix products: each kernel passes over memory once and stands beside the Rust file that launches it.
// Activations are channels last, weights in PyTorch's layouts; everything is f32 but the operands of half-precision matrix products.
//
// Sums are taken in a fixed order: the same run gives the same numbers.

#include "attention.cuh"
#include "batch.cuh"
#include "batch_norm.cuh"
#include "layer_norm.cuh"
#include "linear.cuh"
#include "loss.cuh"
#include "optimizer.cuh"
#include "pointwise.cuh"

#include "convolution/im2col.cuh"
#include "convolution/pooling.cuh"
#if CAPABILITY >= 80
#include "convolution/f32.cuh"
#include "convolution/tensor_cores.cuh"
#endif
