/* What Inkling calls of NVIDIA's cuBLASLt: it suggests three algorithms for each product, which compute the same. The second fails where it is used. */
#include "blas.c"

enum { ALGORITHMS = 3, FAILING = 1 };
enum { DESC_TRANSPOSE_A = 3, DESC_TRANSPOSE_B = 4, LAYOUT_BATCH = 5, LAYOUT_STRIDE = 6 };

struct operation { int compute, transpose_a, transpose_b; };
struct layout { int kind; long long rows, columns, lead; int count; long long stride; };
struct algorithm { uint64_t number[8]; };
struct suggestion { struct algorithm algorithm; size_t workspace; int state; float waves; int reserved[4]; };

int cublasLtCreate(void **handle) { *handle = malloc(1); return 0; }
int cublasLtDestroy(void *handle) { free(handle); return 0; }
size_t cublasLtGetVersion(void) { return 130000; }

int cublasLtMatmulDescCreate(struct operation **made, int compute, int scale)
{
    if (scale != F32) return 7;
    *made = calloc(1, sizeof **made);
    (*made)->compute = compute;
    return 0;
}
int cublasLtMatmulDescDestroy(struct operation *operation) { free(operation); return 0; }
int cublasLtMatmulDescSetAttribute(struct operation *operation, int attribute, const void *value, size_t size)
{
    if (size != sizeof(int)) return 7;
    if (attribute == DESC_TRANSPOSE_A) operation->transpose_a = *(const int *)value;
    else if (attribute == DESC_TRANSPOSE_B) operation->transpose_b = *(const int *)value;
    else return 7;
    return 0;
}

int cublasLtMatrixLayoutCreate(struct layout **made, int kind, uint64_t rows, uint64_t columns, int64_t lead)
{
    *made = malloc(sizeof **made);
    **made = (struct layout){kind, rows, columns, lead, 1, 0};
    return 0;
}
int cublasLtMatrixLayoutDestroy(struct layout *layout) { free(layout); return 0; }
int cublasLtMatrixLayoutSetAttribute(struct layout *layout, int attribute, const void *value, size_t size)
{
    if (attribute == LAYOUT_BATCH && size == sizeof(int)) layout->count = *(const int *)value;
    else if (attribute == LAYOUT_STRIDE && size == sizeof(long long)) layout->stride = *(const long long *)value;
    else return 7;
    return 0;
}

int cublasLtMatmulPreferenceCreate(void **preference) { *preference = malloc(1); return 0; }
int cublasLtMatmulPreferenceDestroy(void *preference) { free(preference); return 0; }
int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value, size_t size)
{
    (void)preference, (void)value;
    return attribute == 1 ? (size == 8 ? 0 : 7) : attribute >= 5 && attribute <= 8 && size == 4 ? 0 : 7;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, struct operation *operation, struct layout *a, struct layout *b, struct layout *c, struct layout *d,
                                   void *preference, int asked, struct suggestion *suggested, int *count)
{
    (void)handle, (void)operation, (void)preference;
    if (a->count != b->count || a->count != c->count || c != d) return 7;
    *count = asked < ALGORITHMS ? asked : ALGORITHMS;
    for (int number = 0; number < *count; number++) suggested[number] = (struct suggestion){.algorithm = {{number}}, .state = 0};
    return 0;
}

int cublasLtMatmul(void *handle, struct operation *operation, const void *alpha, const void *a, struct layout *layout_a, const void *b, struct layout *layout_b,
                   const void *beta, const void *c, struct layout *layout_c, void *d, struct layout *layout_d, const struct algorithm *algorithm,
                   void *workspace, size_t workspace_size, void *stream)
{
    (void)stream;
    if (!workspace || !workspace_size || c != d || layout_c != layout_d || algorithm->number[0] >= ALGORITHMS) return 7;
    if (algorithm->number[0] == FAILING) return 15;
    int k = operation->transpose_a ? layout_a->rows : layout_a->columns;
    if (k != (operation->transpose_b ? layout_b->columns : layout_b->rows)) return 7;
    return cublasGemmStridedBatchedEx(handle, operation->transpose_a, operation->transpose_b, layout_d->rows, layout_d->columns, k, alpha, a, layout_a->kind,
                                      layout_a->lead, layout_a->stride, b, layout_b->kind, layout_b->lead, layout_b->stride, beta, d, layout_d->kind,
                                      layout_d->lead, layout_d->stride, layout_d->count, operation->compute, 0);
}
