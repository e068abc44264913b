/* Owns running a kernel: blocks side by side on the processor's cores, the threads of a block in turn, each with a stack of its own where
   they wait for one another. Must not know drivers. */
#define _GNU_SOURCE
#include "run.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK 65536
#define MOST 1024

struct meeting { int waiting, living; unsigned number; };

struct group {
    struct meeting block, warp[MOST / 32];
    uint32_t value[MOST];
    void *home;
};

volatile int assertion_failed;

void switch_stack(void **left, void *entered);
__asm__(".text\n.globl switch_stack\nswitch_stack:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

static void give_way(struct thread *self) { switch_stack(&self->stack, self->group->home); }

static void meet(struct thread *self, struct meeting *meeting)
{
    unsigned number = meeting->number;
    if (++meeting->waiting >= meeting->living) {
        meeting->waiting = 0;
        meeting->number++;
        return;
    }
    while (number == meeting->number) give_way(self);
}

static uint32_t place_of(const struct thread *self)
{
    return (self->thread[2] * self->threads[1] + self->thread[1]) * self->threads[0] + self->thread[0];
}

void wait_for_block(struct thread *self) { meet(self, &self->group->block); }
void wait_for_warp(struct thread *self) { meet(self, &self->group->warp[place_of(self) / 32]); }
uint32_t *in_warp(struct thread *self, uint32_t lane) { return &self->group->value[place_of(self) / 32 * 32 + lane]; }
void asserted(struct thread *self) { (void)self; assertion_failed = 1; }

/* Who has ended keeps nobody waiting. */
static void leave(struct meeting *meeting)
{
    if (--meeting->living > 0 && meeting->waiting >= meeting->living) {
        meeting->waiting = 0;
        meeting->number++;
    }
}

static __thread struct { const struct kernel *kernel; uint8_t *shared; const uint8_t *given; struct thread *next; } entering;

static void enter(void)
{
    struct thread *self = entering.next;
    entering.kernel->body(self, entering.shared, entering.given);
    self->ended = 1;
    leave(&self->group->block);
    leave(&self->group->warp[place_of(self) / 32]);
    give_way(self);
}

static void run_block(const struct kernel *kernel, struct thread *threads, struct group *group, uint8_t *stacks, uint8_t *shared,
                      const uint8_t *given, const uint32_t size[3], const uint32_t blocks[3], uint32_t number)
{
    uint32_t count = size[0] * size[1] * size[2];
    struct thread first = {.block = {number % blocks[0], number / blocks[0] % blocks[1], number / blocks[0] / blocks[1]}, .group = group};
    memcpy(first.threads, size, 12);
    memcpy(first.blocks, blocks, 12);
    if (!kernel->waits) {
        kernel->bodies(&first, shared, given);
        return;
    }
    memset(group, 0, sizeof *group);
    for (uint32_t place = 0; place < count; place++) {
        struct thread *self = &threads[place];
        *self = first;
        memcpy(self->thread, (uint32_t[3]){place % size[0], place / size[0] % size[1], place / size[0] / size[1]}, 12);
        self->lane = place % 32;
        group->block.living++;
        group->warp[place / 32].living++;
        void **top = (void **)(stacks + (size_t)(place + 1) * STACK) - 2;
        top[0] = (void *)enter;
        self->stack = top - 6;
    }
    entering.kernel = kernel, entering.shared = shared, entering.given = given;
    for (uint32_t left = count; left;) {
        for (uint32_t place = 0; place < count; place++) {
            if (threads[place].ended) continue;
            entering.next = &threads[place];
            switch_stack(&group->home, threads[place].stack);
            left -= threads[place].ended;
        }
    }
}

void run_kernel(const struct kernel *kernel, const uint8_t *given, const uint32_t size[3], const uint32_t blocks[3], uint32_t dynamic)
{
    uint32_t count = blocks[0] * blocks[1] * blocks[2];
#pragma omp parallel if (count > 1)
    {
        static __thread uint8_t *stacks;
        static __thread struct thread *threads;
        static __thread struct group *group;
        if (!threads) {
            threads = malloc(MOST * sizeof *threads);
            group = malloc(sizeof *group);
        }
        if (kernel->waits && !stacks)
            stacks = mmap(NULL, (size_t)MOST * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        uint8_t *shared = aligned_alloc(128, (kernel->shared + dynamic + 255) / 128 * 128);
#pragma omp for schedule(dynamic, 4)
        for (uint32_t number = 0; number < count; number++) {
            /* What is there before a kernel writes is anything: here it is no number. */
            memset(shared, 0xff, kernel->shared + dynamic);
            run_block(kernel, threads, group, stacks, shared, given, size, blocks, number);
        }
        free(shared);
    }
}
