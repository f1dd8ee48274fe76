// The fast forms: one or two approximate instructions each. Tested by exact_test.cc (their shape, not their error).
#include "libdevice/core.h"

using namespace heddle::libdevice;

HEDDLE_NV(float, fast_sinf)(float a) { return approx_sin(a); }
HEDDLE_NV(float, fast_cosf)(float a) { return approx_cos(a); }
HEDDLE_NV(float, fast_tanf)(float a) { return approx_div(approx_sin(a), approx_cos(a)); }
HEDDLE_NV(void, fast_sincosf)(float a, float* s, float* c) {
  *s = approx_sin(a);
  *c = approx_cos(a);
}
HEDDLE_NV(float, fast_expf)(float a) { return approx_exp2(a * kLog2eF); }
HEDDLE_NV(float, fast_exp10f)(float a) { return approx_exp2(a * kLog2Of10F); }
HEDDLE_NV(float, fast_logf)(float a) { return approx_log2(a) * kLn2F; }
HEDDLE_NV(float, fast_log2f)(float a) { return approx_log2(a); }
HEDDLE_NV(float, fast_log10f)(float a) { return approx_log2(a) * kLog10Of2F; }
HEDDLE_NV(float, fast_powf)(float a, float b) { return approx_exp2(b * approx_log2(a)); }
HEDDLE_NV(float, fast_fdividef)(float a, float b) { return approx_div(a, b); }
