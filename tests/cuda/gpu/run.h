/* Owns what driver.c asks of threads.c. */
#include "threads.h"

/* Set where a kernel's own check failed. */
extern volatile int assertion_failed;

void run_kernel(const struct kernel *kernel, const uint8_t *given, const uint32_t size[3], const uint32_t blocks[3], uint32_t dynamic);
