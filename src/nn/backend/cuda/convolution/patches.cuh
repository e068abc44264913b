// The pixels under a convolution's kernel, copied to shared memory as they are needed instead of im2col's matrix ("implicit GEMM", Chetlur et al.
// 2014). For channels in multiples of four.

#pragma once
#include "geometry.cuh"

// Parts of shared memory, of which one is multiplied while the next ones arrive.
#define STAGES 3

// Starts to copy 16 bytes to shared memory, zeros where `from` is not to be read.
__device__ __forceinline__ void copy_async(float *shared, const float *from, bool valid)
{
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0) : "memory");
}

// Copies that were started since the last call are a group.
__device__ __forceinline__ void end_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until all groups but the last STAGES - 2 have arrived.
__device__ __forceinline__ void await_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory"); }

// Where an output pixel's patch begins: the index and position of its first pixel, which may be outside of the image. Of a row beyond the last, all is.
struct __align__(8) Corner {
    int index;
    short top, left;
};

__device__ __forceinline__ Corner corner(unsigned row, unsigned rows, const Geometry &g)
{
    if (row >= rows) return {0, -0x4000, 0};
    unsigned image = row, x = divmod(image, g.out_width), y = divmod(image, g.out_height);
    int top = (int)(y * g.stride) - (int)g.padding, left = (int)(x * g.stride) - (int)g.padding;
    return {((int)(image * g.height) + top) * (int)g.width.value + left, (short)top, (short)left};
}

// Where an element of a patch is, from its first pixel: in elements, and in rows and columns. Beyond the patch's end, everything is outside.
struct Tap {
    int offset, y, x;
};

__device__ __forceinline__ Tap tap(unsigned column, const Geometry &g)
{
    unsigned y = column, channel = divmod(y, g.channels), x = divmod(y, g.size);
    if (y >= g.size.value) y = 0x8000;
    return {(int)((y * g.width.value + x) * g.channels.value + channel), (int)y, (int)x};
}

// Copies four neighbouring elements of a patch, zeros outside of the image.
__device__ __forceinline__ void copy_patch(float *shared, const float *x, Corner at, Tap tap, const Geometry &g)
{
    bool inside = (unsigned)(at.top + tap.y) < g.height && (unsigned)(at.left + tap.x) < g.width.value;
    copy_async(shared, x + (inside ? (long long)at.index * g.channels.value + tap.offset : 0), inside);
}

// Where a row's four neighbouring elements are in shared memory, [rows, SLAB]: eight threads that read those of eight rows at once read from all of its
// banks.
template <unsigned SLAB> __device__ __forceinline__ unsigned place(unsigned row, unsigned four)
{
    constexpr unsigned FOURS = SLAB / 4;
    return row * SLAB + 4 * (four ^ row / (8 / FOURS) % FOURS);
}

// Copies ROWS rows of patches, SLAB elements at a time.
template <unsigned ROWS, unsigned SLAB, unsigned THREADS> struct PatchRows {
    static constexpr unsigned FOURS = SLAB / 4, STEP = THREADS / FOURS, COUNT = ROWS / STEP;
    Corner corners[COUNT];

    __device__ __forceinline__ PatchRows(unsigned first_row, unsigned rows, const Geometry &g)
    {
#pragma unroll
        for (unsigned j = 0; j < COUNT; j++) corners[j] = corner(first_row + threadIdx.x / FOURS + STEP * j, rows, g);
    }

    __device__ __forceinline__ void copy(float *shared, const float *x, unsigned slab, const Geometry &g) const
    {
        unsigned four = threadIdx.x % FOURS;
        Tap at = tap(slab * SLAB + 4 * four, g);
#pragma unroll
        for (unsigned j = 0; j < COUNT; j++) copy_patch(shared + place<SLAB>(threadIdx.x / FOURS + STEP * j, four), x, corners[j], at, g);
    }
};

// Copies the patches and gradients of the rows from `begin` to `end`, SLAB at a time: COLUMNS elements of each patch and N of each gradient, with GAP
// unused ones after either.
template <unsigned N, unsigned COLUMNS, unsigned GAP, unsigned SLAB, unsigned THREADS> struct SlabRows {
    static constexpr unsigned ROW = COLUMNS + GAP, GRADIENT_ROW = N + GAP, FLOATS = SLAB * (ROW + GRADIENT_ROW);
    // Of two slabs: of that which is copied, and of the next.
    Corner (*corners)[SLAB];
    unsigned begin, end;
    Tap at;

    __device__ __forceinline__ void find_corners(unsigned slab, const Geometry &g) const
    {
        if (threadIdx.x < SLAB) corners[slab % 2][threadIdx.x] = corner(begin + slab * SLAB + threadIdx.x, end, g);
    }

    // The corners have to be there.
    __device__ __forceinline__ void copy(float *patches, const float *x, const float *gradient, unsigned slab, unsigned first_output, const Geometry &g) const
    {
        constexpr unsigned FOURS = COLUMNS / 4, STEP = THREADS / FOURS;
        float *gradients = patches + SLAB * ROW;
        unsigned first = begin + slab * SLAB, outputs = g.outputs.value;
#pragma unroll
        for (unsigned j = 0; j < SLAB / STEP; j++) {
            unsigned row = threadIdx.x / FOURS + STEP * j;
            copy_patch(patches + row * ROW + threadIdx.x % FOURS * 4, x, corners[slab % 2][row], at, g);
        }
#pragma unroll
        for (unsigned i = threadIdx.x; i < SLAB * N / 4; i += THREADS) {
            unsigned row = i / (N / 4), n = i % (N / 4) * 4;
            bool inside = first + row < end && first_output + n < outputs;
            const float *from = gradient + (u64)(first + row) * outputs + first_output + n;
            float *to = gradients + row * GRADIENT_ROW + n;
            if (outputs % 4 == 0) copy_async(to, inside ? from : gradient, inside);
            else
                for (unsigned k = 0; k < 4; k++) to[k] = inside && first_output + n + k < outputs ? from[k] : 0;
        }
    }
};

// The kernel of a convolution without im2col, in f32: [outputs, patch_len], or its transpose with columns up to `padded`. `flipped`: that of the gradient
// of its input, whose channels are the outputs of `weight`.
extern "C" __global__ void pack_kernel(const float *weight, float *packed, unsigned padded, unsigned flipped, Geometry g)
{
    unsigned outputs = g.outputs.value, area = g.size.value * g.size.value;
    ELEMENT_INDEX(g.patch_len * (padded ? padded : outputs));
    unsigned output = padded ? i % padded : i / g.patch_len, tap = padded ? i / padded : i % g.patch_len, channel = divmod(tap, g.channels);
    float value = 0;
    if (output < outputs && tap < area)
        value = weight[flipped ? (channel * outputs + output) * area + area - 1 - tap : (output * g.channels.value + channel) * area + tap];
    packed[i] = value;
}
