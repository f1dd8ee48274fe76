// Functions: variants of a kernel, attributes, and the error that a grid leaves when it faults. Tested by
// tests/api/driver/module_test.cc and tests/api/driver/launch_test.cc.
#include "driver/function.h"

#include <algorithm>

#include "base/log.h"
#include "base/options.h"
#include "driver/fault.h"
#include "driver/module.h"

namespace heddle::driver {
namespace {

constexpr std::size_t kMaxVariants = 8;
constexpr int kDefaultShared = 48 << 10;

std::uint32_t width_option() { return static_cast<std::uint32_t>(parse_bytes(options().width, 0)); }

}  // namespace

Function::Function(Module* module, const compiler::KernelInfo* info)
    : Object(Tag::kFunction, module->owner()),
      max_dynamic_shared(kDefaultShared - std::min<int>(static_cast<int>(info->static_shared_bytes), kDefaultShared)),
      module_(module),
      data_(module->data()),
      info_(info) {}

std::shared_ptr<CompiledVariant> Function::find_variant(const std::uint32_t (&block)[3]) {
  for (const auto& variant : variants_)
    if (variant->block[0] == block[0] && variant->block[1] == block[1] && variant->block[2] == block[2]) return variant;
  return nullptr;
}

bool Function::is_loaded() {
  MutexLock lock(variants_mutex_);
  return !variants_.empty();
}

Result<std::shared_ptr<CompiledVariant>> Function::get_variant(const std::uint32_t (&block)[3]) {
  // Compiling under the lock: two threads that launch the same kernel first must not compile it twice.
  MutexLock lock(variants_mutex_);
  if (auto known = find_variant(block)) return known;
  static constexpr std::uint32_t kAnyBlock[3] = {0, 0, 0};
  const bool special = variants_.size() < kMaxVariants;
  if (!special)
    if (auto general = find_variant(kAnyBlock)) return general;
  compiler::Variant wanted;
  for (int i = 0; i < 3; ++i) wanted.block[i] = special ? block[i] : 0;
  wanted.width = width_option();
  wanted.interpret = options().engine == "interpreter";
  std::string log;
  auto code = compiler::compile_kernel(*data_->code, info_->name, wanted, &log);
  if (!code && !wanted.interpret &&
      (code.error().code() == ErrorCode::kJitCompilerNotFound || code.error().code() == ErrorCode::kNotSupported)) {
    LOG_WARNING("kernel %s runs on the interpreter, which is slow: %s", info_->name.c_str(), log.c_str());
    log.clear();
    wanted.interpret = true;
    code = compiler::compile_kernel(*data_->code, info_->name, wanted, &log);
  }
  if (!code) {
    log_lines((info_->name + ": ").c_str(), log.empty() ? code.error().why() : log);
    return code.error();
  }
  auto variant = std::make_shared<CompiledVariant>();
  for (int i = 0; i < 3; ++i) variant->block[i] = wanted.block[i];
  variant->code = std::move(code).value();
  variant->data = data_;
  for (const std::string& name : variant->code->globals) {
    const auto found = data_->variables.find(name);
    if (name.empty()) {
      variant->globals.push_back(nullptr);
    } else if (found == data_->variables.end()) {
      LOG_ERROR("kernel %s reads '%s', which the module does not define", info_->name.c_str(), name.c_str());
      return Status(ErrorCode::kInvalidPtx, "a variable that the module does not define");
    } else {
      variant->globals.push_back(reinterpret_cast<void*>(found->second.address));
    }
  }
  variants_.push_back(variant);
  return variant;
}

void Function::grid_ended(exec::Grid& grid) {
  if (!grid.faulted.load(std::memory_order_acquire)) return;
  const auto* variant = static_cast<const CompiledVariant*>(grid.tag);
  log_fault(name(), *data_->code, grid, *variant->code);
  owner()->streams().fail(grid.fault.code);
}

Result<Ref<Function>> find_function(const void* handle) {
  if (Ref<Function> function = find_object<Function>(handle)) return function;
  if (const Ref<Kernel> kernel = find_object<Kernel>(handle)) return kernel->get_function(*Context::current());
  return Status(ErrorCode::kInvalidHandle, "null, stale or foreign function");
}

Result<int> function_attribute(const compiler::KernelInfo& info, int attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return static_cast<int>(info.max_threads);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(info.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return 0;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(info.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return kRegistersPerThread;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return static_cast<int>(compute_capability());
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return kDefaultShared - std::min<int>(static_cast<int>(info.static_shared_bytes), kDefaultShared);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return -1;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return 0;
    default: return Status(ErrorCode::kInvalidValue, "unknown function attribute");
  }
}

Status check_attribute_change(const compiler::KernelInfo& info, int attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value + static_cast<int>(info.static_shared_bytes) > kMaxSharedPerBlock)
        return Status(ErrorCode::kInvalidValue, "more shared memory than a block can have");
      return {};
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return Status(ErrorCode::kInvalidValue, "a carveout is a percentage, or -1");
      return {};
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return Status(ErrorCode::kNotSupported, "thread block clusters are not there yet");
    default: return Status(ErrorCode::kInvalidValue, "not an attribute that can be set");
  }
}

Status parameter_info(const compiler::KernelInfo& info, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (index >= info.parameters.size()) return Status(ErrorCode::kInvalidValue, "the kernel has fewer parameters");
  if (offset) *offset = info.parameters[index].offset;
  if (size) *size = info.parameters[index].size;
  return {};
}

namespace {

#define DRIVER_FUNCTION(variable, handle) DRIVER_ASSIGN(const Ref<Function> variable, find_function(handle))

}  // namespace

namespace impl {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  DRIVER_CHECK(value, "no place for the value");
  DRIVER_FUNCTION(function, handle);
  if (attribute == CU_FUNC_ATTRIBUTE_PTX_VERSION) {
    *value = static_cast<int>(function->module()->data()->code->target());
    return CUDA_SUCCESS;
  }
  DRIVER_ASSIGN(*value, function_attribute(function->info(), attribute));
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) *value = function->max_dynamic_shared;
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) *value = function->shared_carveout;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  DRIVER_FUNCTION(function, handle);
  DRIVER_TRY(check_attribute_change(function->info(), attribute, value));
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) function->max_dynamic_shared = value;
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) function->shared_carveout = value;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache configuration) {
  DRIVER_CHECK(configuration <= CU_FUNC_CACHE_PREFER_EQUAL, "unknown cache setting");
  DRIVER_FUNCTION(function, handle);
  function->cache_config = configuration;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig configuration) {
  DRIVER_CHECK(configuration <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE, "unknown shared memory setting");
  DRIVER_FUNCTION(function, handle);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  DRIVER_CHECK(module, "no place for the module");
  DRIVER_FUNCTION(function, handle);
  *module = handle_of<CUmodule>(function->module());
  return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction handle) {
  DRIVER_CHECK(name, "no place for the name");
  DRIVER_FUNCTION(function, handle);
  *name = function->name().c_str();
  return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  DRIVER_CHECK(offset, "no place for the offset");
  DRIVER_FUNCTION(function, handle);
  return result_of(parameter_info(function->info(), index, offset, size));
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  DRIVER_CHECK(state, "no place for the state");
  DRIVER_FUNCTION(function, handle);
  *state = function->is_loaded() ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction handle) {
  DRIVER_FUNCTION(function, handle);
  const std::uint32_t any[3] = {0, 0, 0};
  return result_of(function->get_variant(any).status());
}

}  // namespace impl
}  // namespace heddle::driver
