// Directed rounding of decimals, see rounding.h. The C library prints the nearest decimal; for the
// directed modes all digits of the number, at most 1,100, are printed and cut.
#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef FE_DOWNWARD
#define FE_DOWNWARD 0x400
#define FE_UPWARD 0x800
#endif

enum { ALL_DIGITS = 1100, LONGEST = 1500 };

static int mode = FE_TONEAREST;

int easel_set_rounding(int wanted) {
  mode = wanted;
  return 0;
}

// round_away adds one to the last digit of the decimal that ends before end. It returns where the
// decimal begins, one place earlier when a digit was added.
static char *round_away(char *begin, char *end) {
  for (char *c = end - 1; c >= begin; c--) {
    if (*c < '0' || *c > '9') continue;
    if (*c != '9') {
      (*c)++;
      return begin;
    }
    *c = '0';
  }
  char *first = begin + (*begin == '-' || *begin == '+');
  if (first > begin) begin[-1] = *begin;
  first[-1] = '1';
  return begin - 1;
}

// directed prints a number with digits after the point, rounded down or up. With an exponent the
// number has one digit before the point.
static int directed(char *to, size_t size, int digits, double d, int exponent) {
  char buffer[LONGEST + 1], *text = buffer + 1;
  snprintf(text, LONGEST, exponent ? "%+.*e" : "%.*f", ALL_DIGITS, d);
  char power[16] = "", *e = exponent ? strchr(text, 'e') : NULL;
  if (e) {
    strcpy(power, e);
    *e = 0;
  }
  char *point = strchr(text, '.'), *end = digits > 0 ? point + 1 + digits : point;
  int rest = strspn(digits > 0 ? end : point + 1, "0") < strlen(digits > 0 ? end : point + 1);
  *end = 0;
  if (rest && (*text == '-') == (mode == FE_DOWNWARD)) {
    char *begin = round_away(text, end);
    if (begin < text && exponent) { // 9.99 became 10.00: one power more, one digit less
      int n;
      sscanf(power + 1, "%d", &n);
      n++;
      snprintf(power, sizeof power, "e%c%02d", n < 0 ? '-' : '+', n < 0 ? -n : n);
      char *p = strchr(begin, '.');
      if (p) {
        p[0] = p[-1];
        p[-1] = '.';
        end[-1] = 0;
      } else {
        end[-1] = 0;
      }
    }
    text = begin;
  }
  return snprintf(to, size, "%s%s", text, power);
}

int easel_print(char *to, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n, exponent = strcmp(format, "%+.*e") == 0;
  if (mode != FE_TONEAREST && (exponent || strcmp(format, "%.*f") == 0)) {
    int digits = va_arg(args, int);
    n = directed(to, size, digits, va_arg(args, double), exponent);
  } else {
    n = vsnprintf(to, size, format, args);
  }
  va_end(args);
  return n;
}
