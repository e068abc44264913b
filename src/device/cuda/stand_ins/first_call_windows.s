# The first call of a stand-in, by Windows' calling convention; see first_call_unix.s. There are fewer registers, and whoever is called may
# use 32 bytes of the caller's stack.
    .text
    .p2align 4
inkling_first_call:
    push rcx
    push rdx
    push r8
    push r9
    sub rsp, 96
    movups [rsp + 32], xmm0
    movups [rsp + 48], xmm1
    movups [rsp + 64], xmm2
    movups [rsp + 80], xmm3
    mov rcx, [rsp + 128]
    call {resolve}
    mov r11, rax
    movups xmm0, [rsp + 32]
    movups xmm1, [rsp + 48]
    movups xmm2, [rsp + 64]
    movups xmm3, [rsp + 80]
    add rsp, 96
    pop r9
    pop r8
    pop rdx
    pop rcx
    add rsp, 8
    jmp r11
