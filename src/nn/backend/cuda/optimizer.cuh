// The optimizer's step over all parameters at once, the norm of their gradients, and the moving average of the weights.

#pragma once
#include "common.cuh"

// Up to MAX_PARAMETERS parameters; `ParameterList` in optimizer.rs. `offset`: where a parameter's elements start in a row of the optimizer's state;
// `first_block`: the first of the blocks that take CHUNK of its elements each.
#define MAX_PARAMETERS 64
#define CHUNK 2048
struct ParameterList {
    float *weight[MAX_PARAMETERS];
    const float *gradient[MAX_PARAMETERS];
    unsigned length[MAX_PARAMETERS], offset[MAX_PARAMETERS], first_block[MAX_PARAMETERS];
    float decay[MAX_PARAMETERS];
    unsigned count;
};

// The parameter that this block takes elements of.
__device__ unsigned parameter_of_block(const ParameterList &list)
{
    unsigned first = 0, end = list.count;
    while (end - first > 1) {
        unsigned middle = (first + end) / 2;
        if (list.first_block[middle] <= blockIdx.x) first = middle;
        else end = middle;
    }
    return first;
}

// The elements of `parameter` that a thread takes of its block's.
#define FOR_EACH_ELEMENT(list, parameter)                                                                                         \
    _Pragma("unroll 4") for (unsigned i = (blockIdx.x - list.first_block[parameter]) * CHUNK + threadIdx.x,                             \
                                      end = min((blockIdx.x - list.first_block[parameter] + 1) * CHUNK, list.length[parameter]);        \
                             i < end; i += 256)

// The sum of squares of all gradients, a partial sum for each block.
extern "C" __global__ void sum_squares(const __grid_constant__ ParameterList list, float *partials)
{
    unsigned parameter = parameter_of_block(list);
    const float *gradient = list.gradient[parameter];
    float sum = 0;
    FOR_EACH_ELEMENT(list, parameter) sum += gradient[i] * gradient[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// The square root of the sum of `sum_squares`' partial sums, returned to every thread of a block.
__device__ float root_of_sum(const float *partials, unsigned blocks)
{
    float sum = 0;
    for (unsigned block = threadIdx.x; block < blocks; block += 256) sum += partials[block];
    return sqrtf(block_sum(sum));
}

// What an optimizer's step takes besides parameters; `Step` in optimizer.rs. `clip` is the largest gradient norm, 0 for no clipping.
struct Step {
    unsigned rule, nesterov;
    float lr, scale, clip, momentum;
    float beta1, beta2, epsilon, correction1, correction2;
};
enum { SGD, ADAMW, ADAM };

// SGD's velocity is in `exp_avg`; it has no `exp_avg_sq`. `partials`: those of `sum_squares` over all lists, `blocks` in number.
extern "C" __global__ void optimizer_step(const __grid_constant__ ParameterList list, Step step, float *exp_avg, float *exp_avg_sq, const float *partials,
                                          unsigned blocks, float *norm)
{
    float length = root_of_sum(partials, blocks) * step.scale;
    if (blockIdx.x == 0 && threadIdx.x == 0) *norm = length;
    float scale = step.scale * (step.clip > 0 ? step.clip / fmaxf(length, step.clip) : 1);
    unsigned parameter = parameter_of_block(list), offset = list.offset[parameter];
    float decay = list.decay[parameter], *weight = list.weight[parameter];
    const float *gradient = list.gradient[parameter];
    FOR_EACH_ELEMENT(list, parameter) {
        unsigned state = offset + i;
        float g = gradient[i] * scale, w = weight[i];
        if (step.rule == SGD) {
            float velocity = exp_avg[state] = step.momentum * exp_avg[state] + g;
            float direction = step.nesterov ? g + step.momentum * velocity : velocity;
            w = w - step.lr * decay * w - step.lr * direction;
        } else {
            // AdamW decouples weight decay from the gradient.
            g = step.rule == ADAM ? g + decay * w : g;
            float m = exp_avg[state] = step.beta1 * exp_avg[state] + (1 - step.beta1) * g;
            float v = exp_avg_sq[state] = step.beta2 * exp_avg_sq[state] + (1 - step.beta2) * g * g;
            w = step.rule == ADAMW ? w - step.lr * decay * w : w;
            w -= step.lr / step.correction1 * m / (sqrtf(v / step.correction2) + step.epsilon);
        }
        weight[i] = w;
    }
}

// average = (1 - ema_weight) * average + ema_weight * weight.
extern "C" __global__ void ema_update(const __grid_constant__ ParameterList list, float *average, float ema_weight)
{
    unsigned parameter = parameter_of_block(list), offset = list.offset[parameter];
    const float *weight = list.weight[parameter];
    FOR_EACH_ELEMENT(list, parameter) average[offset + i] = average[offset + i] * (1 - ema_weight) + weight[i] * ema_weight;
}

// The gradients' norm alone; one block.
extern "C" __global__ void gradient_norm(const float *partials, unsigned blocks, float *norm)
{
    float length = root_of_sum(partials, blocks);
    if (threadIdx.x == 0) *norm = length;
}
