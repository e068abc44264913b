// Owns the loss. Must not know where logits come from.

#pragma once
#include "common.cuh"

// Cross-entropy of logits [rows, classes] and the count of right answers, as ops::cross_entropy; one block of 256 threads. `ones` has a 1 at
// each label.
extern "C" __global__ void cross_entropy(const float *logits, const float *ones, float *result, unsigned rows, unsigned classes, float batch,
                                         float smoothing)
{
    float loss = 0, hits = 0;
    for (unsigned row = threadIdx.x; row < rows; row += 256) {
        const float *x = logits + row * classes, *one = ones + row * classes;
        float largest = x[0], sum = 0, total = 0;
        unsigned label = 0;
        for (unsigned k = 0; k < classes; k++) {
            largest = x[k] > largest ? x[k] : largest;
            label = one[k] == 1 ? k : label;
        }
        bool hit = true;
        for (unsigned k = 0; k < classes; k++) {
            sum += expf(x[k] - largest);
            hit = hit && (k == label || (k < label ? x[k] < x[label] : x[k] <= x[label]));
        }
        float normalizer = largest + logf(sum);
        for (unsigned k = 0; k < classes; k++) total += normalizer - x[k];
        loss += (1 - smoothing) * (normalizer - x[label]) + (smoothing > 0 ? smoothing / classes * total : 0);
        hits += hit && x[label] == x[label];
    }
    loss = block_sum(loss);
    hits = block_sum(hits);
    if (threadIdx.x == 0) result[0] = loss / batch, result[1] = hits;
}

// A thread for each row.
extern "C" __global__ void cross_entropy_back(const float *logits, const float *ones, const float *gradient, float *result, unsigned rows,
                                              unsigned classes, float batch, float smoothing)
{
    EACH(rows);
    const float *x = logits + i * classes;
    float largest = x[0], sum = 0, scale = gradient[0] / batch;
    for (unsigned k = 1; k < classes; k++) largest = x[k] > largest ? x[k] : largest;
    for (unsigned k = 0; k < classes; k++) sum += expf(x[k] - largest);
    float normalizer = largest + logf(sum);
    for (unsigned k = 0; k < classes; k++) {
        float target = smoothing / classes + (1 - smoothing) * ones[i * classes + k];
        result[i * classes + k] = (expf(x[k] - normalizer) - target) * scale;
    }
}
