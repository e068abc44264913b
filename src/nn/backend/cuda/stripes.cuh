// Owns sums over the rows of a matrix, by stripes of rows that are joined in a fixed order. Must not know what is summed.

#pragma once
#include "common.cuh"

// Sums over the rows of [rows, channels] by stripes: blocks of 32 channels by 8 rows at a time, a stripe for each block along y.
#define STRIPE                                                                              \
    __shared__ float part[2][8][33];                                                        \
    unsigned channel = blockIdx.x * 32 + threadIdx.x;                                       \
    unsigned height = (rows + gridDim.y - 1) / gridDim.y;                                   \
    unsigned begin = blockIdx.y * height, end = min(begin + height, rows)

// The sums of eight rows of threads, which all get.
__device__ float over_rows(float part[8][33], float value)
{
    part[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    float sum = 0;
    for (unsigned row = 0; row < 8; row++) sum += part[row][threadIdx.x];
    __syncthreads();
    return sum;
}

// Two sums of eight rows of threads, kept for the channel, in its stripe.
__device__ void keep_sums(float part[2][8][33], unsigned channel, unsigned channels, float first, float second, float *firsts, float *seconds)
{
    first = over_rows(part[0], first);
    second = over_rows(part[1], second);
    if (threadIdx.y || channel >= channels) return;
    firsts[blockIdx.y * channels + channel] = first;
    seconds[blockIdx.y * channels + channel] = second;
}

// [stripes, channels] to [channels], twice. Blocks of 32 channels by 8 stripes.
extern "C" __global__ void join_sums(const float *sums, const float *products, float *sum, float *product, unsigned channels, unsigned stripes)
{
    __shared__ float part[2][8][33];
    unsigned channel = blockIdx.x * 32 + threadIdx.x;
    float first = 0, second = 0;
    if (channel < channels)
        for (unsigned stripe = threadIdx.y; stripe < stripes; stripe += 8)
            first += sums[stripe * channels + channel], second += products[stripe * channels + channel];
    keep_sums(part, channel, channels, first, second, sum, product);
}
