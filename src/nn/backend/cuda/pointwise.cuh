// Elementwise ops: activations, sums of branches, dropout; global average pooling; the transposition that flattening takes.

#pragma once
#include "common.cuh"

// Transposes each of several matrices [rows, columns] that stand one after the other.
extern "C" __global__ void transpose_batched(const float *x, float *result, unsigned count, unsigned rows, unsigned columns)
{
    ELEMENT_INDEX(count);
    unsigned row = i % rows, column = i / rows % columns, matrix = i / (rows * columns);
    result[i] = x[(matrix * rows + row) * columns + column];
}

// `Activation`, as activation_code in pointwise.rs numbers it.
enum { NONE, RELU, LEAKY_RELU, GELU, SILU, TANH };

__device__ __forceinline__ float activation(float x, unsigned kind)
{
    switch (kind) {
    case RELU: return x <= 0 ? 0 : x;
    case LEAKY_RELU: return x <= 0 ? 0.01f * x : x;
    case GELU: return x * normcdff(x);
    case SILU: return x / (1 + expf(-x));
    case TANH: return tanhf(x);
    default: return x;
    }
}

__device__ __forceinline__ float activation_derivative(float x, unsigned kind)
{
    switch (kind) {
    case RELU: return x <= 0 ? 0 : 1;
    case LEAKY_RELU: return x <= 0 ? 0.01f : 1;
    case GELU: return normcdff(x) + x * 0.3989422804f * expf(-0.5f * x * x);
    case SILU: { float sigmoid = 1 / (1 + expf(-x)); return sigmoid * (1 + x * (1 - sigmoid)); }
    case TANH: { float y = tanhf(x); return 1 - y * y; }
    default: return 1;
    }
}

// The gradient before an activation of x. Where the derivative is 0 it is 0, even if the gradient is infinite.
__device__ __forceinline__ float activation_gradient(float gradient, float x, unsigned kind)
{
    float factor = activation_derivative(x, kind);
    return factor == 0 ? 0 : gradient * factor;
}

// activation(a + b), or of `a` alone where b is null. A thread for each four elements.
extern "C" __global__ void activate(const float *a, const float *b, float *result, unsigned count, unsigned kind)
{
    FOUR_ELEMENTS(count);
    float values[4], others[4] = {};
    load_four(a, first, count, values);
    if (b) load_four(b, first, count, others);
    for (unsigned k = 0; k < 4; k++) values[k] = activation(values[k] + others[k], kind);
    store_four(result, first, count, values);
}

extern "C" __global__ void activate_backward(const float *a, const float *b, const float *gradient, float *result, unsigned count, unsigned kind)
{
    FOUR_ELEMENTS(count);
    float values[4], others[4] = {}, gradients[4];
    load_four(a, first, count, values);
    if (b) load_four(b, first, count, others);
    load_four(gradient, first, count, gradients);
    for (unsigned k = 0; k < 4; k++) values[k] = activation_gradient(gradients[k], values[k] + others[k], kind);
    store_four(result, first, count, values);
}

// Inverted dropout by the numbers `Random::at` gives, 16 bits for each element: a thread for each four.
extern "C" __global__ void dropout(const float *x, float *result, unsigned count, u64 seed, unsigned dropped, float scale)
{
    FOUR_ELEMENTS(count);
    u64 bits = seed + (first / 4 + 1ull) * 0x9E3779B97F4A7C15ull;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBull;
    bits ^= bits >> 31;
    float values[4];
    load_four(x, first, count, values);
    for (unsigned k = 0; k < 4; k++) values[k] = (bits >> 16 * k & 0xffff) < dropped ? 0 : values[k] * scale;
    store_four(result, first, count, values);
}

// The mean over an image's pixels: [images, pixels, channels] to [images, channels]; `count` elements result.
extern "C" __global__ void global_average_pool(const float *x, float *means, unsigned count, unsigned pixels, unsigned channels)
{
    ELEMENT_INDEX(count);
    const float *first = x + (u64)(i / channels) * pixels * channels + i % channels;
    float sum = 0;
    for (unsigned pixel = 0; pixel < pixels; pixel++) sum += first[(u64)pixel * channels];
    means[i] = sum / pixels;
}

extern "C" __global__ void global_average_pool_backward(const float *gradient, float *x, unsigned count, unsigned pixels, unsigned channels)
{
    ELEMENT_INDEX(count);
    x[i] = gradient[i / (pixels * channels) * channels + i % channels] / pixels;
}
