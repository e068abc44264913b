// The optimiser's step over all parameters at once, the norm of their gradients, and the moving average of the weights.

#pragma once
#include "common.cuh"

// Up to MAX_PARAMETERS parameters; `ParameterList` in optimizer.rs. `offset`: where a parameter's elements start in a row of the optimiser's state.
#define MAX_PARAMETERS 64
struct ParameterList {
    float *weight[MAX_PARAMETERS];
    const float *gradient[MAX_PARAMETERS];
    unsigned length[MAX_PARAMETERS], offset[MAX_PARAMETERS];
    float decay[MAX_PARAMETERS];
    unsigned count;
};

// Every block's share of one parameter's elements.
#define FOR_EACH_ELEMENT(list, parameter) \
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < list.length[parameter]; i += gridDim.x * 256)

// The sum of squares of all gradients, a partial sum for each block of 256 threads; `accumulate` adds it to that of the lists before.
extern "C" __global__ void sum_squares(ParameterList list, float *partials, unsigned accumulate)
{
    float sum = 0;
    for (unsigned parameter = 0; parameter < list.count; parameter++)
        FOR_EACH_ELEMENT(list, parameter) {
            float value = list.gradient[parameter][i];
            sum += value * value;
        }
    sum = block_sum(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = accumulate ? partials[blockIdx.x] + sum : sum;
}

// The square root of the sum of `sum_squares`' partial sums, returned to every thread of a block.
__device__ float root_of_sum(const float *partials, unsigned blocks)
{
    float sum = 0;
    for (unsigned block = threadIdx.x; block < blocks; block += 256) sum += partials[block];
    return sqrtf(block_sum(sum));
}

// What an optimiser's step takes besides parameters; `Step` in optimizer.rs. `clip` is the largest gradient norm, 0 for no clipping.
struct Step {
    unsigned rule, nesterov;
    float lr, scale, clip, momentum;
    float beta1, beta2, epsilon, correction1, correction2;
};
enum { SGD, ADAMW, ADAM };

// SGD's velocity is in `exp_avg`; it has no `exp_avg_sq`.
extern "C" __global__ void optimizer_step(ParameterList list, Step step, float *exp_avg, float *exp_avg_sq, const float *partials, unsigned blocks,
                                          float *norm)
{
    float length = root_of_sum(partials, blocks) * step.scale;
    if (blockIdx.x == 0 && threadIdx.x == 0) *norm = length;
    float scale = step.scale * (step.clip > 0 ? step.clip / fmaxf(length, step.clip) : 1);
    for (unsigned parameter = 0; parameter < list.count; parameter++) {
        float decay = list.decay[parameter];
        FOR_EACH_ELEMENT(list, parameter) {
            unsigned state = list.offset[parameter] + i;
            float g = list.gradient[parameter][i] * scale, w = list.weight[parameter][i];
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
            list.weight[parameter][i] = w;
        }
    }
}

// average = (1 - ema_weight) * average + ema_weight * weight.
extern "C" __global__ void ema_update(ParameterList list, float *average, float ema_weight)
{
    for (unsigned parameter = 0; parameter < list.count; parameter++)
        FOR_EACH_ELEMENT(list, parameter) {
            unsigned state = list.offset[parameter] + i;
            average[state] = average[state] * (1 - ema_weight) + list.weight[parameter][i] * ema_weight;
        }
}

// The gradients' norm alone; one block.
extern "C" __global__ void gradient_norm(const float *partials, unsigned blocks, float *norm)
{
    float length = root_of_sum(partials, blocks);
    if (threadIdx.x == 0) *norm = length;
}
