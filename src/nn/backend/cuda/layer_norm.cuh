// Layer normalization, and adding a positional embedding.

#pragma once
#include "column_reduction.cuh"
#include "common.cuh"

// Normalizes each row of [rows, features]; its mean and 1 / standard deviation are stored as [rows, 2]. 32 threads a row, eight rows a block.
extern "C" __global__ void layer_norm(const float *x, const float *weight, const float *bias, float *result, float *statistics, unsigned rows,
                                      unsigned features, float epsilon)
{
    __shared__ float shared[8][33];
    unsigned row = blockIdx.x * 8 + threadIdx.y, end = row < rows ? features : 0;
    u64 first = (u64)row * features;
    float sum = 0, square = 0;
    for (unsigned i = threadIdx.x; i < end; i += 32) sum += x[first + i];
    float mean = row_sum(shared, sum) / features;
    for (unsigned i = threadIdx.x; i < end; i += 32) square += (x[first + i] - mean) * (x[first + i] - mean);
    float inverse = 1 / sqrtf(row_sum(shared, square) / features + epsilon);
    for (unsigned i = threadIdx.x; i < end; i += 32) result[first + i] = (x[first + i] - mean) * inverse * weight[i] + bias[i];
    if (threadIdx.x == 0 && row < rows) statistics[2 * row] = mean, statistics[2 * row + 1] = inverse;
}

extern "C" __global__ void layer_norm_backward(const float *x, const float *statistics, const float *weight, const float *gradient, float *result,
                                               unsigned rows, unsigned features)
{
    __shared__ float shared[8][33];
    unsigned row = blockIdx.x * 8 + threadIdx.y, end = row < rows ? features : 0;
    u64 first = (u64)row * features;
    float mean = row < rows ? statistics[2 * row] : 0, inverse = row < rows ? statistics[2 * row + 1] : 0, sum = 0, product = 0;
    for (unsigned i = threadIdx.x; i < end; i += 32) {
        float scaled = gradient[first + i] * weight[i];
        sum += scaled;
        product += scaled * (x[first + i] - mean) * inverse;
    }
    sum = row_sum(shared, sum) / features;
    product = row_sum(shared, product) / features;
    for (unsigned i = threadIdx.x; i < end; i += 32)
        result[first + i] = inverse * (gradient[first + i] * weight[i] - sum - (x[first + i] - mean) * inverse * product);
}

// Of each feature in each chunk of rows: the sum of the gradient (the gradient of the bias), and of its product with the normalized x (of the weight).
extern "C" __global__ void layer_norm_backward_sums(const float *x, const float *statistics, const float *gradient, float *sums, float *products,
                                                    unsigned rows, unsigned channels)
{
    COLUMN_REDUCTION;
    float sum = 0, product = 0;
    if (channel < channels)
#pragma unroll 4
        for (unsigned row = begin + threadIdx.y; row < end; row += blockDim.y) {
            u64 index = (u64)row * channels + channel;
            sum += gradient[index];
            product += gradient[index] * (x[index] - statistics[2 * row]) * statistics[2 * row + 1];
        }
    store_sums(shared, channel, channels, sum, product, sums, products);
}

// x + embedding, for each sequence of `length` numbers.
extern "C" __global__ void add_positions(const float *x, const float *embedding, float *result, unsigned count, unsigned length)
{
    ELEMENT_INDEX(count);
    result[i] = x[i] + embedding[i % length];
}
