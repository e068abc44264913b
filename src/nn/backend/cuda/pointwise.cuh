// Owns what passes over numbers once: activations, sums of branches, dropout, means of pictures, the order of features.
// Must not know networks.

#pragma once
#include "common.cuh"

// Each of the matrices [rows, columns], one after the other, transposed.
extern "C" __global__ void transpose_each(const float *x, float *result, unsigned count, unsigned rows, unsigned columns)
{
    EACH(count);
    unsigned row = i % rows, column = i / rows % columns, matrix = i / (rows * columns);
    result[i] = x[(matrix * rows + row) * columns + column];
}

// `Activation`, numbered from 1 as in pointwise.rs; 0 is none.
__device__ __forceinline__ float activated(float x, unsigned kind)
{
    switch (kind) {
    case 1: return x <= 0 ? 0 : x;
    case 2: return x <= 0 ? 0.01f * x : x;
    case 3: return x * normcdff(x);
    case 4: return x / (1 + expf(-x));
    case 5: return tanhf(x);
    default: return x;
    }
}

__device__ __forceinline__ float slope(float x, unsigned kind)
{
    switch (kind) {
    case 1: return x <= 0 ? 0 : 1;
    case 2: return x <= 0 ? 0.01f : 1;
    case 3: return normcdff(x) + x * 0.3989422804f * expf(-0.5f * x * x);
    case 4: { float share = 1 / (1 + expf(-x)); return share * (1 + x * (1 - share)); }
    case 5: { float y = tanhf(x); return 1 - y * y; }
    default: return 1;
    }
}

// The gradient that an activation passes at x. What ReLU kills is dead, also where it is infinite.
__device__ __forceinline__ float passed(float gradient, float x, unsigned kind)
{
    float factor = slope(x, kind);
    return factor == 0 ? 0 : gradient * factor;
}

// activation(a + b), or of `a` alone.
extern "C" __global__ void activate(const float *a, const float *b, float *result, unsigned count, unsigned kind)
{
    EACH(count);
    result[i] = activated(b ? a[i] + b[i] : a[i], kind);
}

extern "C" __global__ void activate_back(const float *a, const float *b, const float *gradient, float *result, unsigned count, unsigned kind)
{
    EACH(count);
    result[i] = passed(gradient[i], b ? a[i] + b[i] : a[i], kind);
}

// Inverted dropout by the numbers `Random::at` gives: a thread for each four.
extern "C" __global__ void dropout(const float *x, float *result, unsigned count, u64 seed, unsigned dropped, float scale)
{
    EACH((count + 3) / 4);
    u64 bits = seed + (i + 1ull) * 0x9E3779B97F4A7C15ull;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBull;
    bits ^= bits >> 31;
    for (unsigned one = 0; one < 4 && 4 * i + one < count; one++)
        result[4 * i + one] = (bits >> 16 * one & 0xffff) < dropped ? 0 : x[4 * i + one] * scale;
}

// The mean over all places of a picture, [images, places, channels] to [images, channels], and the way back.
extern "C" __global__ void average(const float *x, float *means, unsigned count, unsigned places, unsigned channels)
{
    EACH(count);
    const float *first = x + (u64)(i / channels) * places * channels + i % channels;
    float sum = 0;
    for (unsigned place = 0; place < places; place++) sum += first[(u64)place * channels];
    means[i] = sum / places;
}

extern "C" __global__ void average_back(const float *gradient, float *x, unsigned count, unsigned places, unsigned channels)
{
    EACH(count);
    x[i] = gradient[i / (places * channels) * channels + i % channels] / places;
}
