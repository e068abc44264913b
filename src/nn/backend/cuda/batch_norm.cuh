// Batch normalisation and the activation that follows.

#pragma once
#include "column_reduction.cuh"
#include "common.cuh"
#include "pointwise.cuh"

// Of each channel in each chunk of rows: its mean, and the sum of squared differences from it. `combine_moments` puts chunks together as
// Chan et al. (1979) do.
extern "C" __global__ void partial_moments(const float *x, float *means, float *squares, unsigned rows, unsigned channels)
{
    COLUMN_REDUCTION;
    float sum = 0, square = 0;
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) sum += x[(u64)row * channels + channel];
    float mean = column_sum(shared[0], sum) / (end - begin);
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) {
            float difference = x[(u64)row * channels + channel] - mean;
            square += difference * difference;
        }
    square = column_sum(shared[1], square);
    if (threadIdx.y || channel >= channels) return;
    means[blockIdx.y * channels + channel] = mean;
    squares[blockIdx.y * channels + channel] = square;
}

// Mean and 1 / standard deviation, [2, channels], from those of chunks of rows; updates the running statistics. Blocks of 32 channels by 8 chunks.
extern "C" __global__ void combine_moments(const float *means, const float *squares, float *statistics, float *running_mean, float *running_variance,
                                           unsigned rows, unsigned channels, unsigned chunks, float epsilon, float momentum)
{
    __shared__ float shared[2][8][33];
    unsigned channel = blockIdx.x * 32 + threadIdx.x, chunk_rows = (rows + chunks - 1) / chunks;
    float sum = 0, square = 0;
    if (channel < channels)
        for (unsigned chunk = threadIdx.y; chunk < chunks; chunk += 8)
            sum += means[chunk * channels + channel] * min(chunk_rows, rows - chunk * chunk_rows);
    float mean = column_sum(shared[0], sum) / rows;
    if (channel < channels)
        for (unsigned chunk = threadIdx.y; chunk < chunks; chunk += 8) {
            float difference = means[chunk * channels + channel] - mean;
            square += squares[chunk * channels + channel] + difference * difference * min(chunk_rows, rows - chunk * chunk_rows);
        }
    square = column_sum(shared[1], square);
    if (threadIdx.y || channel >= channels) return;
    statistics[channel] = mean;
    statistics[channels + channel] = 1 / sqrtf(square / rows + epsilon);
    running_mean[channel] += momentum * (mean - running_mean[channel]);
    running_variance[channel] += momentum * (square / (rows - 1) - running_variance[channel]);
}

// For inference: mean and 1 / standard deviation, [2, channels], from the running statistics.
extern "C" __global__ void running_moments(const float *running_mean, const float *running_variance, float *statistics, unsigned channels, float epsilon)
{
    ELEMENT_INDEX(channels);
    statistics[i] = running_mean[i];
    statistics[channels + i] = 1 / sqrtf(running_variance[i] + epsilon);
}

extern "C" __global__ void normalize(const float *x, const float *statistics, const float *weight, const float *bias, float *result, unsigned count,
                                     unsigned channels, unsigned kind)
{
    ELEMENT_INDEX(count);
    unsigned channel = i % channels;
    float normalized = (x[i] - statistics[channel]) * statistics[channels + channel];
    result[i] = activation(normalized * weight[channel] + bias[channel], kind);
}

// Of each channel in each chunk of rows: the sum of the gradient before the activation, and of its product with the normalised x.
extern "C" __global__ void normalize_backward_sums(const float *x, const float *statistics, const float *weight, const float *bias, const float *gradient,
                                                   float *sums, float *products, unsigned rows, unsigned channels, unsigned kind)
{
    COLUMN_REDUCTION;
    float sum = 0, product = 0;
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) {
            u64 index = (u64)row * channels + channel;
            float normalized = (x[index] - statistics[channel]) * statistics[channels + channel];
            float before = activation_gradient(gradient[index], normalized * weight[channel] + bias[channel], kind);
            sum += before;
            product += before * normalized;
        }
    store_sums(shared, channel, channels, sum, product, sums, products);
}

extern "C" __global__ void normalize_backward(const float *x, const float *statistics, const float *weight, const float *bias, const float *gradient,
                                              const float *sum, const float *product, float *result, unsigned count, unsigned channels,
                                              unsigned rows, unsigned kind)
{
    ELEMENT_INDEX(count);
    unsigned channel = i % channels;
    float inverse = statistics[channels + channel], normalized = (x[i] - statistics[channel]) * inverse;
    float before = activation_gradient(gradient[i], normalized * weight[channel] + bias[channel], kind);
    result[i] = weight[channel] * inverse * (before - (sum[channel] + normalized * product[channel]) / rows);
}
