/* Runs a kernel: blocks in parallel on the CPU's cores, the threads of a block in turn, as coroutines with their own stacks where they synchronize. */
#define _GNU_SOURCE
#include "run.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK_BYTES 65536
#define MAX_THREADS 1024

struct barrier { int waiting, living; unsigned number; };

struct group {
    struct barrier block, warp[MAX_THREADS / 32];
    void *home;
    uint32_t value[MAX_THREADS];
    struct matrices matrices[MAX_THREADS / 32][2][MOST_PRODUCTS];
};

volatile int assertion_failed;

void switch_stack(void **left, void *entered);
__asm__(".text\n.globl switch_stack\nswitch_stack:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

static void yield(struct thread *self) { switch_stack(&self->stack, self->group->home); }

static void wait_at(struct thread *self, struct barrier *barrier)
{
    unsigned number = barrier->number;
    if (++barrier->waiting >= barrier->living) {
        barrier->waiting = 0;
        barrier->number++;
        return;
    }
    while (number == barrier->number) yield(self);
}

static uint32_t index_in_block(const struct thread *self)
{
    return (self->thread[2] * self->threads[1] + self->thread[1]) * self->threads[0] + self->thread[0];
}

void wait_for_block(struct thread *self) { wait_at(self, &self->group->block); }
void wait_for_warp(struct thread *self) { wait_at(self, &self->group->warp[index_in_block(self) / 32]); }
uint32_t *in_warp(struct thread *self, uint32_t lane) { return &self->group->value[index_in_block(self) / 32 * 32 + lane]; }
struct matrices *matrices_of_warp(struct thread *self, uint32_t number)
{
    return &self->group->matrices[index_in_block(self) / 32][self->products % 2][number];
}
void asserted(struct thread *self) { (void)self; assertion_failed = 1; }

/* Nobody waits for a thread that has ended. */
static void leave(struct barrier *barrier)
{
    if (--barrier->living > 0 && barrier->waiting >= barrier->living) {
        barrier->waiting = 0;
        barrier->number++;
    }
}

static __thread struct { const struct kernel *kernel; uint8_t *shared; const uint8_t *arguments; struct thread *next; } entering;

static void enter(void)
{
    struct thread *self = entering.next;
    entering.kernel->thread(self, entering.shared, entering.arguments);
    self->ended = 1;
    leave(&self->group->block);
    leave(&self->group->warp[index_in_block(self) / 32]);
    yield(self);
}

static void run_block(const struct kernel *kernel, struct thread *threads, struct group *group, uint8_t *stacks, uint8_t *shared,
                      const uint8_t *arguments, const uint32_t size[3], const uint32_t blocks[3], uint32_t number)
{
    uint32_t count = size[0] * size[1] * size[2];
    struct thread first = {.block = {number % blocks[0], number / blocks[0] % blocks[1], number / blocks[0] / blocks[1]}, .group = group};
    memcpy(first.threads, size, 12);
    memcpy(first.blocks, blocks, 12);
    if (!kernel->waits) {
        kernel->block(&first, shared, arguments);
        return;
    }
    memset(group, 0, offsetof(struct group, value));
    for (uint32_t index = 0; index < count; index++) {
        struct thread *self = &threads[index];
        memcpy(self, &first, offsetof(struct thread, copies));
        memcpy(self->thread, (uint32_t[3]){index % size[0], index / size[0] % size[1], index / size[0] / size[1]}, 12);
        self->lane = index % 32;
        group->block.living++;
        group->warp[index / 32].living++;
        void **top = (void **)(stacks + (size_t)(index + 1) * STACK_BYTES) - 2;
        top[0] = (void *)enter;
        self->stack = top - 6;
    }
    entering.kernel = kernel, entering.shared = shared, entering.arguments = arguments;
    for (uint32_t left = count; left;) {
        for (uint32_t index = 0; index < count; index++) {
            if (threads[index].ended) continue;
            entering.next = &threads[index];
            switch_stack(&group->home, threads[index].stack);
            left -= threads[index].ended;
        }
    }
}

void run_kernel(const struct kernel *kernel, const uint8_t *arguments, const uint32_t size[3], const uint32_t blocks[3], uint32_t dynamic)
{
    uint32_t count = blocks[0] * blocks[1] * blocks[2];
#pragma omp parallel if (count > 1)
    {
        static __thread uint8_t *stacks;
        static __thread struct thread *threads;
        static __thread struct group *group;
        if (!threads) {
            threads = malloc(MAX_THREADS * sizeof *threads);
            group = malloc(sizeof *group);
        }
        if (kernel->waits && !stacks)
            stacks = mmap(NULL, (size_t)MAX_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        uint8_t *shared = aligned_alloc(128, (kernel->shared + dynamic + 255) / 128 * 128);
#pragma omp for schedule(dynamic, 4)
        for (uint32_t number = 0; number < count; number++) {
            /* Shared memory is undefined before a kernel writes it: here NaN. */
            memset(shared, 0xff, kernel->shared + dynamic);
            run_block(kernel, threads, group, stacks, shared, arguments, size, blocks, number);
        }
        free(shared);
    }
}
