// What surrounds the matrix product of a convolution: im2col, its gradient, and weights in its order. Its matrix has a row for each output pixel: the
// pixels under the kernel, then a 1 for the bias, then zeros.

#pragma once
#include "geometry.cuh"

// The element of a patch in this column, where the patch's first pixel is in row `top` and column `left` of the image; outside they have wrapped around
// to beyond its end.
__device__ __forceinline__ const float *element(const float *image, unsigned column, unsigned top, unsigned left, Geometry g)
{
    unsigned tap = column, channel = divmod(tap, g.channels), tap_x = divmod(tap, g.size);
    unsigned y = top + tap, x = left + tap_x;
    return y < g.height && x < g.width.value ? image + (y * g.width.value + x) * g.channels.value + channel : nullptr;
}

// The patch under the kernel at each output pixel as a row of a matrix, [images * out_height * out_width, patch_len], in the order row, column, channel.
// Each of a block's 256 threads writes four neighboring elements IM2COL_STEPS times.
#define IM2COL_STEPS 4
template <typename T> __device__ void im2col(const float *x, T *patches, Geometry g)
{
    unsigned image = blockIdx.x, first = divmod(image, g.blocks) * 256 * IM2COL_STEPS + threadIdx.x;
    unsigned area = g.size.value * g.size.value, pixels = area * g.channels.value, end = g.out_height.value * g.out_width.value * g.fours.value;
    const float *source = x + (u64)image * g.height * g.width.value * g.channels.value;
    Four<T> *result = (Four<T> *)patches + (u64)image * end;
#pragma unroll
    for (unsigned step = 0; step < IM2COL_STEPS; step++) {
        unsigned i = first + step * 256, row = i, column = 4 * divmod(row, g.fours);
        unsigned left = divmod(row, g.out_width) * g.stride - g.padding, top = row * g.stride - g.padding;
        if (i >= end) return;
        float values[4] = {0, 0, 0, 0};
        if (g.channels.value % 4 == 0) {
            if (column < pixels) {
                if (const float *from = element(source, column, top, left, g)) load_four(from, 0, 4, values);
            } else values[0] = column == pixels;
        } else
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                if (column + k < pixels) {
                    if (const float *from = element(source, column + k, top, left, g)) values[k] = *from;
                } else values[k] = column + k == pixels;
            }
        Four<T> four;
#pragma unroll
        for (unsigned k = 0; k < 4; k++) four.values[k] = from_float<T>(values[k]);
        result[i] = four;
    }
}

// Weights [outputs, channels, size, size], and the bias where it is not null, as [outputs, patch_len] in the order of a patch.
template <typename T> __device__ void pack_weight(const float *weight, const float *bias, T *packed, Geometry g)
{
    ELEMENT_INDEX(g.outputs.value * g.patch_len);
    unsigned column = i % g.patch_len, output = i / g.patch_len, pixels = g.size.value * g.size.value * g.channels.value;
    float value = 0;
    if (column < pixels) value = weight[weight_index(output, column, g)];
    else if (column == pixels && bias) value = bias[output];
    packed[i] = from_float<T>(value);
}

// From [outputs, patch_len] to the gradients of weights and bias.
extern "C" __global__ void unpack_gradient(const float *packed, float *weight, float *bias, Geometry g)
{
    ELEMENT_INDEX(g.outputs.value * g.patch_len);
    unsigned column = i % g.patch_len, output = i / g.patch_len, pixels = g.size.value * g.size.value * g.channels.value;
    if (column < pixels) weight[weight_index(output, column, g)] = packed[i];
    else if (column == pixels && bias) bias[output] = packed[i];
}

// The gradient of COUNT neighboring channels of a pixel: the sum of those of the patches they are in.
template <unsigned COUNT, typename T> __device__ __forceinline__ void col2im(const T *patches, float *gradient, Geometry g, unsigned i)
{
    unsigned rest = i * COUNT, channel = divmod(rest, g.channels), padded_x = divmod(rest, g.width) + g.padding;
    unsigned image = rest / g.height, padded_y = rest % g.height + g.padding, size = g.size.value;
    // Output pixels whose patch has the pixel.
    unsigned top = 0, left = 0, bottom = min(padded_y / g.stride + 1, g.out_height.value), right = min(padded_x / g.stride + 1, g.out_width.value);
    if (padded_y >= size) top = (padded_y - size) / g.stride + 1;
    if (padded_x >= size) left = (padded_x - size) / g.stride + 1;
    float sums[COUNT] = {};
    for (unsigned row = top; row < bottom; row++)
        for (unsigned column = left; column < right; column++) {
            unsigned tap = (padded_y - row * g.stride) * size + padded_x - column * g.stride;
            const T *from = patches + ((u64)(image * g.out_height.value + row) * g.out_width.value + column) * g.patch_len + tap * g.channels.value + channel;
            if (COUNT == 4) {
                Four<T> four = *(const Four<T> *)from;
                for (unsigned k = 0; k < COUNT; k++) sums[k] += to_float(four.values[k]);
            } else sums[0] += to_float(*from);
        }
    for (unsigned k = 0; k < COUNT; k++) gradient[i * COUNT + k] = sums[k];
}

// The gradient of every pixel. A thread for each four channels where their number is a multiple of four, otherwise for each.
template <typename T> __device__ void col2im(const T *patches, float *gradient, Geometry g)
{
    unsigned count = g.images * g.height * g.width.value * g.channels.value;
    bool by_four = g.channels.value % 4 == 0;
    ELEMENT_INDEX(by_four ? count / 4 : count);
    if (by_four) col2im<4>(patches, gradient, g, i);
    else col2im<1>(patches, gradient, g, i);
}

#define IM2COL(T, name)                                                                                                                   \
    extern "C" __global__ void im2col_##name(const float *x, T *patches, Geometry g) { im2col(x, patches, g); }                                \
    extern "C" __global__ void col2im_##name(const T *patches, float *gradient, Geometry g) { col2im(patches, gradient, g); }                  \
    extern "C" __global__ void pack_weight_##name(const float *weight, const float *bias, T *packed, Geometry g)                               \
    { pack_weight(weight, bias, packed, g); }

IM2COL(float, f32)
IM2COL(__half, f16)
IM2COL(__nv_bfloat16, bf16)
