// Owns layer normalisation, and positions added to tokens. Must not know networks.

#pragma once
#include "common.cuh"
#include "stripes.cuh"

// Of each row of [rows, features] the mean and 1 / standard deviation, [rows, 2], and what is scaled by them; 32 threads a row, eight rows a block.
extern "C" __global__ void layer_norm(const float *x, const float *weight, const float *bias, float *result, float *statistics, unsigned rows,
                                      unsigned features, float epsilon)
{
    __shared__ float part[8][33];
    unsigned row = blockIdx.x * 8 + threadIdx.y, end = row < rows ? features : 0;
    u64 first = (u64)row * features;
    float sum = 0, square = 0;
    for (unsigned i = threadIdx.x; i < end; i += 32) sum += x[first + i];
    float mean = sum_of_row(part, sum) / features;
    for (unsigned i = threadIdx.x; i < end; i += 32) square += (x[first + i] - mean) * (x[first + i] - mean);
    float inverse = 1 / sqrtf(sum_of_row(part, square) / features + epsilon);
    for (unsigned i = threadIdx.x; i < end; i += 32) result[first + i] = (x[first + i] - mean) * inverse * weight[i] + bias[i];
    if (threadIdx.x == 0 && row < rows) statistics[2 * row] = mean, statistics[2 * row + 1] = inverse;
}

extern "C" __global__ void layer_norm_back(const float *x, const float *statistics, const float *weight, const float *gradient, float *result,
                                           unsigned rows, unsigned features)
{
    __shared__ float part[8][33];
    unsigned row = blockIdx.x * 8 + threadIdx.y, end = row < rows ? features : 0;
    u64 first = (u64)row * features;
    float mean = row < rows ? statistics[2 * row] : 0, inverse = row < rows ? statistics[2 * row + 1] : 0, plain = 0, weighted = 0;
    for (unsigned i = threadIdx.x; i < end; i += 32) {
        float live = gradient[first + i] * weight[i];
        plain += live;
        weighted += live * (x[first + i] - mean) * inverse;
    }
    plain = sum_of_row(part, plain) / features;
    weighted = sum_of_row(part, weighted) / features;
    for (unsigned i = threadIdx.x; i < end; i += 32)
        result[first + i] = inverse * (gradient[first + i] * weight[i] - plain - (x[first + i] - mean) * inverse * weighted);
}

// In each feature and stripe: the sum of the gradient, and that of its product with the normalised x.
extern "C" __global__ void layer_norm_sums(const float *x, const float *statistics, const float *gradient, float *sums, float *products, unsigned rows,
                                           unsigned channels)
{
    STRIPE;
    float sum = 0, product = 0;
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) {
            u64 place = (u64)row * channels + channel;
            sum += gradient[place];
            product += gradient[place] * (x[place] - statistics[2 * row]) * statistics[2 * row + 1];
        }
    keep_sums(part, channel, channels, sum, product, sums, products);
}

// x + embedding, for each sequence of so many numbers.
extern "C" __global__ void add_positions(const float *x, const float *embedding, float *result, unsigned count, unsigned length)
{
    EACH(count);
    result[i] = x[i] + embedding[i % length];
}
