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

// Four values, read or written together.
template <typename T> struct alignas(4 * sizeof(T)) Four {
    T values[4];
};

// A number to divide by that is the same for all threads: a multiplication and a shift take a fraction of the time of a division (Granlund and
// Montgomery 1994). `Divisor` in launch.rs.
struct Divisor {
    unsigned value, multiplier, shift;
};

// Divides `dividend`, below 2^31, which keeps the quotient, and returns the remainder.
__device__ __forceinline__ unsigned divmod(unsigned &dividend, Divisor by)
{
    unsigned quotient = (__umulhi(dividend, by.multiplier) + dividend) >> by.shift, remainder = dividend - quotient * by.value;
    dividend = quotient;
    return remainder;
}

// One thread per element: its index `i`; threads beyond the last element return.
#define ELEMENT_INDEX(count)                                     \
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;          \
    if (i >= (count)) return

// One thread for four neighboring elements: the index of the first; threads beyond the last element return. A GPU moves data fastest in 16 bytes.
#define FOUR_ELEMENTS(count)                                                       \
    unsigned first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);                  \
    if (first >= (count)) return

// Reads four elements of `count`, or as many as there are.
__device__ __forceinline__ void load_four(const float *from, unsigned first, unsigned count, float (&values)[4])
{
    if (first + 4 <= count && (u64)from % 16 == 0) {
        float4 four = *(const float4 *)(from + first);
        values[0] = four.x, values[1] = four.y, values[2] = four.z, values[3] = four.w;
    } else
#pragma unroll
        for (unsigned k = 0; k < 4; k++) values[k] = first + k < count ? from[first + k] : 0;
}

__device__ __forceinline__ void store_four(float *to, unsigned first, unsigned count, const float (&values)[4])
{
    if (first + 4 <= count && (u64)to % 16 == 0) *(float4 *)(to + first) = make_float4(values[0], values[1], values[2], values[3]);
    else
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            if (first + k < count) to[first + k] = values[k];
}

// What four neighboring elements of [rows, channels] have of a value for each channel.
__device__ __forceinline__ void load_of_channels(const float *values, unsigned first, Divisor channels, float (&four)[4])
{
    unsigned row = first, channel = divmod(row, channels);
    if (channels.value % 4 == 0) return load_four(values, channel, channels.value, four);
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        four[k] = values[channel];
        channel = channel + 1 < channels.value ? channel + 1 : 0;
    }
}

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
