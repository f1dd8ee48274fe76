// cuGetProcAddress, and cuGetExportTable, which has nothing to give. Tested by tests/api/driver/init_test.cc.
#include <cstdio>

#include "base/log.h"
#include "driver/state.h"

namespace heddle::driver::impl {

CUresult cuGetProcAddress_v2(const char* symbol, void** pointer, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  DRIVER_CHECK(symbol && *symbol && pointer, "no name, or no place for the address");
  DRIVER_CHECK(flags <= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "unknown flags");
  const ProcAddress found = find_proc_address(symbol, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  *pointer = found.pointer;
  // As NVIDIA's driver does (seen on an H200): an unknown name is a success with a null address and a status.
  if (status) *status = found.status;
  return CUDA_SUCCESS;
}
CUresult cuGetProcAddress(const char* symbol, void** pointer, int version, cuuint64_t flags) {
  if (const CUresult failed = impl::cuGetProcAddress_v2(symbol, pointer, version, flags, nullptr);
      failed != CUDA_SUCCESS)
    return failed;
  return *pointer ? CUDA_SUCCESS : fail(ErrorCode::kNotFound, "no such function in this version");
}

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  DRIVER_CHECK(table && id, "no place for the table, or no id");
  *table = nullptr;
  char text[40];
  char* at = text;
  for (const char byte : id->bytes) at += std::snprintf(at, 3, "%02x", static_cast<unsigned char>(byte));
  LOG_INFO(
      "cuGetExportTable(%s): private tables are of NVIDIA's driver alone. If the program now stops with error 103, "
      "it carries NVIDIA's own runtime: link it with -cudart shared, or with Heddle's libcudart_static.a",
      text);
  return fail(ErrorCode::kInvalidValue, "unknown export table");
}

}  // namespace heddle::driver::impl
