/* The matrix products of NVIDIA's cuBLAS that Inkling and candle call. Column-major; sums in f32. */
#include "threads.h"
#include <stdlib.h>

enum { F32 = 0, F16 = 2, BF16 = 14 };
/* Sums in f32, of the operands as they are or truncated to TF32. */
enum { COMPUTE_F32 = 68, COMPUTE_TF32 = 77 };

int cublasCreate_v2(void **handle) { *handle = malloc(1); return 0; }
int cublasDestroy_v2(void *handle) { free(handle); return 0; }
int cublasSetStream_v2(void *handle, void *stream) { (void)handle, (void)stream; return 0; }
int cublasSetWorkspace_v2(void *handle, void *workspace, size_t size) { (void)handle, (void)workspace, (void)size; return 0; }
int cublasSetMathMode(void *handle, int mode) { (void)handle, (void)mode; return 0; }

static float element(const void *values, int kind, long index)
{
    if (kind == F32) return ((const float *)values)[index];
    uint16_t bits = ((const uint16_t *)values)[index];
    return kind == F16 ? float_of_half(bits) : float_of_bfloat(bits);
}

/* Truncated to the 10 mantissa bits of TF32: the largest error a GPU may make. */
static float to_tf32(float value)
{
    union { float value; uint32_t bits; } both = {value};
    both.bits &= ~0x1fffu;
    return both.value;
}

/* op(a) or op(b) as columns of `rows` elements each, one after the other. */
static float *columns(const void *values, int kind, int transposed, long rows, long count, long lead, int compute)
{
    float *result = malloc(sizeof(float) * rows * count + 1);
#pragma omp parallel for
    for (long column = 0; column < count; column++)
        for (long row = 0; row < rows; row++) {
            float value = element(values, kind, transposed ? row * lead + column : column * lead + row);
            result[column * rows + row] = compute == COMPUTE_TF32 ? to_tf32(value) : value;
        }
    return result;
}

int cublasGemmStridedBatchedEx(void *handle, int transpose_a, int transpose_b, int m, int n, int k, const void *alpha, const void *a, int kind_a, int lead_a,
                               long long stride_a, const void *b, int kind_b, int lead_b, long long stride_b, const void *beta, void *c,
                               int kind_c, int lead_c, long long stride_c, int count, int compute, int algorithm)
{
    (void)handle, (void)algorithm;
    if (compute != COMPUTE_F32 && compute != COMPUTE_TF32) return 15;
    if (lead_a < (transpose_a ? k : m) || lead_b < (transpose_b ? n : k) || lead_c < m || count < 0) return 7;
    const float scale = *(const float *)alpha, previous = *(const float *)beta;
    const long size_a = kind_a == F32 ? 4 : 2, size_b = kind_b == F32 ? 4 : 2, size_c = kind_c == F32 ? 4 : 2;
    for (int batch = 0; batch < count; batch++) {
        float *left = columns((const char *)a + batch * stride_a * size_a, kind_a, transpose_a, m, k, lead_a, compute);
        float *right = columns((const char *)b + batch * stride_b * size_b, kind_b, transpose_b, k, n, lead_b, compute);
        char *result = (char *)c + batch * stride_c * size_c;
#pragma omp parallel for
        for (long column = 0; column < n; column++) {
            float *sum = calloc(m, sizeof(float));
            for (long inner = 0; inner < k; inner++) {
                float factor = right[column * k + inner];
                const float *from = left + inner * m;
                for (long row = 0; row < m; row++) sum[row] += from[row] * factor;
            }
            for (long row = 0; row < m; row++) {
                long index = column * lead_c + row;
                float value = scale * sum[row] + (previous == 0 ? 0 : previous * element(result, kind_c, index));
                if (kind_c == F32) ((float *)result)[index] = value;
                else ((uint16_t *)result)[index] = kind_c == F16 ? half_of(value) : bfloat_of(value);
            }
            free(sum);
        }
        free(left);
        free(right);
    }
    return 0;
}

int cublasGemmEx(void *handle, int transpose_a, int transpose_b, int m, int n, int k, const void *alpha, const void *a, int kind_a, int lead_a, const void *b,
                 int kind_b, int lead_b, const void *beta, void *c, int kind_c, int lead_c, int compute, int algorithm)
{
    return cublasGemmStridedBatchedEx(handle, transpose_a, transpose_b, m, n, k, alpha, a, kind_a, lead_a, 0, b, kind_b, lead_b, 0, beta, c, kind_c, lead_c,
                                      0, 1, compute, algorithm);
}
