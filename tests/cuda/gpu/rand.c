/* The functions of NVIDIA's cuRAND that candle calls when it opens a device. Inkling has its own random numbers. */
#include <stdlib.h>

int curandCreateGenerator(void **generator, int kind) { (void)kind; *generator = malloc(1); return 0; }
int curandDestroyGenerator(void *generator) { free(generator); return 0; }
int curandSetPseudoRandomGeneratorSeed(void *generator, unsigned long long seed) { (void)generator, (void)seed; return 0; }
int curandSetStream(void *generator, void *stream) { (void)generator, (void)stream; return 0; }
