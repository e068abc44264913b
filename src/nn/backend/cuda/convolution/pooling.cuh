// 2x2 max-pooling of a convolution's sums.

#pragma once
#include "geometry.cuh"

// The maximum of every 2x2 window and its position in it (0 to 3); of equal ones the first. NaN is larger than all.
extern "C" __global__ void max_pool_2x2(const float *sums, float *result, unsigned char *argmax, Geometry g, unsigned relu)
{
    unsigned height = g.out_height.value / 2, width = g.out_width.value / 2, outputs = g.outputs.value;
    ELEMENT_INDEX(g.images * height * width * outputs);
    unsigned rest = i, output = divmod(rest, g.outputs), x = rest % width, y = rest / width % height, image = rest / width / height;
    const float *first = sums + (((u64)image * g.out_height.value + 2 * y) * g.out_width.value + 2 * x) * outputs + output;
    float best = first[0];
    unsigned position = 0;
    for (unsigned other = 1; other < 4; other++) {
        float value = first[((u64)(other >> 1) * g.out_width.value + (other & 1)) * outputs];
        if (value > best || value != value) best = value, position = other;
    }
    result[i] = relu && best <= 0 ? 0 : best;
    argmax[i] = position;
}

// Its gradient: that of the result at the maximum, elsewhere 0. A thread for each window, also for those that the edge cuts.
template <typename T> __device__ void max_pool_2x2_backward(const float *gradient, const float *result, const unsigned char *argmax, T *sums,
                                                            Geometry g, unsigned relu)
{
    unsigned height = g.out_height.value / 2, width = g.out_width.value / 2, outputs = g.outputs.value;
    ELEMENT_INDEX(g.images * g.pooled_height.value * g.pooled_width.value * outputs);
    unsigned image = i, output = divmod(image, g.outputs), x = divmod(image, g.pooled_width), y = divmod(image, g.pooled_height);
    unsigned position = 4;
    float value = 0;
    if (y < height && x < width) {
        unsigned pooled = ((image * height + y) * width + x) * outputs + output;
        position = argmax[pooled];
        value = relu && result[pooled] <= 0 ? 0 : gradient[pooled];
    }
    for (unsigned other = 0; other < 4; other++) {
        unsigned row = 2 * y + other / 2, column = 2 * x + other % 2;
        if (row < g.out_height.value && column < g.out_width.value)
            sums[((u64)(image * g.out_height.value + row) * g.out_width.value + column) * outputs + output] = from_float<T>(other == position ? value : 0);
    }
}

#define POOLING(T, name)                                                                                                                       \
    extern "C" __global__ void max_pool_2x2_backward_##name(const float *gradient, const float *result, const unsigned char *argmax, T *sums,  \
                                                            Geometry g, unsigned relu)                                                         \
    { max_pool_2x2_backward(gradient, result, argmax, sums, g, relu); }

POOLING(float, f32)
POOLING(__half, f16)
POOLING(__nv_bfloat16, bf16)
