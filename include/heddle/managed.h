// How the runtime learns of __managed__ variables in programs that clang compiled.
//
// clang gives such a variable ordinary host storage and an ordinary device global (see crt/host_defines.h). All of
// a binary's managed variables lie in its section "heddle_managed", and the linker provides the section's bounds;
// each translation unit hands them to the runtime before main (the same range may come several times, before or
// after its kernels are registered). Variables registered by
// __cudaRegisterVar inside such a range are managed: a CPU device uses the host storage itself. On a driver that
// cannot do that the runtime has to refuse the module with a clear message rather than run on two copies.
// (9999: what clang's wrapper defines in the host pass while it includes these headers.)
// The hook is weak: a program without managed variables, or with another runtime, does nothing here.
#pragma once
#if defined(__CUDA__) && defined(__clang__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 9999)
extern "C" {
extern char __start_heddle_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_heddle_managed[] __attribute__((weak, visibility("hidden")));
void __heddleRegisterManagedRange(void* begin, void* end) __attribute__((weak));
}
static __attribute__((constructor(200), unused)) void heddle_register_managed_range(void) {
  if (__start_heddle_managed && __heddleRegisterManagedRange)
    __heddleRegisterManagedRange(__start_heddle_managed, __stop_heddle_managed);
}
#endif
