# The first call of a stand-in, by System V's calling convention: every register that can hold an argument is kept while `resolve`
# finds the real function, which is then jumped to. On the stack: the stand-in's number, then the caller's return address; both together
# keep it aligned to 16.
    .text
    .p2align 4
inkling_first_call:
    push rdi
    push rsi
    push rdx
    push rcx
    push r8
    push r9
    push rax
    sub rsp, 136
    movups [rsp], xmm0
    movups [rsp + 16], xmm1
    movups [rsp + 32], xmm2
    movups [rsp + 48], xmm3
    movups [rsp + 64], xmm4
    movups [rsp + 80], xmm5
    movups [rsp + 96], xmm6
    movups [rsp + 112], xmm7
    mov rdi, [rsp + 192]
    call {resolve}
    mov r11, rax
    movups xmm0, [rsp]
    movups xmm1, [rsp + 16]
    movups xmm2, [rsp + 32]
    movups xmm3, [rsp + 48]
    movups xmm4, [rsp + 64]
    movups xmm5, [rsp + 80]
    movups xmm6, [rsp + 96]
    movups xmm7, [rsp + 112]
    add rsp, 136
    pop rax
    pop r9
    pop r8
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    add rsp, 8
    jmp r11
