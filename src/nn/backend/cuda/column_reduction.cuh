// Sums over the rows of a matrix: partial sums of chunks of rows, reduced in a fixed order.

#pragma once
#include "common.cuh"

// In a kernel over [rows, channels]: this thread's channel and its block's chunk of rows, from `begin` to `end`. Blocks of up to 32 channels by as many
// rows at a time as make 256 threads, a chunk for each block along y; `ColumnReduction` in column_reduction.rs.
#define COLUMN_REDUCTION                                                                    \
    __shared__ float shared[2][1024];                                                       \
    unsigned channel = blockIdx.x * blockDim.x + threadIdx.x;                               \
    unsigned chunk_rows = (rows + gridDim.y - 1) / gridDim.y;                               \
    unsigned begin = blockIdx.y * chunk_rows, end = min(begin + chunk_rows, rows)

// The sum over a block's rows of threads, whose number is a power of two, in a fixed order, returned to all.
__device__ float column_sum(float *shared, float value)
{
    unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    shared[thread] = value;
    __syncthreads();
    for (unsigned half = blockDim.y / 2; half; half /= 2) {
        if (threadIdx.y < half) shared[thread] += shared[thread + half * blockDim.x];
        __syncthreads();
    }
    value = shared[threadIdx.x];
    __syncthreads();
    return value;
}

// Two sums over a block's rows of threads, stored for the channel in its chunk.
__device__ void store_sums(float shared[2][1024], unsigned channel, unsigned channels, float first, float second, float *firsts, float *seconds)
{
    first = column_sum(shared[0], first);
    second = column_sum(shared[1], second);
    if (threadIdx.y || channel >= channels) return;
    firsts[blockIdx.y * channels + channel] = first;
    seconds[blockIdx.y * channels + channel] = second;
}

// Two sums of each channel, from the partial sums of its chunks: [chunks, channels] to [channels], twice. Blocks of up to 32 channels, 1,024 threads.
extern "C" __global__ void __launch_bounds__(1024) reduce_partials(const float *first_partials, const float *second_partials, float *firsts,
                                                                   float *seconds, unsigned channels, unsigned chunks)
{
    __shared__ float shared[2][1024];
    unsigned channel = blockIdx.x * blockDim.x + threadIdx.x;
    float first = 0, second = 0;
    if (channel < channels)
        for (unsigned chunk = threadIdx.y; chunk < chunks; chunk += blockDim.y)
            first += first_partials[chunk * channels + channel], second += second_partials[chunk * channels + channel];
    store_sums(shared, channel, channels, first, second, firsts, seconds);
}
