// Owns gathering a batch, with its pictures changed. Must not know how a change is drawn.

#pragma once
#include "common.cuh"

// A batch: the pictures and labels at these positions, changed as `variations` says where there are some; a block for each picture.
// `data::augment` says what is done, train/device_batches.rs what stands where.
#define SIDE 28
#define MARGIN 2
#define WIDE (SIDE + 2 * MARGIN)
#define KNOTS 7
#define NUMBERS (7 + 2 * KNOTS * KNOTS)

__device__ __forceinline__ float between(float a, float b, float share) { return a + (b - a) * share; }

extern "C" __global__ void gather_batch(const unsigned char *images, const float *ones, const unsigned *order, const float *variations,
                                        const float *spline, float *pixels, float *labels, unsigned classes)
{
    const unsigned char *image = images + (u64)order[blockIdx.x] * SIDE * SIDE;
    float *result = pixels + (u64)blockIdx.x * SIDE * SIDE;
    for (unsigned k = threadIdx.x; k < classes; k += blockDim.x) labels[blockIdx.x * classes + k] = ones[order[blockIdx.x] * classes + k];
    if (!variations) {
        for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) result[i] = image[i];
        return;
    }
    const float *numbers = variations + (u64)blockIdx.x * NUMBERS;
    __shared__ float old[WIDE * WIDE], stroke[WIDE * WIDE], knots[2 * KNOTS * KNOTS];
    for (unsigned i = threadIdx.x; i < WIDE * WIDE; i += blockDim.x) {
        int y = (int)(i / WIDE) - MARGIN, x = (int)(i % WIDE) - MARGIN;
        old[i] = y >= 0 && y < SIDE && x >= 0 && x < SIDE ? image[y * SIDE + x] : 0;
    }
    for (unsigned i = threadIdx.x; i < 2 * KNOTS * KNOTS; i += blockDim.x) knots[i] = numbers[7 + i];
    __syncthreads();
    float wider = fmaxf(numbers[6], 0), narrower = fmaxf(-numbers[6], 0);
    for (unsigned i = threadIdx.x; i < WIDE * WIDE; i += blockDim.x) {
        unsigned y = i / WIDE, x = i % WIDE;
        float pixel = old[i], largest = pixel, smallest = pixel;
        bool inner = y > 0 && y < WIDE - 1 && x > 0 && x < WIDE - 1;
        const int beside[4] = {-1, 1, -WIDE, WIDE};
        for (int side = 0; inner && side < 4; side++) {
            largest = fmaxf(largest, old[(int)i + beside[side]]);
            smallest = fminf(smallest, old[(int)i + beside[side]]);
        }
        stroke[i] = pixel + (largest - pixel) * wider + (smallest - pixel) * narrower;
    }
    __syncthreads();
    const float middle = (SIDE - 1) / 2.0f;
    for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        unsigned row = i / SIDE, column = i % SIDE;
        float u = column - middle - numbers[4], v = row - middle - numbers[5], at[2];
        for (unsigned axis = 0; axis < 2; axis++) {
            float bend = 0;
            for (unsigned b = 0; b < KNOTS; b++) {
                float down = 0;
                for (unsigned a = 0; a < KNOTS; a++) down += spline[row * KNOTS + a] * knots[(axis * KNOTS + a) * KNOTS + b];
                bend += down * spline[column * KNOTS + b];
            }
            float straight = u * numbers[2 * axis] + v * numbers[2 * axis + 1];
            at[axis] = fminf(fmaxf(straight + (middle + MARGIN) + bend, 0), WIDE - 2);
        }
        float x = floorf(at[0]), y = floorf(at[1]);
        const float *corner = stroke + (unsigned)y * WIDE + (unsigned)x;
        float upper = between(corner[0], corner[1], at[0] - x), lower = between(corner[WIDE], corner[WIDE + 1], at[0] - x);
        result[i] = floorf(between(upper, lower, at[1] - y) + 0.5f);
    }
}
