// What surrounds the matrix products of multi-head attention: splitting and merging heads, and the softmax.

#pragma once
#include "common.cuh"

// [sequences, tokens, parts, heads, head_dim], where the parts are query, key and value; `HeadLayout` in attention.rs.
struct HeadLayout {
    unsigned sequences, tokens, parts, heads, head_dim;
};

// [sequences, tokens, parts, heads, head_dim] to [parts, sequences, heads, tokens, head_dim].
template <typename T> __device__ void split_heads(const float *x, T *result, HeadLayout l)
{
    ELEMENT_INDEX(l.sequences * l.tokens * l.parts * l.heads * l.head_dim);
    unsigned feature = i % l.head_dim, token = i / l.head_dim % l.tokens, head = i / (l.head_dim * l.tokens) % l.heads;
    unsigned rest = i / (l.head_dim * l.tokens * l.heads), sequence = rest % l.sequences, part = rest / l.sequences;
    result[i] = from_float<T>(x[(((sequence * l.tokens + token) * l.parts + part) * l.heads + head) * l.head_dim + feature]);
}

// The inverse of `split_heads`.
extern "C" __global__ void merge_heads(const float *x, float *result, HeadLayout l)
{
    ELEMENT_INDEX(l.sequences * l.tokens * l.parts * l.heads * l.head_dim);
    unsigned feature = i % l.head_dim, head = i / l.head_dim % l.heads, part = i / (l.head_dim * l.heads) % l.parts;
    unsigned rest = i / (l.head_dim * l.heads * l.parts), token = rest % l.tokens, sequence = rest / l.tokens;
    result[i] = x[(((part * l.sequences + sequence) * l.heads + head) * l.tokens + token) * l.head_dim + feature];
}

// The softmax of `scale` times each row of scores; 32 threads a row, eight rows a block.
template <typename T> __device__ void softmax(const float *scores, T *weights, unsigned rows, unsigned columns, float scale)
{
    __shared__ float shared[8][33];
    unsigned row = blockIdx.x * 8 + threadIdx.y, end = row < rows ? columns : 0;
    const float *from = scores + (u64)row * columns;
    float max = -INFINITY, sum = 0;
    for (unsigned column = threadIdx.x; column < end; column += 32) max = fmaxf(max, from[column]);
    max = row_max(shared, max);
    for (unsigned column = threadIdx.x; column < end; column += 32) sum += expf(scale * (from[column] - max));
    float inverse = 1 / row_sum(shared, sum);
    for (unsigned column = threadIdx.x; column < end; column += 32)
        weights[(u64)row * columns + column] = from_float<T>(expf(scale * (from[column] - max)) * inverse);
}

// The gradient of the scores, from that of the attention weights.
template <typename T> __device__ void softmax_backward(const float *gradient, const T *weights, T *result, unsigned rows, unsigned columns, float scale)
{
    __shared__ float shared[8][33];
    unsigned row = blockIdx.x * 8 + threadIdx.y, end = row < rows ? columns : 0;
    u64 first = (u64)row * columns;
    float sum = 0;
    for (unsigned column = threadIdx.x; column < end; column += 32) sum += to_float(weights[first + column]) * gradient[first + column];
    sum = row_sum(shared, sum);
    for (unsigned column = threadIdx.x; column < end; column += 32)
        result[first + column] = from_float<T>(scale * to_float(weights[first + column]) * (gradient[first + column] - sum));
}

#define ATTENTION(T, name)                                                                                                                  \
    extern "C" __global__ void split_heads_##name(const float *x, T *result, HeadLayout l) { split_heads(x, result, l); }                   \
    extern "C" __global__ void softmax_##name(const float *scores, T *weights, unsigned rows, unsigned columns, float scale)                \
    { softmax(scores, weights, rows, columns, scale); }                                                                                     \
    extern "C" __global__ void softmax_backward_##name(const float *gradient, const T *weights, T *result, unsigned rows, unsigned columns, \
                                                       float scale)                                                                         \
    { softmax_backward(gradient, weights, result, rows, columns, scale); }

ATTENTION(float, f32)
ATTENTION(__half, f16)
ATTENTION(__nv_bfloat16, bf16)
