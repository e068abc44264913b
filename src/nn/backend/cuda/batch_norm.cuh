// Batch normalization and the activation that follows.

#pragma once
#include "column_reduction.cuh"
#include "common.cuh"
#include "pointwise.cuh"

// Of each channel in each chunk of rows: its mean, and the sum of squared differences from it. `combine_moments` puts chunks together as
// Chan et al. (1979) do, and this kernel the rows of its threads. A thread reads its rows once, as differences from the first of them, so that a large
// mean costs little precision.
extern "C" __global__ void partial_moments(const float *x, float *means, float *squares, unsigned rows, unsigned channels)
{
    COLUMN_REDUCTION;
    float origin = 0, sum = 0, square = 0, count = 0;
    if (channel < channels && begin + threadIdx.y < end) {
        origin = x[(u64)(begin + threadIdx.y) * channels + channel];
#pragma unroll 8
        for (unsigned row = begin + threadIdx.y; row < end; row += blockDim.y) {
            float difference = x[(u64)row * channels + channel] - origin;
            sum += difference;
            square += difference * difference;
            count++;
        }
        square -= sum * sum / count;
    }
    float mean = column_sum(shared[0], sum + count * origin) / (end - begin);
    float difference = count ? origin + sum / count - mean : 0;
    square = column_sum(shared[1], square + count * difference * difference);
    if (threadIdx.y || channel >= channels) return;
    means[blockIdx.y * channels + channel] = mean;
    squares[blockIdx.y * channels + channel] = square;
}

// Mean and 1 / standard deviation, [2, channels], from those of chunks of rows; updates the running statistics. Blocks of up to 32
// channels, 1,024 threads.
extern "C" __global__ void __launch_bounds__(1024) combine_moments(const float *means, const float *squares, float *statistics, float *running_mean,
                                                                   float *running_variance, unsigned rows, unsigned channels, unsigned chunks,
                                                                   float epsilon, float momentum)
{
    __shared__ float shared[2][1024];
    unsigned channel = blockIdx.x * blockDim.x + threadIdx.x, chunk_rows = (rows + chunks - 1) / chunks;
    float sum = 0, square = 0;
    if (channel < channels)
        for (unsigned chunk = threadIdx.y; chunk < chunks; chunk += blockDim.y)
            sum += means[chunk * channels + channel] * min(chunk_rows, rows - chunk * chunk_rows);
    float mean = column_sum(shared[0], sum) / rows;
    if (channel < channels)
        for (unsigned chunk = threadIdx.y; chunk < chunks; chunk += blockDim.y) {
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

// A thread for each four elements.
extern "C" __global__ void normalize(const float *x, const float *statistics, const float *weight, const float *bias, float *result, unsigned count,
                                     Divisor channels, unsigned kind)
{
    FOUR_ELEMENTS(count);
    float values[4], means[4], inverses[4], weights[4], biases[4];
    load_four(x, first, count, values);
    load_of_channels(statistics, first, channels, means);
    load_of_channels(statistics + channels.value, first, channels, inverses);
    load_of_channels(weight, first, channels, weights);
    load_of_channels(bias, first, channels, biases);
    for (unsigned k = 0; k < 4; k++) values[k] = activation((values[k] - means[k]) * inverses[k] * weights[k] + biases[k], kind);
    store_four(result, first, count, values);
}

// Of each channel in each chunk of rows: the sum of the gradient before the activation, and of its product with the normalized x.
extern "C" __global__ void normalize_backward_sums(const float *x, const float *statistics, const float *weight, const float *bias, const float *gradient,
                                                   float *sums, float *products, unsigned rows, unsigned channels, unsigned kind)
{
    COLUMN_REDUCTION;
    float sum = 0, product = 0;
    if (channel < channels)
#pragma unroll 8
        for (unsigned row = begin + threadIdx.y; row < end; row += blockDim.y) {
            u64 index = (u64)row * channels + channel;
            float normalized = (x[index] - statistics[channel]) * statistics[channels + channel];
            float before = activation_gradient(gradient[index], normalized * weight[channel] + bias[channel], kind);
            sum += before;
            product += before * normalized;
        }
    store_sums(shared, channel, channels, sum, product, sums, products);
}

// A thread for each four elements.
extern "C" __global__ void normalize_backward(const float *x, const float *statistics, const float *weight, const float *bias, const float *gradient,
                                              const float *sum, const float *product, float *result, unsigned count, Divisor channels,
                                              unsigned rows, unsigned kind)
{
    FOUR_ELEMENTS(count);
    float values[4], gradients[4], means[4], inverses[4], weights[4], biases[4], sums[4], products[4];
    load_four(x, first, count, values);
    load_four(gradient, first, count, gradients);
    load_of_channels(statistics, first, channels, means);
    load_of_channels(statistics + channels.value, first, channels, inverses);
    load_of_channels(weight, first, channels, weights);
    load_of_channels(bias, first, channels, biases);
    load_of_channels(sum, first, channels, sums);
    load_of_channels(product, first, channels, products);
    for (unsigned k = 0; k < 4; k++) {
        float normalized = (values[k] - means[k]) * inverses[k];
        float before = activation_gradient(gradients[k], normalized * weights[k] + biases[k], kind);
        values[k] = weights[k] * inverses[k] * (before - (sums[k] + normalized * products[k]) / rows);
    }
    store_four(result, first, count, values);
}
