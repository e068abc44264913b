// What surrounds the matrix product of a convolution: im2col, 2x2 max-pooling, and their gradients.
//
// An integer division by a number known only at run time costs as much as several loads, so im2col, which does the most, counts indices up instead.

#pragma once
#include "common.cuh"

// A convolution; `Geometry` in convolution.rs. `patch_len`: elements of a patch, a row of the matrix: first `size * size * channels` pixels, then a 1
// for the bias, then zeros up to a multiple of 8.
struct Geometry {
    unsigned images, height, width, channels, outputs, size, stride, padding, out_height, out_width, patch_len;
};

// A pixel of a patch: its channel, and its column and row under the kernel.
struct Tap {
    unsigned channel, x, y;
};

__device__ __forceinline__ Tap tap_of(unsigned column, Geometry g)
{
    unsigned pixel = column / g.channels;
    return {column % g.channels, pixel % g.size, pixel / g.size};
}

// The tap as far behind `tap` as `step` is behind the first one.
__device__ __forceinline__ Tap advanced(Tap tap, Tap step, Geometry g)
{
    tap.channel += step.channel, tap.x += step.x, tap.y += step.y;
    if (tap.channel >= g.channels) tap.channel -= g.channels, tap.x++;
    if (tap.x >= g.size) tap.x -= g.size, tap.y++;
    return tap;
}

// The patch under the kernel at each output pixel as a row of a matrix, [images * out_height * out_width, patch_len], in the order row, column, channel.
// A block of 32 by 8 threads for BAND rows of an image's output pixels and COLUMNS columns of the matrix.
#define BAND 4
#define COLUMNS 256
template <typename T> __device__ void im2col(const float *x, T *patches, Geometry g)
{
    unsigned bands = (g.out_height + BAND - 1) / BAND, image = blockIdx.x / bands, top = blockIdx.x % bands * BAND;
    unsigned bottom = min(top + BAND, g.out_height), pixels = g.size * g.size * g.channels;
    unsigned column = blockIdx.y * COLUMNS + threadIdx.x, end = min((blockIdx.y + 1) * COLUMNS, g.patch_len);
    const float *source = x + (u64)image * g.height * g.width * g.channels;
    T *result = patches + (u64)image * g.out_height * g.out_width * g.patch_len;
    Tap tap = tap_of(column, g), step = tap_of(32, g);
    for (; column < end; column += 32, tap = advanced(tap, step, g))
        for (unsigned row = top; row < bottom; row++) {
            // Unsigned: what would be negative, above or left of the image, wraps around to beyond its end.
            unsigned y = row * g.stride + tap.y - g.padding;
            bool inside = column < pixels && y < g.height;
            for (unsigned out_x = threadIdx.y; out_x < g.out_width; out_x += 8) {
                unsigned x = out_x * g.stride + tap.x - g.padding;
                float value = inside && x < g.width ? source[(y * g.width + x) * g.channels + tap.channel] : column == pixels;
                result[(u64)(row * g.out_width + out_x) * g.patch_len + column] = from_float<T>(value);
            }
        }
}

// Weights [outputs, channels, size, size], and the bias where it is not null, as [outputs, patch_len] in the order of a patch.
template <typename T> __device__ void pack_weight(const float *weight, const float *bias, T *packed, Geometry g)
{
    ELEMENT_INDEX(g.outputs * g.patch_len);
    unsigned column = i % g.patch_len, output = i / g.patch_len, area = g.size * g.size, pixels = area * g.channels;
    float value = 0;
    if (column < pixels) value = weight[(output * g.channels + column % g.channels) * area + column / g.channels];
    else if (column == pixels && bias) value = bias[output];
    packed[i] = from_float<T>(value);
}

// From [outputs, patch_len] to the gradients of weights and bias.
extern "C" __global__ void unpack_gradient(const float *packed, float *weight, float *bias, Geometry g)
{
    ELEMENT_INDEX(g.outputs * g.patch_len);
    unsigned column = i % g.patch_len, output = i / g.patch_len, area = g.size * g.size, pixels = area * g.channels;
    if (column < pixels) weight[(output * g.channels + column % g.channels) * area + column / g.channels] = packed[i];
    else if (column == pixels && bias) bias[output] = packed[i];
}

// The gradient of every pixel: the sum of those of the patches it is in.
extern "C" __global__ void col2im(const float *patches, float *gradient, Geometry g)
{
    ELEMENT_INDEX(g.images * g.height * g.width * g.channels);
    unsigned channel = i % g.channels, x = i / g.channels % g.width, y = i / (g.channels * g.width) % g.height;
    unsigned image = i / (g.channels * g.width * g.height), padded_y = y + g.padding, padded_x = x + g.padding;
    // Output pixels whose patch has the pixel.
    unsigned top = padded_y < g.size ? 0 : (padded_y - g.size) / g.stride + 1, bottom = min(padded_y / g.stride + 1, g.out_height);
    unsigned left = padded_x < g.size ? 0 : (padded_x - g.size) / g.stride + 1, right = min(padded_x / g.stride + 1, g.out_width);
    float sum = 0;
    for (unsigned row = top; row < bottom; row++)
        for (unsigned column = left; column < right; column++) {
            unsigned tap = (padded_y - row * g.stride) * g.size + padded_x - column * g.stride;
            sum += patches[((u64)(image * g.out_height + row) * g.out_width + column) * g.patch_len + tap * g.channels + channel];
        }
    gradient[i] = sum;
}

// The maximum of every 2x2 window and its position in it (0 to 3); of equal ones the first. NaN is larger than all.
extern "C" __global__ void max_pool_2x2(const float *sums, float *result, unsigned char *argmax, Geometry g, unsigned relu)
{
    unsigned height = g.out_height / 2, width = g.out_width / 2;
    ELEMENT_INDEX(g.images * height * width * g.outputs);
    unsigned output = i % g.outputs, x = i / g.outputs % width, y = i / (g.outputs * width) % height;
    unsigned image = i / (g.outputs * width * height);
    const float *first = sums + (((u64)image * g.out_height + 2 * y) * g.out_width + 2 * x) * g.outputs + output;
    float best = first[0];
    unsigned position = 0;
    for (unsigned other = 1; other < 4; other++) {
        float value = first[((u64)(other >> 1) * g.out_width + (other & 1)) * g.outputs];
        if (value > best || value != value) best = value, position = other;
    }
    result[i] = relu && best <= 0 ? 0 : best;
    argmax[i] = position;
}

// Its gradient: that of the result at the maximum, elsewhere 0. A thread for each window, also for those that the edge cuts.
template <typename T> __device__ void max_pool_2x2_backward(const float *gradient, const float *result, const unsigned char *argmax, T *sums,
                                                            Geometry g, unsigned relu)
{
    unsigned windows_y = (g.out_height + 1) / 2, windows_x = (g.out_width + 1) / 2, height = g.out_height / 2, width = g.out_width / 2;
    ELEMENT_INDEX(g.images * windows_y * windows_x * g.outputs);
    unsigned output = i % g.outputs, x = i / g.outputs % windows_x, y = i / (g.outputs * windows_x) % windows_y;
    unsigned image = i / (g.outputs * windows_x * windows_y), position = 4;
    float value = 0;
    if (y < height && x < width) {
        unsigned pooled = ((image * height + y) * width + x) * g.outputs + output;
        position = argmax[pooled];
        value = relu && result[pooled] <= 0 ? 0 : gradient[pooled];
    }
    for (unsigned other = 0; other < 4; other++) {
        unsigned row = 2 * y + other / 2, column = 2 * x + other % 2;
        if (row < g.out_height && column < g.out_width)
            sums[((u64)(image * g.out_height + row) * g.out_width + column) * g.outputs + output] = from_float<T>(other == position ? value : 0);
    }
}

#define CONVOLUTION(T, name)                                                                                                                   \
    extern "C" __global__ void im2col_##name(const float *x, T *patches, Geometry g) { im2col(x, patches, g); }                                \
    extern "C" __global__ void pack_weight_##name(const float *weight, const float *bias, T *packed, Geometry g)                               \
    { pack_weight(weight, bias, packed, g); }                                                                                                  \
    extern "C" __global__ void max_pool_2x2_backward_##name(const float *gradient, const float *result, const unsigned char *argmax, T *sums,  \
                                                            Geometry g, unsigned relu)                                                         \
    { max_pool_2x2_backward(gradient, result, argmax, sums, g, relu); }

CONVOLUTION(float, f32)
CONVOLUTION(__half, f16)
CONVOLUTION(__nv_bfloat16, bf16)
