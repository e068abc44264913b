// Sums over the rows of a matrix: partial sums of chunks of rows, reduced in a fixed order.

#pragma once
#include "common.cuh"

// In a kernel over [rows, channels]: this thread's channel and its block's chunk of rows, from `begin` to `end`. Blocks of 32 channels by 8 rows at a
// time, a chunk for each block along y; `ColumnReduction` in column_reduction.rs.
#define COLUMN_REDUCTION                                                                    \
    __shared__ float shared[2][8][33];                                                      \
    unsigned channel = blockIdx.x * 32 + threadIdx.x;                                       \
    unsigned chunk_rows = (rows + gridDim.y - 1) / gridDim.y;                               \
    unsigned begin = blockIdx.y * chunk_rows, end = min(begin + chunk_rows, rows)

// The sum over a block's eight rows of threads, returned to all.
__device__ float column_sum(float shared[8][33], float value)
{
    shared[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    float sum = 0;
    for (unsigned row = 0; row < 8; row++) sum += shared[row][threadIdx.x];
    __syncthreads();
    return sum;
}

// Two sums over a block's eight rows of threads, stored for the channel in its chunk.
__device__ void store_sums(float shared[2][8][33], unsigned channel, unsigned channels, float first, float second, float *firsts, float *seconds)
{
    first = column_sum(shared[0], first);
    second = column_sum(shared[1], second);
    if (threadIdx.y || channel >= channels) return;
    firsts[blockIdx.y * channels + channel] = first;
    seconds[blockIdx.y * channels + channel] = second;
}

// Two sums of each channel, from the partial sums of its chunks: [chunks, channels] to [channels], twice. Blocks of 32 channels by 8 chunks.
extern "C" __global__ void reduce_partials(const float *first_partials, const float *second_partials, float *firsts, float *seconds, unsigned channels,
                                           unsigned chunks)
{
    __shared__ float shared[2][8][33];
    unsigned channel = blockIdx.x * 32 + threadIdx.x;
    float first = 0, second = 0;
    if (channel < channels)
        for (unsigned chunk = threadIdx.y; chunk < chunks; chunk += 8)
            first += first_partials[chunk * channels + channel], second += second_partials[chunk * channels + channel];
    store_sums(shared, channel, channels, first, second, firsts, seconds);
}
