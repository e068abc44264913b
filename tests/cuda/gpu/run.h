/* threads.c, for driver.c. */
#include "threads.h"

/* Set when an assertion in a kernel failed. */
extern volatile int assertion_failed;

void run_kernel(const struct kernel *kernel, const uint8_t *arguments, const uint32_t size[3], const uint32_t blocks[3], uint32_t dynamic);
