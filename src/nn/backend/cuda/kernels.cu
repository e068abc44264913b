// Owns the list of what a GPU computes besides matrix products: one kernel for each thing that passes over memory once, each beside the Rust that
// starts it. Activations are channels last, weights in PyTorch's layouts, sums and everything but operands of products f32.
//
// Sums are taken in a fixed order: the same run comes to the same numbers.

#include "advance.cuh"
#include "attention.cuh"
#include "batch_norm.cuh"
#include "convolution.cuh"
#include "layer_norm.cuh"
#include "linear.cuh"
#include "loss.cuh"
#include "pictures.cuh"
#include "pointwise.cuh"
