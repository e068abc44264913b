// What kernels share: number formats, the index of a thread's element, reductions over a row or a block of threads.

#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned long long u64;

// To and from the number format of a matrix product's operands.
template <typename T> __device__ __forceinline__ T from_float(float x);
template <> __device__ __forceinline__ float from_float<float>(float x) { return x; }
template <> __device__ __forceinline__ __half from_float<__half>(float x) { return __float2half_rn(x); }
template <> __device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float x) { return __float2bfloat16_rn(x); }
__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

// One thread per element: its index `i`; threads beyond the last element return.
#define ELEMENT_INDEX(count)                                     \
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;          \
    if (i >= (count)) return

// Blocks of 32 by 8 threads, 32 for each of eight rows: the sum (the maximum) over a row's threads, returned to each of them.
__device__ __forceinline__ float row_sum(float shared[8][33], float value)
{
    shared[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    float sum = 0;
    for (unsigned lane = 0; lane < 32; lane++) sum += shared[threadIdx.y][lane];
    __syncthreads();
    return sum;
}

__device__ __forceinline__ float row_max(float shared[8][33], float value)
{
    shared[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    for (unsigned lane = 0; lane < 32; lane++) value = fmaxf(value, shared[threadIdx.y][lane]);
    __syncthreads();
    return value;
}

// The sum over a block of 256 threads, in a fixed order, returned to each of them.
__device__ float block_sum(float value)
{
    __shared__ float shared[256];
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = 128; half; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}
