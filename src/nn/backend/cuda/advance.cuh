// Owns an optimiser's step over all parameters at once. Must not know when a step is due.

#pragma once
#include "common.cuh"

// What is learned, in up to LISTED parameters at a time; `Lists` in advance.rs.
#define LISTED 64
struct Lists {
    float *weight[LISTED];
    const float *gradient[LISTED];
    unsigned length[LISTED], start[LISTED];
    float decay[LISTED];
    unsigned count;
};

// The squares of all gradients, a sum for each block of 256 threads, added to what is there from the lists before.
extern "C" __global__ void squares(Lists lists, float *parts, unsigned further)
{
    float sum = 0;
    for (unsigned list = 0; list < lists.count; list++)
        for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < lists.length[list]; i += gridDim.x * 256) {
            float value = lists.gradient[list][i];
            sum += value * value;
        }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = further ? parts[blockIdx.x] + sum : sum;
}

// The norm of all gradients together, from the sums of `squares`; every thread of a block has it.
__device__ float norm_of(const float *parts, unsigned blocks)
{
    float sum = 0;
    for (unsigned part = threadIdx.x; part < blocks; part += 256) sum += parts[part];
    return sqrtf(block_sum(sum));
}

// One step of an optimiser; `Rule` in advance.rs. Clipped at the norm `clip` where it is above 0.
struct Rule {
    unsigned kind, nesterov;
    float rate, scale, clip, momentum;
    float beta1, beta2, epsilon, correction1, correction2;
};

extern "C" __global__ void advance(Lists lists, Rule rule, float *first, float *second, const float *parts, unsigned blocks, float *norm)
{
    float all = norm_of(parts, blocks) * rule.scale;
    if (blockIdx.x == 0 && threadIdx.x == 0) *norm = all;
    float scale = rule.scale * (rule.clip > 0 ? rule.clip / fmaxf(all, rule.clip) : 1);
    for (unsigned list = 0; list < lists.count; list++) {
        float decay = lists.decay[list];
        for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < lists.length[list]; i += gridDim.x * 256) {
            unsigned place = lists.start[list] + i;
            float g = lists.gradient[list][i] * scale, w = lists.weight[list][i];
            if (rule.kind == 0) {
                float velocity = first[place] = rule.momentum * first[place] + g;
                float step = rule.nesterov ? g + rule.momentum * velocity : velocity;
                w = w - rule.rate * decay * w - rule.rate * step;
            } else {
                // 1: AdamW, whose decay is apart; 2: Adam.
                g = rule.kind == 2 ? g + decay * w : g;
                float m = first[place] = rule.beta1 * first[place] + (1 - rule.beta1) * g;
                float v = second[place] = rule.beta2 * second[place] + (1 - rule.beta2) * g * g;
                w = rule.kind == 1 ? w - rule.rate * decay * w : w;
                w -= rule.rate / rule.correction1 * m / (sqrtf(v / rule.correction2) + rule.epsilon);
            }
            lists.weight[list][i] = w;
        }
    }
}

// A share of each weight into its average.
extern "C" __global__ void follow(Lists lists, float *average, float share)
{
    for (unsigned list = 0; list < lists.count; list++)
        for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < lists.length[list]; i += gridDim.x * 256) {
            unsigned place = lists.start[list] + i;
            average[place] = average[place] * (1 - share) + lists.weight[list][i] * share;
        }
}

// That norm alone; one block.
extern "C" __global__ void join_squares(const float *parts, unsigned blocks, float *result)
{
    float all = norm_of(parts, blocks);
    if (threadIdx.x == 0) *result = all;
}
