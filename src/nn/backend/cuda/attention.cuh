// Owns what surrounds the products of multi-head attention: heads side by side, and the softmax. Must not know networks.

#pragma once
#include "common.cuh"

// `Layout` in attention.rs: sequences of tokens, each with so many parts of so many heads of so many numbers, one after the other.
struct Layout {
    unsigned sequences, tokens, parts, heads, depth;
};

// [sequences, tokens, parts, heads, depth] to [parts, sequences, heads, tokens, depth].
template <typename T> __device__ void split_heads(const float *x, T *result, Layout by)
{
    EACH(by.sequences * by.tokens * by.parts * by.heads * by.depth);
    unsigned number = i % by.depth, token = i / by.depth % by.tokens, head = i / (by.depth * by.tokens) % by.heads;
    unsigned rest = i / (by.depth * by.tokens * by.heads), sequence = rest % by.sequences, part = rest / by.sequences;
    result[i] = operand<T>(x[(((sequence * by.tokens + token) * by.parts + part) * by.heads + head) * by.depth + number]);
}

// The way back.
extern "C" __global__ void merge_heads(const float *x, float *result, Layout by)
{
    EACH(by.sequences * by.tokens * by.parts * by.heads * by.depth);
    unsigned number = i % by.depth, head = i / by.depth % by.heads, part = i / (by.depth * by.heads) % by.parts;
    unsigned rest = i / (by.depth * by.heads * by.parts), token = rest % by.tokens, sequence = rest / by.tokens;
    result[i] = x[(((part * by.sequences + sequence) * by.heads + head) * by.tokens + token) * by.depth + number];
}

// The softmax of `scale` times each row; 32 threads a row, eight rows a block.
template <typename T> __device__ void softmax(const float *scores, T *shares, unsigned rows, unsigned columns, float scale)
{
    __shared__ float part[8][33];
    unsigned row = blockIdx.x * 8 + threadIdx.y, end = row < rows ? columns : 0;
    const float *from = scores + (u64)row * columns;
    float largest = -INFINITY, sum = 0;
    for (unsigned column = threadIdx.x; column < end; column += 32) largest = fmaxf(largest, from[column]);
    largest = largest_of_row(part, largest);
    for (unsigned column = threadIdx.x; column < end; column += 32) sum += expf(scale * (from[column] - largest));
    float share = 1 / sum_of_row(part, sum);
    for (unsigned column = threadIdx.x; column < end; column += 32)
        shares[(u64)row * columns + column] = operand<T>(expf(scale * (from[column] - largest)) * share);
}

// The gradient of scores, from that of their shares.
template <typename T> __device__ void softmax_back(const float *gradient, const T *shares, T *result, unsigned rows, unsigned columns, float scale)
{
    __shared__ float part[8][33];
    unsigned row = blockIdx.x * 8 + threadIdx.y, end = row < rows ? columns : 0;
    u64 first = (u64)row * columns;
    float sum = 0;
    for (unsigned column = threadIdx.x; column < end; column += 32) sum += number(shares[first + column]) * gradient[first + column];
    sum = sum_of_row(part, sum);
    for (unsigned column = threadIdx.x; column < end; column += 32)
        result[first + column] = operand<T>(scale * number(shares[first + column]) * (gradient[first + column] - sum));
}

#define ATTENTION(T, name)                                                                                                                  \
    extern "C" __global__ void split_heads_##name(const float *x, T *result, Layout by) { split_heads(x, result, by); }                      \
    extern "C" __global__ void softmax_##name(const float *scores, T *shares, unsigned rows, unsigned columns, float scale)                 \
    { softmax(scores, shares, rows, columns, scale); }                                                                                      \
    extern "C" __global__ void softmax_back_##name(const float *gradient, const T *shares, T *result, unsigned rows, unsigned columns,      \
                                                   float scale)                                                                             \
    { softmax_back(gradient, shares, result, rows, columns, scale); }

ATTENTION(float, f32)
ATTENTION(__half, f16)
ATTENTION(__nv_bfloat16, bf16)
