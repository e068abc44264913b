// Owns batch normalisation, with the activation that follows. Must not know networks.

#pragma once
#include "common.cuh"
#include "pointwise.cuh"
#include "stripes.cuh"

// The mean of x in each stripe, and the squares of what is left: pieces that are put together as Chan et al. (1979) do.
extern "C" __global__ void moments(const float *x, float *means, float *squares, unsigned rows, unsigned channels)
{
    STRIPE;
    float sum = 0, square = 0;
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) sum += x[(u64)row * channels + channel];
    float mean = over_rows(part[0], sum) / (end - begin);
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) {
            float rest = x[(u64)row * channels + channel] - mean;
            square += rest * rest;
        }
    square = over_rows(part[1], square);
    if (threadIdx.y || channel >= channels) return;
    means[blockIdx.y * channels + channel] = mean;
    squares[blockIdx.y * channels + channel] = square;
}

// Puts stripes together into mean and 1 / standard deviation, [2, channels], and moves the running statistics. Blocks of 32 channels by 8 stripes.
extern "C" __global__ void join_moments(const float *means, const float *squares, float *statistics, float *running_mean, float *running_variance,
                                        unsigned rows, unsigned channels, unsigned stripes, float epsilon, float momentum)
{
    __shared__ float part[2][8][33];
    unsigned channel = blockIdx.x * 32 + threadIdx.x, height = (rows + stripes - 1) / stripes;
    float sum = 0, square = 0;
    if (channel < channels)
        for (unsigned stripe = threadIdx.y; stripe < stripes; stripe += 8)
            sum += means[stripe * channels + channel] * min(height, rows - stripe * height);
    float mean = over_rows(part[0], sum) / rows;
    if (channel < channels)
        for (unsigned stripe = threadIdx.y; stripe < stripes; stripe += 8) {
            float apart = means[stripe * channels + channel] - mean;
            square += squares[stripe * channels + channel] + apart * apart * min(height, rows - stripe * height);
        }
    square = over_rows(part[1], square);
    if (threadIdx.y || channel >= channels) return;
    statistics[channel] = mean;
    statistics[channels + channel] = 1 / sqrtf(square / rows + epsilon);
    running_mean[channel] += momentum * (mean - running_mean[channel]);
    running_variance[channel] += momentum * (square / (rows - 1) - running_variance[channel]);
}

// What reading goes by: the running statistics as [2, channels].
extern "C" __global__ void running_moments(const float *running_mean, const float *running_variance, float *statistics, unsigned channels, float epsilon)
{
    EACH(channels);
    statistics[i] = running_mean[i];
    statistics[channels + i] = 1 / sqrtf(running_variance[i] + epsilon);
}

extern "C" __global__ void normalize(const float *x, const float *statistics, const float *weight, const float *bias, float *result, unsigned count,
                                     unsigned channels, unsigned kind)
{
    EACH(count);
    unsigned channel = i % channels;
    float scaled = (x[i] - statistics[channel]) * statistics[channels + channel];
    result[i] = activated(scaled * weight[channel] + bias[channel], kind);
}

// Of the gradient before the activation, in each channel and stripe: its sum, and that of its product with the normalised x.
extern "C" __global__ void normalize_sums(const float *x, const float *statistics, const float *weight, const float *bias, const float *gradient,
                                          float *sums, float *products, unsigned rows, unsigned channels, unsigned kind)
{
    STRIPE;
    float sum = 0, product = 0;
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) {
            u64 place = (u64)row * channels + channel;
            float scaled = (x[place] - statistics[channel]) * statistics[channels + channel];
            float live = passed(gradient[place], scaled * weight[channel] + bias[channel], kind);
            sum += live;
            product += live * scaled;
        }
    keep_sums(part, channel, channels, sum, product, sums, products);
}

extern "C" __global__ void normalize_back(const float *x, const float *statistics, const float *weight, const float *bias, const float *gradient,
                                          const float *sum, const float *product, float *result, unsigned count, unsigned channels, unsigned rows,
                                          unsigned kind)
{
    EACH(count);
    unsigned channel = i % channels;
    float deviation = statistics[channels + channel], scaled = (x[i] - statistics[channel]) * deviation;
    float live = passed(gradient[i], scaled * weight[channel] + bias[channel], kind);
    result[i] = weight[channel] * deviation * (live - (sum[channel] + scaled * product[channel]) / rows);
}
