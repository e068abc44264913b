// Owns what surrounds the product of a convolution: pixels under the kernel as rows of a matrix, pooling, and the way back.
// Must not know networks.
//
// Dividing by a number that is not known before costs as much as reading several: where there is most to do, places are counted up instead.

#pragma once
#include "common.cuh"

// A convolution; `Geometry` in convolution.rs. `lead`: numbers in a row of patches, of which `size * size * channels` are pixels, then a 1 for the
// bias, then zeros up to a round number.
struct Geometry {
    unsigned images, height, width, channels, outputs, size, stride, padding, out_height, out_width, lead;
};

// One of the pixels under the kernel.
struct Tap {
    unsigned channel, right, down;
};

__device__ __forceinline__ Tap tap(unsigned column, Geometry g)
{
    unsigned place = column / g.channels;
    return {column % g.channels, place % g.size, place / g.size};
}

// The tap that stands as far behind `at` as `step` does behind the first.
__device__ __forceinline__ Tap moved(Tap at, Tap step, Geometry g)
{
    at.channel += step.channel, at.right += step.right, at.down += step.down;
    if (at.channel >= g.channels) at.channel -= g.channels, at.right++;
    if (at.right >= g.size) at.right -= g.size, at.down++;
    return at;
}

// The pixels under the kernel at each place, as rows of a matrix: [images * out_height * out_width, lead], in the order row, column, channel.
// A block of 32 by 8 threads for BAND rows of an image's places, and COLUMNS of the matrix.
#define BAND 4
#define COLUMNS 256
template <typename T> __device__ void patches(const float *x, T *rows, Geometry g)
{
    unsigned bands = (g.out_height + BAND - 1) / BAND, image = blockIdx.x / bands, top = blockIdx.x % bands * BAND;
    unsigned bottom = min(top + BAND, g.out_height), pixels = g.size * g.size * g.channels;
    unsigned column = blockIdx.y * COLUMNS + threadIdx.x, end = min((blockIdx.y + 1) * COLUMNS, g.lead);
    const float *picture = x + (u64)image * g.height * g.width * g.channels;
    T *result = rows + (u64)image * g.out_height * g.out_width * g.lead;
    Tap at = tap(column, g), step = tap(32, g);
    for (; column < end; column += 32, at = moved(at, step, g))
        for (unsigned row = top; row < bottom; row++) {
            // What lies above or left of the picture is beyond its end, too: these numbers have no sign.
            unsigned y = row * g.stride + at.down - g.padding;
            bool inside = column < pixels && y < g.height;
            for (unsigned place = threadIdx.y; place < g.out_width; place += 8) {
                unsigned u = place * g.stride + at.right - g.padding;
                float value = inside && u < g.width ? picture[(y * g.width + u) * g.channels + at.channel] : column == pixels;
                result[(u64)(row * g.out_width + place) * g.lead + column] = operand<T>(value);
            }
        }
}

// Weights [outputs, channels, size, size] and a bias, if any, as [outputs, lead], in the order of a row of patches.
template <typename T> __device__ void pack(const float *weight, const float *bias, T *packed, Geometry g)
{
    EACH(g.outputs * g.lead);
    unsigned column = i % g.lead, output = i / g.lead, area = g.size * g.size, pixels = area * g.channels;
    float value = 0;
    if (column < pixels) value = weight[(output * g.channels + column % g.channels) * area + column / g.channels];
    else if (column == pixels && bias) value = bias[output];
    packed[i] = operand<T>(value);
}

// The way back: from [outputs, lead] to the gradients of weights and bias.
extern "C" __global__ void unpack(const float *packed, float *weight, float *bias, Geometry g)
{
    EACH(g.outputs * g.lead);
    unsigned column = i % g.lead, output = i / g.lead, area = g.size * g.size, pixels = area * g.channels;
    if (column < pixels) weight[(output * g.channels + column % g.channels) * area + column / g.channels] = packed[i];
    else if (column == pixels && bias) bias[output] = packed[i];
}

// The gradient of every pixel, from those of the patches it is in.
extern "C" __global__ void fold(const float *rows, float *x, Geometry g)
{
    EACH(g.images * g.height * g.width * g.channels);
    unsigned channel = i % g.channels, u = i / g.channels % g.width, y = i / (g.channels * g.width) % g.height;
    unsigned image = i / (g.channels * g.width * g.height), below = y + g.padding, beyond = u + g.padding;
    // Places of the kernel whose patch has the pixel.
    unsigned top = below < g.size ? 0 : (below - g.size) / g.stride + 1, bottom = min(below / g.stride + 1, g.out_height);
    unsigned left = beyond < g.size ? 0 : (beyond - g.size) / g.stride + 1, right = min(beyond / g.stride + 1, g.out_width);
    float sum = 0;
    for (unsigned row = top; row < bottom; row++)
        for (unsigned column = left; column < right; column++) {
            unsigned tap = (below - row * g.stride) * g.size + beyond - column * g.stride;
            sum += rows[((u64)(image * g.out_height + row) * g.out_width + column) * g.lead + tap * g.channels + channel];
        }
    x[i] = sum;
}

// The largest of every 2x2 sums, and which it was; of equal ones the first. NaN is larger than all.
extern "C" __global__ void pool(const float *sums, float *result, unsigned char *places, Geometry g, unsigned relu)
{
    unsigned height = g.out_height / 2, width = g.out_width / 2;
    EACH(g.images * height * width * g.outputs);
    unsigned output = i % g.outputs, u = i / g.outputs % width, y = i / (g.outputs * width) % height;
    unsigned image = i / (g.outputs * width * height);
    const float *first = sums + (((u64)image * g.out_height + 2 * y) * g.out_width + 2 * u) * g.outputs + output;
    float best = first[0];
    unsigned place = 0;
    for (unsigned other = 1; other < 4; other++) {
        float value = first[((u64)(other >> 1) * g.out_width + (other & 1)) * g.outputs];
        if (value > best || value != value) best = value, place = other;
    }
    result[i] = relu && best <= 0 ? 0 : best;
    places[i] = place;
}

// The way back through it: the gradient goes to the sum that was largest. A thread for each window, also for those that the edge cuts.
template <typename T> __device__ void unpool(const float *gradient, const float *result, const unsigned char *places, T *sums, Geometry g, unsigned relu)
{
    unsigned high = (g.out_height + 1) / 2, wide = (g.out_width + 1) / 2, height = g.out_height / 2, width = g.out_width / 2;
    EACH(g.images * high * wide * g.outputs);
    unsigned output = i % g.outputs, u = i / g.outputs % wide, y = i / (g.outputs * wide) % high;
    unsigned image = i / (g.outputs * wide * high), largest = 4;
    float value = 0;
    if (y < height && u < width) {
        unsigned pooled = ((image * height + y) * width + u) * g.outputs + output;
        largest = places[pooled];
        value = relu && result[pooled] <= 0 ? 0 : gradient[pooled];
    }
    for (unsigned place = 0; place < 4; place++) {
        unsigned row = 2 * y + place / 2, column = 2 * u + place % 2;
        if (row < g.out_height && column < g.out_width)
            sums[((u64)(image * g.out_height + row) * g.out_width + column) * g.outputs + output] = operand<T>(place == largest ? value : 0);
    }
}

#define CONVOLUTION(T, name)                                                                                                                   \
    extern "C" __global__ void patches_##name(const float *x, T *rows, Geometry g) { patches(x, rows, g); }                                    \
    extern "C" __global__ void pack_##name(const float *weight, const float *bias, T *packed, Geometry g) { pack(weight, bias, packed, g); }   \
    extern "C" __global__ void unpool_##name(const float *gradient, const float *result, const unsigned char *places, T *sums, Geometry g,     \
                                             unsigned relu)                                                                                    \
    { unpool(gradient, result, places, sums, g, relu); }

CONVOLUTION(float, f32)
CONVOLUTION(__half, f16)
CONVOLUTION(__nv_bfloat16, bf16)
