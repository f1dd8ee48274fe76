// Virtual devices and what they report. Tested by tests/api/driver/init_test.cc.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "driver/context.h"

namespace heddle::driver {
namespace {

constexpr const char* kNoDevice = "no device with this number";

#define DRIVER_DEVICE(variable, number)         \
  Device* const variable = find_device(number); \
  if (!variable) return fail(ErrorCode::kInvalidDevice, kNoDevice)

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  struct utsname system = {};
  return ::uname(&system) == 0 ? system.machine : "unknown processor";
}

CUresult uuid(CUuuid* id, CUdevice number) {
  DRIVER_CHECK(id, "no place for the id");
  DRIVER_DEVICE(device, number);
  // Stable from run to run: the letters "Hedle" and "CPU", and the device's number. state.cc prints the same.
  static constexpr unsigned char kPrefix[10] = {0x48, 0x65, 0x64, 0x6c, 0x65, 0x01, 0x43, 0x50, 0x55, 0x00};
  std::memset(id->bytes, 0, sizeof id->bytes);
  std::memcpy(id->bytes, kPrefix, sizeof kPrefix);
  id->bytes[14] = static_cast<char>(device->physical >> 8);
  id->bytes[15] = static_cast<char>(device->physical);
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  DRIVER_CHECK(device, "no place for the device");
  DRIVER_DEVICE(found, ordinal);
  *device = found->ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  DRIVER_CHECK(count, "no place for the count");
  *count = device_count();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice number) {
  DRIVER_CHECK(name && length > 0, "no place for the name");
  DRIVER_DEVICE(device, number);
  static const std::string kName = "Heddle CPU device (" + processor_name() + ")";
  std::snprintf(name, static_cast<size_t>(length), "%s", kName.c_str());
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice number) {
  DRIVER_CHECK(bytes, "no place for the size");
  DRIVER_DEVICE(device, number);
  *bytes = device->execution.memory().capacity();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice number) {
  DRIVER_CHECK(value, "no place for the value");
  DRIVER_DEVICE(device, number);
  bool known = false;
  const int found = attribute_value(*device, attribute, &known);
  DRIVER_CHECK(known, "unknown device attribute");
  *value = found;
  return CUDA_SUCCESS;
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice number) {
  DRIVER_CHECK(major && minor, "no place for the numbers");
  DRIVER_DEVICE(device, number);
  *major = static_cast<int>(compute_capability() / 10);
  *minor = static_cast<int>(compute_capability() % 10);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice number) {
  DRIVER_CHECK(properties, "no place for the properties");
  DRIVER_DEVICE(device, number);
  const auto value = [&](CUdevice_attribute attribute) {
    bool known = false;
    return attribute_value(*device, attribute, &known);
  };
  properties->maxThreadsPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  properties->maxThreadsDim[0] = value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  properties->maxThreadsDim[1] = value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  properties->maxThreadsDim[2] = value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  properties->maxGridSize[0] = value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  properties->maxGridSize[1] = value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  properties->maxGridSize[2] = value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  properties->sharedMemPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  properties->totalConstantMemory = value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  properties->SIMDWidth = value(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  properties->memPitch = value(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  properties->regsPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  properties->clockRate = value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  properties->textureAlign = value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* id, CUdevice device) { return uuid(id, device); }
CUresult cuDeviceGetUuid_v2(CUuuid* id, CUdevice device) { return uuid(id, device); }
CUresult cuDeviceGetLuid(char*, unsigned int*, CUdevice number) {
  DRIVER_DEVICE(device, number);
  return fail(ErrorCode::kNotSupported, "LUIDs are of Windows alone");
}
CUresult cuDeviceGetPCIBusId(char* bus_id, int length, CUdevice number) {
  DRIVER_CHECK(bus_id && length > 0, "no place for the bus id");
  DRIVER_DEVICE(device, number);
  char text[16];
  const int used = std::snprintf(text, sizeof text, "0000:%02X:00.0", (device->physical + 1) & 0xff);
  DRIVER_CHECK(length > used, "13 bytes are needed");
  std::memcpy(bus_id, text, static_cast<size_t>(used) + 1);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* bus_id) {
  DRIVER_CHECK(device && bus_id, "no place for the device, or no bus id");
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = 0;
    DRIVER_CHECK(std::sscanf(bus_id, "%x:%x", &bus, &slot) == 2, "not a PCI bus id");
  }
  for (int i = 0; i < device_count(); ++i)
    if (domain == 0 && slot == 0 && static_cast<int>(bus) == find_device(i)->physical + 1) {
      *device = i;
      return CUDA_SUCCESS;
    }
  return fail(ErrorCode::kInvalidDevice, "no device with this bus id");
}

CUresult cuDeviceCanAccessPeer(int* possible, CUdevice number, CUdevice peer_number) {
  DRIVER_CHECK(possible, "no place for the answer");
  DRIVER_DEVICE(device, number);
  DRIVER_DEVICE(peer, peer_number);
  *possible = device != peer;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source, CUdevice destination) {
  DRIVER_CHECK(value, "no place for the value");
  DRIVER_DEVICE(from, source);
  DRIVER_DEVICE(to, destination);
  if (from == to) return fail(ErrorCode::kInvalidDevice, "a device is no peer of itself");
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED: *value = 1; return CUDA_SUCCESS;
    default:
      DRIVER_CHECK(static_cast<int>(attribute) >= 1 && static_cast<int>(attribute) <= 5, "unknown attribute");
      *value = 0;
      return CUDA_SUCCESS;
  }
}
CUresult cuDeviceGetExecAffinitySupport(int* value, CUexecAffinityType, CUdevice number) {
  DRIVER_CHECK(value, "no place for the answer");
  DRIVER_DEVICE(device, number);
  *value = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* elements, CUarray_format, unsigned int, CUdevice number) {
  DRIVER_CHECK(elements, "no place for the width");
  DRIVER_DEVICE(device, number);
  *elements = 268435456;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver
