// Primary contexts: one per device, shared by all who retain it. The object is made once and never goes, so its handle
// stays the same through resets, as with NVIDIA's driver. Tested by tests/api/driver/context_test.cc.
#include "driver/context.h"

namespace heddle::driver {
namespace {

CUresult reset(Device& device) {
  Ref<Context> context;
  {
    MutexLock lock(device.mutex);
    context = device.primary;
  }
  if (context && context->state() != ErrorCode::kContextIsDestroyed) context->destroy();
  return CUDA_SUCCESS;
}

CUresult release(CUdevice number) {
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  {
    MutexLock lock(device->mutex);
    if (device->primary_references == 0) return fail(ErrorCode::kInvalidContext, "the primary context is not retained");
    if (--device->primary_references > 0) return CUDA_SUCCESS;
  }
  return reset(*device);
}

CUresult set_flags(CUdevice number, unsigned flags) {
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  DRIVER_CHECK((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0, "unknown context flags");
  MutexLock lock(device->mutex);
  device->primary_flags = flags;
  if (device->primary) device->primary->set_flags(flags);
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice number) {
  DRIVER_CHECK(context, "no place for the context's handle");
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  MutexLock lock(device->mutex);
  if (!device->primary) {
    device->primary = make_ref<Context>(device, device->primary_flags, true);
    publish<CUcontext>(device->primary);
  } else if (device->primary->state() == ErrorCode::kContextIsDestroyed) {
    device->primary->set_flags(device->primary_flags);
    device->primary->set_alive();
  }
  ++device->primary_references;
  *context = handle_of<CUcontext>(device->primary.get());
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return release(device); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return release(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice number) {
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  return reset(*device);
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return impl::cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxGetState(CUdevice number, unsigned int* flags, int* active) {
  DRIVER_CHECK(flags && active, "no place for the state");
  Device* const device = find_device(number);
  if (!device) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  MutexLock lock(device->mutex);
  *flags = device->primary_flags;
  *active = device->primary && device->primary->state() != ErrorCode::kContextIsDestroyed;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) { return set_flags(device, flags); }
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) { return set_flags(device, flags); }

}  // namespace impl
}  // namespace heddle::driver
