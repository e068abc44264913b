// The pixels under a convolution's kernel, copied to shared memory as they are needed instead of im2col's matrix ("implicit GEMM", Chetlur et al.
// 2014). For channels in multiples of four.

#pragma once
#include "geometry.cuh"

// Stages of the pipeline: parts of shared memory, of which one is multiplied while the next ones arrive.
#define STAGES 3

// Starts to copy 16 bytes to shared memory, zeros where `from` is not to be read.
__device__ __forceinline__ void copy_async(float *shared, const float *from, bool valid)
{
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0) : "memory");
}

// Copies that were started since the last call are a group.
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until all groups but the last STAGES - 2 have arrived.
__device__ __forceinline__ void await_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory"); }

// Where the patch of an output pixel begins: index and position of its first pixel, which may be outside of the image. Of a row beyond the last, all is.
struct __align__(8) PatchOrigin {
    int index;
    short top, left;
};

__device__ __forceinline__ PatchOrigin patch_origin(unsigned row, unsigned rows, const Geometry &g)
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

// Copies four neighboring elements of a patch, zeros outside of the image.
__device__ __forceinline__ void copy_patch(float *shared, const float *x, PatchOrigin at, Tap tap, const Geometry &g)
{
    bool inside = (unsigned)(at.top + tap.y) < g.height && (unsigned)(at.left + tap.x) < g.width.value;
    copy_async(shared, x + (inside ? (long long)at.index * g.channels.value + tap.offset : 0), inside);
}

// Where a row's four neighboring elements are in shared memory, [rows, SLAB]: swizzled, so that eight threads that read those of eight rows at once have
// no bank conflicts.
template <unsigned SLAB> __device__ __forceinline__ unsigned swizzled(unsigned row, unsigned four)
{
    constexpr unsigned FOURS = SLAB / 4;
    return row * SLAB + 4 * (four ^ row / (8 / FOURS) % FOURS);
}

// Copies ROWS rows of patches, SLAB elements at a time.
template <unsigned ROWS, unsigned SLAB, unsigned THREADS> struct PatchRows {
    static constexpr unsigned FOURS = SLAB / 4, STEP = THREADS / FOURS, COUNT = ROWS / STEP;
    PatchOrigin origins[COUNT];

    __device__ __forceinline__ PatchRows(unsigned first_row, unsigned rows, const Geometry &g)
    {
#pragma unroll
        for (unsigned j = 0; j < COUNT; j++) origins[j] = patch_origin(first_row + threadIdx.x / FOURS + STEP * j, rows, g);
    }

    __device__ __forceinline__ void copy(float *shared, const float *x, unsigned slab, const Geometry &g) const
    {
        unsigned four = threadIdx.x % FOURS;
        Tap at = tap(slab * SLAB + 4 * four, g);
#pragma unroll
        for (unsigned j = 0; j < COUNT; j++) copy_patch(shared + swizzled<SLAB>(threadIdx.x / FOURS + STEP * j, four), x, origins[j], at, g);
    }
};

// Multiplies one slab after the other, each in a stage of shared memory, while the next ones are copied.
template <typename Copy, typename Multiply> __device__ __forceinline__ void through_stages(unsigned slabs, Copy copy, Multiply multiply)
{
    for (unsigned slab = 0, stage = 0; slab < slabs; slab++) {
        await_copies();
        __syncthreads();
        copy(slab + STAGES - 1, stage == 0 ? STAGES - 1 : stage - 1);
        multiply(stage);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
}

// What a block of a weight gradient reads: of a chunk of rows, SLAB at a time, COLUMNS elements of each patch and N of each gradient, with GAP unused ones
// after either.
template <unsigned N, unsigned COLUMNS, unsigned GAP, unsigned SLAB, unsigned THREADS> struct ChunkRows {
    static constexpr unsigned ROW = COLUMNS + GAP, GRADIENT_ROW = N + GAP, FLOATS = SLAB * (ROW + GRADIENT_ROW);
    const float *x, *gradient;
    // Memory of STAGES stages, and of the origins of two slabs: of the one that is copied, and of the next.
    float *shared;
    PatchOrigin (*origins)[SLAB];
    unsigned begin, end, first_output;
    Tap at;

    __device__ __forceinline__ ChunkRows(const float *x, const float *gradient, float *shared, PatchOrigin (*origins)[SLAB], unsigned chunk_rows, const Geometry &g)
        : x(x), gradient(gradient), shared(shared), origins(origins), begin(blockIdx.z * chunk_rows),
          end(min(begin + chunk_rows, g.images * g.out_height.value * g.out_width.value)), first_output(blockIdx.y * N),
          at(tap(blockIdx.x * COLUMNS + threadIdx.x % (COLUMNS / 4) * 4, g))
    {
    }

    __device__ __forceinline__ void find_origins(unsigned slab, const Geometry &g) const
    {
        if (threadIdx.x < SLAB) origins[slab % 2][threadIdx.x] = patch_origin(begin + slab * SLAB + threadIdx.x, end, g);
    }

    // The origins have to be there.
    __device__ __forceinline__ void copy(unsigned slab, unsigned stage, const Geometry &g) const
    {
        constexpr unsigned FOURS = COLUMNS / 4, STEP = THREADS / FOURS;
        float *patches = shared + stage * FLOATS, *gradients = patches + SLAB * ROW;
        unsigned first = begin + slab * SLAB, outputs = g.outputs.value;
        if (first < end) {
#pragma unroll
            for (unsigned j = 0; j < SLAB / STEP; j++) {
                unsigned row = threadIdx.x / FOURS + STEP * j;
                copy_patch(patches + row * ROW + threadIdx.x % FOURS * 4, x, origins[slab % 2][row], at, g);
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
        commit_copies();
    }

    // Calls `multiply` with the patches and gradients of each slab.
    template <typename Multiply> __device__ __forceinline__ void multiply_slabs(const Geometry &g, Multiply multiply) const
    {
        for (unsigned slab = 0; slab < STAGES - 1; slab++) find_origins(slab, g);
        __syncthreads();
        for (unsigned slab = 0; slab < STAGES - 1; slab++) copy(slab, slab, g);
        __syncthreads();
        find_origins(STAGES - 1, g);
        through_stages(
            (end - begin + SLAB - 1) / SLAB,
            [&](unsigned slab, unsigned stage) {
                find_origins(slab + 1, g);
                copy(slab, stage, g);
            },
            [&](unsigned stage) { multiply(shared + stage * FLOATS, shared + stage * FLOATS + SLAB * ROW); });
    }
};

// The weights of a convolution without im2col, in f32: [outputs, patch_len], or its transpose with columns up to `padded`. `flipped`: that of the gradient
// of its input, whose channels are the outputs of `weight`.
extern "C" __global__ void pack_implicit_weight(const float *weight, float *packed, unsigned padded, unsigned flipped, Geometry g)
{
    unsigned outputs = g.outputs.value, area = g.size.value * g.size.value;
    ELEMENT_INDEX(g.patch_len * (padded ? padded : outputs));
    unsigned output = padded ? i % padded : i / g.patch_len, tap = padded ? i / padded : i % g.patch_len, channel = divmod(tap, g.channels);
    float value = 0;
    if (output < outputs && tap < area)
        value = weight[flipped ? (channel * outputs + output) * area + area - 1 - tap : (output * g.channels.value + channel) * area + tap];
    packed[i] = value;
}
