// Softmax cross-entropy with label smoothing.

#pragma once
#include "common.cuh"

// The cross-entropy of logits [rows, classes], divided by `batch`, and the count of correct rows; one block of 256 threads. Labels are
// classes; where one is not among them, the loss is NaN.
extern "C" __global__ void cross_entropy(const float *logits, const unsigned char *labels, float *result, unsigned rows, unsigned classes, float batch,
                                         float smoothing)
{
    float loss = 0, correct = 0;
    for (unsigned row = threadIdx.x; row < rows; row += 256) {
        const float *x = logits + row * classes;
        unsigned label = labels[row];
        if (label >= classes) {
            loss = NAN;
            break;
        }
        float max = x[0], sum = 0, total = 0;
        for (unsigned k = 1; k < classes; k++) max = x[k] > max ? x[k] : max;
        // Of equal logits the first is the prediction.
        bool is_correct = x[label] == x[label];
        for (unsigned k = 0; k < classes; k++) {
            sum += expf(x[k] - max);
            is_correct = is_correct && (k == label || (k < label ? x[k] < x[label] : x[k] <= x[label]));
        }
        float normalizer = max + logf(sum);
        for (unsigned k = 0; k < classes; k++) total += normalizer - x[k];
        loss += (1 - smoothing) * (normalizer - x[label]) + (smoothing > 0 ? smoothing / classes * total : 0);
        correct += is_correct;
    }
    loss = block_sum(loss);
    correct = block_sum(correct);
    if (threadIdx.x == 0) result[0] = loss / batch, result[1] = correct;
}

// A thread for each row.
extern "C" __global__ void cross_entropy_backward(const float *logits, const unsigned char *labels, const float *gradient, float *result, unsigned rows,
                                                  unsigned classes, float batch, float smoothing)
{
    ELEMENT_INDEX(rows);
    const float *x = logits + i * classes;
    float max = x[0], sum = 0, scale = gradient[0] / batch;
    for (unsigned k = 1; k < classes; k++) max = x[k] > max ? x[k] : max;
    for (unsigned k = 0; k < classes; k++) sum += expf(x[k] - max);
    float normalizer = max + logf(sum);
    for (unsigned k = 0; k < classes; k++) {
        float target = smoothing / classes + (k == labels[i] ? 1 - smoothing : 0);
        result[i * classes + k] = (expf(x[k] - normalizer) - target) * scale;
    }
}
