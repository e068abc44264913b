// What a convolution's kernels know of it.

#pragma once
#include "../common.cuh"

// A convolution; `Geometry` in mod.rs. `patch_len`: elements of a patch, the pixels under the kernel in the order row, column, channel, up to a
// multiple of 8 or 16. `fours`: its elements by four; `blocks`: those of `im2col` for each image.
struct Geometry {
    unsigned images, height, stride, padding, patch_len;
    Divisor channels, width, size, outputs, out_height, out_width, pooled_width, pooled_height, fours, blocks;
};

// The index among weights, [outputs, channels, size, size], of the one in this column of a patch.
__device__ __forceinline__ unsigned weight_index(unsigned output, unsigned column, Geometry g)
{
    unsigned tap = column, channel = divmod(tap, g.channels);
    return (output * g.channels.value + channel) * g.size.value * g.size.value + tap;
}
