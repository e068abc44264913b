// Gathering a batch from a data set, with augmentation.

#pragma once
#include "common.cuh"

// As in data::augment: pixels along a side, padding for what is moved in from outside, knots of the elastic deformation along a side, and the numbers
// of an image's augmentation: a 2x2 matrix, a shift, a change of stroke thickness, the knots' shifts.
#define SIDE 28
#define MARGIN 2
#define PADDED (SIDE + 2 * MARGIN)
#define KNOTS 7
#define PARAM_COUNT (7 + 2 * KNOTS * KNOTS)

__device__ __forceinline__ float lerp(float a, float b, float t) { return a + (b - a) * t; }

// The images and labels at these positions; augmented where `augmentation` [n, PARAM_COUNT] is not null, with the spline basis [SIDE, KNOTS].
// A block for each image.
extern "C" __global__ void gather_batch(const unsigned char *images, const unsigned char *labels, const unsigned *positions,
                                        const float *augmentation, const float *spline, float *batch, unsigned char *batch_labels)
{
    unsigned position = positions[blockIdx.x];
    const unsigned char *image = images + (u64)position * SIDE * SIDE;
    float *result = batch + (u64)blockIdx.x * SIDE * SIDE;
    if (threadIdx.x == 0) batch_labels[blockIdx.x] = labels[position];
    if (!augmentation) {
        for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) result[i] = image[i];
        return;
    }
    const float *params = augmentation + (u64)blockIdx.x * PARAM_COUNT;
    const float *matrix = params, *shift = params + 4;
    __shared__ float padded[PADDED * PADDED], thickened[PADDED * PADDED], knots[2 * KNOTS * KNOTS];
    for (unsigned i = threadIdx.x; i < PADDED * PADDED; i += blockDim.x) {
        int y = (int)(i / PADDED) - MARGIN, x = (int)(i % PADDED) - MARGIN;
        padded[i] = y >= 0 && y < SIDE && x >= 0 && x < SIDE ? image[y * SIDE + x] : 0;
    }
    for (unsigned i = threadIdx.x; i < 2 * KNOTS * KNOTS; i += blockDim.x) knots[i] = params[7 + i];
    __syncthreads();
    // Thicker: towards the maximum of a pixel and its four neighbors; thinner: towards their minimum.
    float thicker = fmaxf(params[6], 0), thinner = fmaxf(-params[6], 0);
    for (unsigned i = threadIdx.x; i < PADDED * PADDED; i += blockDim.x) {
        unsigned y = i / PADDED, x = i % PADDED;
        float pixel = padded[i], max = pixel, min = pixel;
        bool inner = y > 0 && y < PADDED - 1 && x > 0 && x < PADDED - 1;
        const int neighbors[4] = {-1, 1, -PADDED, PADDED};
        for (int k = 0; inner && k < 4; k++) {
            max = fmaxf(max, padded[(int)i + neighbors[k]]);
            min = fminf(min, padded[(int)i + neighbors[k]]);
        }
        thickened[i] = pixel + (max - pixel) * thicker + (min - pixel) * thinner;
    }
    __syncthreads();
    const float center = (SIDE - 1) / 2.0f;
    for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        unsigned row = i / SIDE, column = i % SIDE;
        float u = column - center - shift[0], v = row - center - shift[1], source[2];
        for (unsigned axis = 0; axis < 2; axis++) {
            float bend = 0;
            for (unsigned b = 0; b < KNOTS; b++) {
                float along_row = 0;
                for (unsigned a = 0; a < KNOTS; a++) along_row += spline[row * KNOTS + a] * knots[(axis * KNOTS + a) * KNOTS + b];
                bend += along_row * spline[column * KNOTS + b];
            }
            float affine = u * matrix[2 * axis] + v * matrix[2 * axis + 1];
            source[axis] = fminf(fmaxf(affine + (center + MARGIN) + bend, 0), PADDED - 2);
        }
        // Bilinear interpolation.
        float x = floorf(source[0]), y = floorf(source[1]);
        const float *corner = thickened + (unsigned)y * PADDED + (unsigned)x;
        float upper = lerp(corner[0], corner[1], source[0] - x), lower = lerp(corner[PADDED], corner[PADDED + 1], source[0] - x);
        result[i] = floorf(lerp(upper, lower, source[1] - y) + 0.5f);
    }
}
