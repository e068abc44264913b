/* What translated kernels are written in: threads, and PTX's arithmetic where it differs from C's. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define MAX_COPIES 64

/* A copy to shared memory that was started and that nobody has waited for. */
struct copy { uint8_t *to; const uint8_t *from; uint32_t bytes, read, group; };

struct thread {
    uint32_t thread[3], threads[3], block[3], blocks[3];
    uint32_t lane, carry;
    struct group *group;
    void *stack;
    int ended;
    uint32_t copy_count, copy_groups, products;
    struct copy copies[MAX_COPIES];
};

struct kernel {
    /* The kernel for one thread, and for all threads of a block one after the other, where they do not synchronize. */
    void (*thread)(struct thread *self, uint8_t *shared, const uint8_t *arguments);
    void (*block)(struct thread *self, uint8_t *shared, const uint8_t *arguments);
    uint32_t shared;
    uint32_t parameters;
    struct { uint32_t offset, size; } parameter[64];
    int waits;
};

#define KERNEL(name, ...)                                                                 \
    static void all_threads(struct thread *self, uint8_t *shared, const uint8_t *arguments)  \
    {                                                                                     \
        for (self->thread[2] = 0; self->thread[2] < self->threads[2]; self->thread[2]++)  \
            for (self->thread[1] = 0; self->thread[1] < self->threads[1]; self->thread[1]++) \
                for (self->thread[0] = 0; self->thread[0] < self->threads[0]; self->thread[0]++) name(self, shared, arguments); \
    }                                                                                     \
    const struct kernel kernel = {name, all_threads, __VA_ARGS__}

/* From threads.c. */
void wait_for_block(struct thread *self);
void wait_for_warp(struct thread *self);
uint32_t *in_warp(struct thread *self, uint32_t lane);
struct matrices *matrices_of_warp(struct thread *self, uint32_t number);
void asserted(struct thread *self);

static inline float float_of(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline double double_of(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
static inline uint32_t bits_of(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
static inline uint64_t bits_of_double(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }
static inline float float_of_half(uint16_t bits) { _Float16 x; memcpy(&x, &bits, 2); return (float)x; }
static inline uint16_t half_of(double x) { _Float16 half = (_Float16)x; uint16_t bits; memcpy(&bits, &half, 2); return bits; }
static inline float float_of_bfloat(uint16_t bits) { return float_of((uint32_t)bits << 16); }
static inline uint16_t bfloat_of(double x)
{
    uint32_t bits = bits_of((float)x);
    return isnan(x) ? 0x7fff : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

/* Rounded to TF32, ties away from zero. */
static inline uint32_t tf32_of(float x)
{
    uint32_t bits = bits_of(x);
    return isfinite(x) ? (bits + 0x1000) & ~0x1fffu : bits;
}

#define saturated(x, low, high, type, least, most) \
    ({ double v = (x); isnan(v) ? (type)0 : v < (low) ? (type)(least) : v >= (high) ? (type)(most) : (type)v; })

static inline float directed(double x, char how)
{
    float near = (float)x;
    int above = near > x, below = near < x;
    if (above && (how == 'm' || (how == 'z' && x > 0))) return nextafterf(near, -INFINITY);
    if (below && (how == 'p' || (how == 'z' && x < 0))) return nextafterf(near, INFINITY);
    return near;
}

static inline uint32_t high_u32(uint32_t a, uint32_t b) { return ((uint64_t)a * b) >> 32; }
static inline int32_t high_s32(int32_t a, int32_t b) { return ((int64_t)a * b) >> 32; }
static inline uint64_t high_u64(uint64_t a, uint64_t b) { return ((unsigned __int128)a * b) >> 64; }
static inline int64_t high_s64(int64_t a, int64_t b) { return ((__int128)a * b) >> 64; }
static inline uint32_t leading_zeros(uint64_t x, int width) { return x ? __builtin_clzll(x) - (64 - width) : width; }
static inline uint64_t inserted(uint64_t a, uint64_t b, uint32_t start, uint32_t count, int width)
{
    uint64_t mask = (count >= 64 ? ~0ull : (1ull << count) - 1);
    mask = start >= (uint32_t)width ? 0 : mask << start;
    return (b & ~mask) | ((start >= 64 ? 0 : a << start) & mask);
}
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int byte_index = 0; byte_index < 4; byte_index++) {
        uint32_t chosen = selector >> (4 * byte_index) & 15, byte = both >> (8 * (chosen & 7)) & 255;
        result |= (chosen & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * byte_index);
    }
    return result;
}

/* `cp.async`: what is copied arrives only when it is waited for, as late as it may on a GPU. */
static inline void start_copy(struct thread *self, uint8_t *to, uint64_t from, uint32_t bytes, uint32_t read)
{
    if (self->copy_count == MAX_COPIES) return asserted(self);
    self->copies[self->copy_count++] = (struct copy){to, (const uint8_t *)(uintptr_t)from, bytes, read, self->copy_groups};
}
static inline void await_copies(struct thread *self, uint32_t groups)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < self->copy_count; i++) {
        struct copy copy = self->copies[i];
        if (copy.group + groups >= self->copy_groups) {
            self->copies[left++] = copy;
            continue;
        }
        memcpy(copy.to, copy.from, copy.read);
        memset(copy.to + copy.read, 0, copy.bytes - copy.read);
    }
    self->copy_count = left;
}

/* `shfl.sync`: another lane's value where it is in range, else the lane's own. The caller has lanes wait once more before they continue. */
static inline uint32_t shuffled(struct thread *self, uint32_t x, uint32_t b, uint32_t c, char how, int *in_range)
{
    uint32_t lane = self->lane, clamp = c & 31, segment = c >> 8 & 31;
    uint32_t first = lane & segment, last = first | (clamp & ~segment), from = 0;
    *in_warp(self, lane) = x;
    wait_for_warp(self);
    switch (how) {
    case 'u': from = lane - b; *in_range = (int32_t)from >= (int32_t)last; break;
    case 'd': from = lane + b; *in_range = from <= last; break;
    case 'b': from = lane ^ b; *in_range = from <= last; break;
    default: from = first | (b & 31 & ~segment); *in_range = from <= last;
    }
    return *in_warp(self, *in_range ? from : lane);
}

/* `mma.sync`: a warp adds the product of a 16xK and a Kx8 matrix, K = 8 of TF32 or 16 of two half-precision numbers in a register, to sums in f32. Every
   lane gives four registers of the left matrix and two of the right one. Of products that follow each other, all matrices are put down before the warp
   waits once; the next ones are put elsewhere, because lanes may still read. */
#define MOST_PRODUCTS 16
struct matrices { float left[16][16], right[8][16]; };
static inline void put_fragment(float *row, uint32_t k, uint32_t bits, char format)
{
    if (format == 't') row[k] = float_of(bits & ~0x1fffu);
    else
        for (int i = 0; i < 2; i++, bits >>= 16) row[2 * k + i] = format == 'b' ? float_of_bfloat(bits & 0xffff) : float_of_half(bits & 0xffff);
}
static inline void put_matrices(struct thread *self, uint32_t number, const uint32_t left[4], const uint32_t right[2], char format)
{
    struct matrices *matrices = matrices_of_warp(self, number);
    uint32_t row = self->lane / 4, column = self->lane % 4;
    for (int i = 0; i < 4; i++) put_fragment(matrices->left[row + i % 2 * 8], column + i / 2 * 4, left[i], format);
    for (int i = 0; i < 2; i++) put_fragment(matrices->right[row], column + i * 4, right[i], format);
}
static inline void multiply_matrices(struct thread *self, uint32_t number, const uint32_t sums[4], uint32_t result[4], char format)
{
    const struct matrices *matrices = matrices_of_warp(self, number);
    uint32_t row = self->lane / 4, column = self->lane % 4;
    for (int i = 0; i < 4; i++) {
        const float *a = matrices->left[row + i / 2 * 8], *b = matrices->right[2 * column + i % 2];
        float sum = float_of(sums[i]);
        for (int k = 0; k < (format == 't' ? 8 : 16); k++) sum += a[k] * b[k];
        result[i] = bits_of(sum);
    }
}
