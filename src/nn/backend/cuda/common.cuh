// Owns what kernels share: number formats, a thread for each number, sums over a block. Must not know what is computed.

#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned long long u64;

template <typename T> __device__ __forceinline__ T operand(float x);
template <> __device__ __forceinline__ float operand<float>(float x) { return x; }
template <> __device__ __forceinline__ __half operand<__half>(float x) { return __float2half_rn(x); }
template <> __device__ __forceinline__ __nv_bfloat16 operand<__nv_bfloat16>(float x) { return __float2bfloat16_rn(x); }
__device__ __forceinline__ float number(float x) { return x; }
__device__ __forceinline__ float number(__half x) { return __half2float(x); }
__device__ __forceinline__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }

// One thread a number.
#define EACH(count)                                              \
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;          \
    if (i >= (count)) return

// The sum, or the largest, of what 32 threads hold for each of eight rows; every thread of a row has it.
__device__ __forceinline__ float sum_of_row(float part[8][33], float value)
{
    part[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    float sum = 0;
    for (unsigned one = 0; one < 32; one++) sum += part[threadIdx.y][one];
    __syncthreads();
    return sum;
}

__device__ __forceinline__ float largest_of_row(float part[8][33], float value)
{
    part[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    for (unsigned one = 0; one < 32; one++) value = fmaxf(value, part[threadIdx.y][one]);
    __syncthreads();
    return value;
}

// What every block of 256 threads holds, added up in a fixed order; every thread has the sum.
__device__ float block_sum(float value)
{
    __shared__ float part[256];
    part[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = 128; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    value = part[0];
    __syncthreads();
    return value;
}
