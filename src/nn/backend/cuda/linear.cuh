// Owns what surrounds the product of a fully connected layer. Must not know networks.

#pragma once
#include "common.cuh"

// A bias for each column, and perhaps ReLU.
extern "C" __global__ void add_bias(float *sums, const float *bias, unsigned count, unsigned columns, unsigned relu)
{
    EACH(count);
    float value = sums[i] + bias[i % columns];
    sums[i] = relu && value <= 0 ? 0 : value;
}

// A gradient as the operand of a product, past ReLU where there is one.
template <typename T> __device__ void past_relu(const float *gradient, const float *result, T *live, unsigned count, unsigned relu)
{
    EACH(count);
    live[i] = operand<T>(relu && result[i] <= 0 ? 0 : gradient[i]);
}

// The sum of each column, in as many parts as there are blocks along y: [parts, columns]. Blocks of 32 columns, 32 by 32 threads.
template <typename T> __device__ void column_sums(const T *values, float *sums, unsigned rows, unsigned columns)
{
    __shared__ float part[32][33];
    unsigned column = blockIdx.x * 32 + threadIdx.x, height = (rows + gridDim.y - 1) / gridDim.y;
    unsigned begin = blockIdx.y * height, end = min(begin + height, rows);
    float sum = 0;
    if (column < columns)
        for (unsigned row = begin + threadIdx.y; row < end; row += 32) sum += number(values[(u64)row * columns + column]);
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y || column >= columns) return;
    sum = 0;
    for (unsigned row = 0; row < 32; row++) sum += part[row][threadIdx.x];
    sums[blockIdx.y * columns + column] = sum;
}

#define LINEAR(T, name)                                                                                                                    \
    extern "C" __global__ void past_relu_##name(const float *gradient, const float *result, T *live, unsigned count, unsigned relu)        \
    { past_relu(gradient, result, live, count, relu); }                                                                                    \
    extern "C" __global__ void __launch_bounds__(1024) column_sums_##name(const T *values, float *sums, unsigned rows, unsigned columns)   \
    { column_sums(values, sums, rows, columns); }

LINEAR(float, f32)
LINEAR(__half, f16)
LINEAR(__nv_bfloat16, bf16)
