/* NVIDIA's management library for the emulated GPU. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long long total(void)
{
    const char *text = getenv("EMULATED_GPU_MEMORY");
    return text ? strtoull(text, NULL, 10) : 8ull << 30;
}

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int error) { (void)error; return "an error"; }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { snprintf(text, size, "580.00"); return 0; }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 13000; return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { static int one; *device = &one; return index ? 6 : 0; }
int nvmlDeviceGetName(void *device, char *text, unsigned size) { (void)device; snprintf(text, size, "Emulated GPU"); return 0; }
int nvmlDeviceGetMemoryInfo_v2(void *device, unsigned long long *info)
{
    /* The struct's version; total, reserved, free, used. */
    (void)device;
    info[1] = total(), info[2] = 0, info[3] = total() / 16 * 15, info[4] = total() / 16;
    return 0;
}
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) { (void)device; *major = 8, *minor = 0; return 0; }
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees) { (void)device, (void)sensor; *degrees = 45; return 0; }
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) { (void)device; *milliwatts = 61000; return 0; }
int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates) { (void)device; rates[0] = 37, rates[1] = 5; return 0; }
