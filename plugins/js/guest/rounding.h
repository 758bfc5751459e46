// QuickJS rounds decimals by the rounding modes of C, which WebAssembly does not have. This header
// is included before its source and prints with a mode of its own.
#include <fenv.h>
#include <stddef.h>
#ifndef FE_DOWNWARD
#define FE_DOWNWARD 0x400
#define FE_UPWARD 0x800
#endif
#define fesetround easel_set_rounding
#define snprintf easel_print
int easel_set_rounding(int mode);
int easel_print(char *to, size_t size, const char *format, ...);
