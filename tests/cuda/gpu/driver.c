/* NVIDIA's driver (libcuda) for one GPU that the CPU emulates: memory, modules, launches. Calls are synchronous.

   Allocated memory is filled with NaNs (all bits set) and followed by a page without access: reading beyond it is a segmentation fault, as is reading
   what was freed. EMULATED_GPU_COUNTS names a file to which the number of launches and copies is appended, EMULATED_GPU_MEMORY limits the memory
   (bytes), EMULATED_GPU_CACHE names the folder of translated kernels. */
#define _GNU_SOURCE
#include "run.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OK, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, ASSERTED = 710 };
#define PAGE 4096ul
#define MAX_FUNCTIONS 4096
#define MAX_ALLOCATIONS 65536

struct allocation { uint64_t start, size, mapped; void *page; };
struct function { char name[128]; const char *module; const struct kernel *kernel; long launches; };

static struct allocation allocations[MAX_ALLOCATIONS];
static struct function functions[MAX_FUNCTIONS];
static int allocation_count, function_count;
static uint64_t used, peak;
static long copies_to, bytes_to, copies_from, copies_within, waits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void report(void)
{
    const char *path = getenv("EMULATED_GPU_COUNTS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    long launches = 0;
    for (int index = 0; index < function_count; index++) {
        launches += functions[index].launches;
        if (functions[index].launches) fprintf(file, "%8ld %s\n", functions[index].launches, functions[index].name);
    }
    fprintf(file, "%8ld launches, %ld copies to the GPU of %ld bytes, %ld from it, %ld within, %ld waits, at most %lu bytes held\n", launches,
            copies_to, bytes_to, copies_from, copies_within, waits, peak);
    fclose(file);
}

int cuInit(unsigned flags) { static int once; if (!once++) atexit(report); return flags ? INVALID_VALUE : OK; }
int cuDriverGetVersion(int *version) { *version = 13000; return OK; }
int cuDeviceGetCount(int *count) { *count = 1; return OK; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal ? 101 : OK; }
int cuDeviceGetName(char *name, int size, int device) { (void)device; snprintf(name, size, "Emulated GPU"); return OK; }
int cuDeviceTotalMem_v2(size_t *size, int device) { (void)device; *size = 8ul << 30; return OK; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    /* Compute capability 8.0; memory pools. */
    *value = attribute == 75 ? 8 : attribute == 76 ? 0 : attribute == 115 ? 1 : attribute == 10 ? 32 : attribute == 16 ? 8 : 1024;
    return OK;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; *context = &allocations; return OK; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return OK; }
int cuDeviceGetDefaultMemPool(void **pool, int device) { (void)device; *pool = &allocations; return OK; }
int cuMemPoolSetAttribute(void *pool, int attribute, void *value) { (void)pool, (void)attribute, (void)value; return OK; }
int cuMemPoolTrimTo(void *pool, size_t keep) { (void)pool, (void)keep; return OK; }
static __thread void *current;
int cuCtxGetCurrent(void **context) { *context = current; return OK; }
int cuCtxSetCurrent(void *context) { current = context; return OK; }
static int synchronize(void) { waits++; return assertion_failed ? ASSERTED : OK; }
int cuCtxSynchronize(void) { return synchronize(); }
int cuStreamCreate(void **stream, unsigned flags) { (void)flags; *stream = malloc(1); return OK; }
int cuStreamDestroy_v2(void *stream) { free(stream); return OK; }
int cuStreamSynchronize(void *stream) { (void)stream; return synchronize(); }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { (void)stream, (void)event, (void)flags; return OK; }
int cuStreamIsCapturing(void *stream, int *status) { (void)stream; *status = 0; return OK; }
int cuEventCreate(void **event, unsigned flags) { (void)flags; *event = calloc(1, sizeof(struct timespec)); return OK; }
int cuEventDestroy_v2(void *event) { free(event); return OK; }
int cuEventRecord(void *event, void *stream) { (void)stream; clock_gettime(CLOCK_MONOTONIC, event); return OK; }
int cuEventElapsedTime_v2(float *milliseconds, void *first, void *last)
{
    const struct timespec *from = first, *to = last;
    *milliseconds = (to->tv_sec - from->tv_sec) * 1e3 + (to->tv_nsec - from->tv_nsec) / 1e6;
    return OK;
}
int cuEventQuery(void *event) { (void)event; return OK; }
int cuEventSynchronize(void *event) { (void)event; return OK; }

static uint64_t limit(void)
{
    const char *text = getenv("EMULATED_GPU_MEMORY");
    return text ? strtoull(text, NULL, 10) : 8ull << 30;
}

int cuMemGetInfo_v2(size_t *left, size_t *total) { *total = limit(); *left = *total - used; return OK; }

int cuMemAlloc_v2(uint64_t *pointer, size_t size)
{
    pthread_mutex_lock(&lock);
    int slot = 0;
    while (slot < allocation_count && allocations[slot].size) slot++;
    if (used + size > limit() || slot == MAX_ALLOCATIONS || size == 0) {
        pthread_mutex_unlock(&lock);
        return size == 0 ? INVALID_VALUE : OUT_OF_MEMORY;
    }
    uint64_t aligned = (size + 15) / 16 * 16, mapped = (aligned + PAGE - 1) / PAGE * PAGE + PAGE;
    uint8_t *page = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + mapped - PAGE, PAGE, PROT_NONE);
    memset(page, 0xff, mapped - PAGE);
    *pointer = (uint64_t)(page + mapped - PAGE - aligned);
    allocations[slot] = (struct allocation){*pointer, size, mapped, page};
    allocation_count = slot == allocation_count ? allocation_count + 1 : allocation_count;
    used += size;
    peak = used > peak ? used : peak;
    pthread_mutex_unlock(&lock);
    return OK;
}
int cuMemAllocAsync(uint64_t *pointer, size_t size, void *stream) { (void)stream; return cuMemAlloc_v2(pointer, size); }

int cuMemFree_v2(uint64_t pointer)
{
    pthread_mutex_lock(&lock);
    for (int slot = 0; slot < allocation_count; slot++) {
        if (allocations[slot].size && allocations[slot].start == pointer) {
            used -= allocations[slot].size;
            munmap(allocations[slot].page, allocations[slot].mapped);
            allocations[slot].size = 0;
            pthread_mutex_unlock(&lock);
            return OK;
        }
    }
    pthread_mutex_unlock(&lock);
    return INVALID_VALUE;
}
int cuMemFreeAsync(uint64_t pointer, void *stream) { (void)stream; return cuMemFree_v2(pointer); }

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) { memcpy((void *)to, from, size); copies_to++; bytes_to += size; return OK; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) { memcpy(to, (void *)from, size); copies_from++; return synchronize(); }
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t size) { memmove((void *)to, (void *)from, size); copies_within++; return OK; }
int cuMemsetD8_v2(uint64_t to, uint8_t value, size_t size) { memset((void *)to, value, size); copies_within++; return OK; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) { (void)stream; return cuMemcpyHtoD_v2(to, from, size); }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) { (void)stream; return cuMemcpyDtoH_v2(to, from, size); }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) { (void)stream; return cuMemcpyDtoD_v2(to, from, size); }
int cuMemsetD8Async(uint64_t to, uint8_t value, size_t size, void *stream) { (void)stream; return cuMemsetD8_v2(to, value, size); }

int cuModuleLoadData(void **module, const void *text) { *module = strdup(text); return OK; }
int cuModuleUnload(void *module) { (void)module; return OK; }

/* A kernel, translated by ptx.py and compiled, once for each module. */
static const struct kernel *translated(const char *text, const char *name)
{
    const char *cache = getenv("EMULATED_GPU_CACHE");
    uint64_t hash = 1469598103934665603ull;
    for (const char *letter = text; *letter; letter++) hash = (hash ^ (uint8_t)*letter) * 1099511628211ull;
    char base[300], file[500], command[5000];
    snprintf(base, sizeof base, "%s/%016lx", cache ? cache : "/tmp", hash);
    snprintf(file, sizeof file, "%s-%s.so", base, name);
    if (access(file, R_OK)) {
        snprintf(command, sizeof command, "%s.ptx", base);
        if (access(command, R_OK)) {
            FILE *module = fopen(command, "w");
            if (!module || fputs(text, module) < 0 || fclose(module)) return NULL;
        }
        snprintf(command, sizeof command,
                 "/usr/bin/python3 " SOURCES "/ptx.py %s.ptx %s > %s-%s.c && gcc -shared -fPIC -O2 -march=native -fwrapv -fno-strict-aliasing -w "
                 "-ffp-contract=off -I" SOURCES " -o %s.part -x c %s-%s.c -lm && mv %s.part %s 1>&2",
                 base, name, base, name, file, base, name, file, file);
        if (system(command)) return NULL;
    }
    void *library = dlopen(file, RTLD_NOW);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library ? dlsym(library, "kernel") : NULL;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    pthread_mutex_lock(&lock);
    int index = 0;
    while (index < function_count && !(functions[index].module == module && !strcmp(functions[index].name, name))) index++;
    if (index == function_count && function_count < MAX_FUNCTIONS) {
        const struct kernel *kernel = translated(module, name);
        if (!kernel) {
            fprintf(stderr, "the emulated GPU cannot run %s\n", name);
            pthread_mutex_unlock(&lock);
            return NOT_FOUND;
        }
        functions[function_count] = (struct function){.module = module, .kernel = kernel};
        snprintf(functions[function_count++].name, sizeof functions->name, "%s", name);
    }
    *function = &functions[index];
    pthread_mutex_unlock(&lock);
    return index < function_count ? OK : NOT_FOUND;
}

int cuFuncSetAttribute(void *function, int attribute, int value) { (void)function, (void)attribute, (void)value; return OK; }

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dynamic, void *stream,
                   void **parameters, void **extra)
{
    (void)stream, (void)extra;
    const struct kernel *kernel = ((struct function *)function)->kernel;
    if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || gy > 65535 || gz > 65535) return INVALID_VALUE;
    if (kernel->shared + dynamic > 48 << 10) return INVALID_VALUE;
    uint8_t arguments[4096] __attribute__((aligned(16)));
    for (uint32_t index = 0; index < kernel->parameters; index++)
        memcpy(arguments + kernel->parameter[index].offset, parameters[index], kernel->parameter[index].size);
    ((struct function *)function)->launches++;
    run_kernel(kernel, arguments, (uint32_t[3]){bx, by, bz}, (uint32_t[3]){gx, gy, gz}, dynamic);
    return OK;
}

static const char *error_name(int error)
{
    switch (error) {
    case INVALID_VALUE: return "CUDA_ERROR_INVALID_VALUE";
    case OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case NOT_FOUND: return "CUDA_ERROR_NOT_FOUND";
    case ASSERTED: return "CUDA_ERROR_ASSERT";
    default: return "CUDA_ERROR_UNKNOWN";
    }
}
int cuGetErrorName(int error, const char **text) { *text = error_name(error); return OK; }
int cuGetErrorString(int error, const char **text) { *text = error_name(error); return OK; }
