#include "textflag.h"

// One element of each row of a, from the registers SI, R10, R11 and R12, with a row of the panel.
#define STEP(offset, row) \
	VMOVUPS      (row)(DI), Y8      \
	VMOVUPS      (row+32)(DI), Y9   \
	VBROADCASTSS offset(SI), Y10    \
	VBROADCASTSS offset(R10), Y11   \
	VBROADCASTSS offset(R11), Y12   \
	VBROADCASTSS offset(R12), Y13   \
	VFMADD231PS  Y8, Y10, Y0        \
	VFMADD231PS  Y9, Y10, Y1        \
	VFMADD231PS  Y8, Y11, Y2        \
	VFMADD231PS  Y9, Y11, Y3        \
	VFMADD231PS  Y8, Y12, Y4        \
	VFMADD231PS  Y9, Y12, Y5        \
	VFMADD231PS  Y8, Y13, Y6        \
	VFMADD231PS  Y9, Y13, Y7

// func multiplyAVX2(depth int, a *float32, aStride int, panel, c *float32, cStride int)
TEXT ·multiplyAVX2(SB), NOSPLIT, $0-48
	MOVQ depth+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ aStride+16(FP), R8
	MOVQ panel+24(FP), DI
	MOVQ c+32(FP), DX
	MOVQ cStride+40(FP), R9
	LEAQ (SI)(R8*1), R10
	LEAQ (SI)(R8*2), R11
	LEAQ (R10)(R8*2), R12
	LEAQ (DX)(R9*1), R13
	LEAQ (DX)(R9*2), AX
	LEAQ (R13)(R9*2), BX

	VMOVUPS (DX), Y0
	VMOVUPS 32(DX), Y1
	VMOVUPS (R13), Y2
	VMOVUPS 32(R13), Y3
	VMOVUPS (AX), Y4
	VMOVUPS 32(AX), Y5
	VMOVUPS (BX), Y6
	VMOVUPS 32(BX), Y7

four:
	CMPQ CX, $4
	JLT  one
	STEP(0, 0)
	STEP(4, 64)
	STEP(8, 128)
	STEP(12, 192)
	ADDQ $16, SI
	ADDQ $16, R10
	ADDQ $16, R11
	ADDQ $16, R12
	ADDQ $256, DI
	SUBQ $4, CX
	JMP  four

one:
	TESTQ CX, CX
	JEQ   done
	STEP(0, 0)
	ADDQ  $4, SI
	ADDQ  $4, R10
	ADDQ  $4, R11
	ADDQ  $4, R12
	ADDQ  $64, DI
	DECQ  CX
	JMP   one

done:
	VMOVUPS Y0, (DX)
	VMOVUPS Y1, 32(DX)
	VMOVUPS Y2, (R13)
	VMOVUPS Y3, 32(R13)
	VMOVUPS Y4, (AX)
	VMOVUPS Y5, 32(AX)
	VMOVUPS Y6, (BX)
	VMOVUPS Y7, 32(BX)
	VZEROUPPER
	RET
