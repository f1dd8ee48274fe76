// Modules: parsing images, placing variables, and cuModule*. Tested by tests/api/driver/module_test.cc.
#include "driver/module.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "base/options.h"
#include "driver/memory.h"
#include "driver/state.h"
#include "exec/host_memory.h"
#include "fatbin/fatbin.h"

namespace heddle::driver {

Result<std::shared_ptr<const compiler::Module>> parse_texts(const std::vector<std::string_view>& texts,
                                                            std::string* log) {
  compiler::ParseOptions options;
  options.compute_capability = compute_capability();
  return compiler::parse_module(texts, options, log);
}

Result<std::shared_ptr<const compiler::Module>> parse_image(const void* image, bool allow_wrapper, std::string* log) {
  if (!image) return Status(ErrorCode::kInvalidValue, "null image");
  const fatbin::Format format = fatbin::detect(image);
  if (format == fatbin::Format::kWrapper && !allow_wrapper)
    return Status(ErrorCode::kInvalidImage, "a fatbin wrapper: cuLibraryLoadData takes it, cuModuleLoadData does not");
  if (format == fatbin::Format::kElf) {
    *log =
        "the image is machine code of a GPU (a cubin), which a CPU can't run: build with PTX in it, for example "
        "-gencode arch=compute_75,code=compute_75\n";
    return Status(ErrorCode::kNoBinaryForGpu, "the image has no PTX");
  }
  // Text that does not even begin as PTX does is no PTX with an error in it.
  if (format == fatbin::Format::kUnknown ||
      (format == fatbin::Format::kPtx && !std::strstr(static_cast<const char*>(image), ".version"))) {
    *log = "the image is neither PTX text, nor a fatbin, nor a cubin\n";
    return Status(ErrorCode::kInvalidImage, "unknown image format");
  }
  auto sources = fatbin::load_ptx(image, compute_capability());
  if (!sources) {
    *log = sources.error().code() == ErrorCode::kNoBinaryForGpu
               ? "the fatbin has no PTX that this device can use: build with PTX in it, for example -gencode "
                 "arch=compute_75,code=compute_75\n"
               : std::string("the fatbin is damaged: ") + sources.error().why() + "\n";
    return sources.error();
  }
  std::vector<std::string_view> texts;
  for (const fatbin::PtxSource& source : *sources) texts.push_back(source.text);
  return parse_texts(texts, log);
}

Result<std::string> read_image_file(const char* path) {
  if (!path) return Status(ErrorCode::kInvalidValue, "null path");
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(ErrorCode::kFileNotFound, "the file can't be opened");
  std::stringstream contents;
  contents << file.rdbuf();
  // PTX may end without a NUL, which the text's reader wants.
  return contents.str();
}

namespace {

// Writes an address into a variable's initial value, as PTX's mask() cuts it.
void relocate(const compiler::Relocation& relocation, std::uintptr_t target, std::byte* variable) {
  const std::uint64_t value =
      (static_cast<std::uint64_t>(target) + static_cast<std::uint64_t>(relocation.addend)) >> relocation.shift;
  std::memcpy(variable + relocation.offset, &value, std::min<std::size_t>(relocation.size, sizeof value));
}

Status place_variables(Context& context, Module& module, ModuleData& data) {
  for (const compiler::Variable& variable : data.code->variables()) {
    if (variable.is_external) {
      LOG_ERROR("%s: variable '%s' is declared .extern and no unit of the image defines it", data.name.c_str(),
                variable.name.c_str());
      return Status(ErrorCode::kInvalidPtx, "an external variable is not defined");
    }
    const std::size_t bytes = std::max<std::uint64_t>(variable.size, 1);
    std::uintptr_t address = 0;
    if (variable.is_managed) {
      exec::HostAllocation allocation;
      allocation.kind = exec::HostAllocation::Kind::kManaged;
      allocation.bytes = bytes;
      allocation.flags = CU_MEM_ATTACH_GLOBAL;
      allocation.tag = context.new_tag();
      allocation.device = context.device().ordinal;
      HEDDLE_ASSIGN(address, exec::HostMemory::instance().allocate(allocation));
      module.set_is_managed_variable(address);
    } else {
      HEDDLE_ASSIGN(address, context.memory().allocate(bytes, context.new_tag()));
    }
    const std::size_t given = std::min<std::size_t>(variable.initial.size(), variable.size);
    std::memset(reinterpret_cast<void*>(address), 0, bytes);
    if (given) std::memcpy(reinterpret_cast<void*>(address), variable.initial.data(), given);
    data.variables[variable.name] = {&variable, address};
  }
  for (const auto& [name, placed] : data.variables) {
    for (const compiler::Relocation& relocation : placed.variable->relocations) {
      const auto target = data.variables.find(relocation.symbol);
      if (target == data.variables.end()) {
        LOG_ERROR("%s: the initial value of '%s' needs the address of '%s', which is no variable: not supported",
                  data.name.c_str(), name.c_str(), relocation.symbol.c_str());
        return Status(ErrorCode::kNotSupported, "an initial value that is the address of a function");
      }
      if (relocation.offset + relocation.size > std::max<std::uint64_t>(placed.variable->size, 1))
        return Status(ErrorCode::kInvalidPtx, "an initial value goes past its variable");
      relocate(relocation, target->second.address, reinterpret_cast<std::byte*>(placed.address));
    }
  }
  return {};
}

}  // namespace

Module::~Module() = default;

void Module::unload() {
  std::map<std::string, Ref<Function>, std::less<>> functions;
  {
    MutexLock lock(mutex_);
    functions.swap(functions_);
  }
  for (const auto& [name, function] : functions) registry::remove(function.get());
  for (const auto& [name, placed] : data_->variables) {
    if (std::find(managed_.begin(), managed_.end(), placed.address) != managed_.end()) {
      (void)exec::HostMemory::instance().remove(placed.address, exec::HostAllocation::Kind::kManaged);
    } else {
      (void)owner()->memory().free(placed.address);
    }
  }
}

Ref<Function> Module::find_function(std::string_view name) {
  MutexLock lock(mutex_);
  const auto found = functions_.find(name);
  if (found != functions_.end()) return found->second;
  for (const compiler::KernelInfo& info : data_->code->kernels()) {
    if (info.name != name) continue;
    auto function = make_ref<Function>(this, &info);
    registry::add(function.get());
    functions_.emplace(info.name, function);
    return function;
  }
  return {};
}

Result<Ref<Module>> load_module(Context& context, std::shared_ptr<const compiler::Module> code, std::string name) {
  auto data = std::make_shared<ModuleData>();
  data->code = std::move(code);
  data->name = std::move(name);
  auto module = make_ref<Module>(&context, data);
  if (const Status placed = place_variables(context, *module, *data); !placed.ok()) {
    module->unload();
    return placed;
  }
  registry::add(module.get());
  if (options().module_loading == "EAGER") {
    const std::uint32_t any[3] = {0, 0, 0};
    for (const compiler::KernelInfo& info : data->code->kernels())
      if (auto variant = module->find_function(info.name)->get_variant(any); !variant) return variant.error();
  }
  return module;
}

// ---- JIT options

namespace {
// A number passed in the place of a pointer.
std::size_t number_of(void* value) { return reinterpret_cast<std::uintptr_t>(value) & 0xffffffffu; }
}  // namespace

JitOptions::JitOptions(unsigned count, const CUjit_option* options, void** values) {
  if (!options || !values) return;
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: info_.text = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.bytes = number_of(values[i]);
        info_.used = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER: error_.text = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.bytes = number_of(values[i]);
        error_.used = &values[i];
        break;
      case CU_JIT_WALL_TIME: {
        const float none = 0;
        std::memcpy(&values[i], &none, sizeof none);
        break;
      }
      default: break;  // optimisation levels, register limits, targets: nothing that a CPU needs to be told
    }
  }
}

void JitOptions::fill(const Buffer& buffer, const std::string& text) {
  std::size_t used = 0;
  if (buffer.text && buffer.bytes > 0) {
    used = std::min(text.size(), buffer.bytes - 1);
    std::memcpy(buffer.text, text.data(), used);
    buffer.text[used] = 0;
  }
  if (buffer.used) *buffer.used = reinterpret_cast<void*>(used);
}

void JitOptions::report(const std::string& log, bool failed) {
  fill(error_, failed ? log : std::string());
  fill(info_, failed ? std::string() : log);
  if (failed) log_lines("", log);
}

namespace {

CUresult load(CUmodule* module, const void* image, bool allow_wrapper, JitOptions options, const char* name) {
  DRIVER_CHECK(module && image, "no place for the module's handle, or no image");
  std::string log;
  auto code = parse_image(image, allow_wrapper, &log);
  options.report(log, !code);
  if (!code) return result_of(code.error());
  DRIVER_ASSIGN(const Ref<Module> loaded, load_module(*Context::current(), std::move(code).value(), name));
  *module = handle_of<CUmodule>(loaded.get());
  return CUDA_SUCCESS;
}

constexpr const char* kStale = "null, stale or foreign module";

}  // namespace

namespace impl {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load(module, image, false, JitOptions(0, nullptr, nullptr), "module");
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int option_count, CUjit_option* options,
                            void** option_values) {
  DRIVER_CHECK(option_count == 0 || (options && option_values), "options are announced and not given");
  return load(module, image, false, JitOptions(option_count, options, option_values), "module");
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image, false, JitOptions(0, nullptr, nullptr), "module");
}
CUresult cuModuleLoad(CUmodule* module, const char* path) {
  DRIVER_CHECK(module, "no place for the module's handle");
  DRIVER_ASSIGN(const std::string contents, read_image_file(path));
  return load(module, contents.c_str(), false, JitOptions(0, nullptr, nullptr), path);
}
CUresult cuModuleUnload(CUmodule handle) {
  const Ref<Module> module = find_object<Module>(handle);
  if (!module) return fail(ErrorCode::kInvalidHandle, kStale);
  module->owner()->streams().synchronize();
  if (!registry::remove(module.get())) return fail(ErrorCode::kInvalidHandle, kStale);
  module->unload();
  return CUDA_SUCCESS;
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  DRIVER_CHECK(mode, "no place for the mode");
  *mode = options().module_loading == "EAGER" ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  DRIVER_CHECK(function && name && *name, "no place for the function's handle, or no name");
  const Ref<Module> module = find_object<Module>(handle);
  if (!module) return fail(ErrorCode::kInvalidHandle, kStale);
  const Ref<Function> found = module->find_function(name);
  if (!found) {
    LOG_INFO("the module has no kernel '%s'", name);
    return fail(ErrorCode::kNotFound, "the module has no kernel of this name");
  }
  *function = handle_of<CUfunction>(found.get());
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule handle) {
  DRIVER_CHECK(count, "no place for the count");
  const Ref<Module> module = find_object<Module>(handle);
  if (!module) return fail(ErrorCode::kInvalidHandle, kStale);
  *count = static_cast<unsigned>(module->data()->code->kernels().size());
  return CUDA_SUCCESS;
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int function_count, CUmodule handle) {
  DRIVER_CHECK(functions || function_count == 0, "no place for the functions");
  const Ref<Module> module = find_object<Module>(handle);
  if (!module) return fail(ErrorCode::kInvalidHandle, kStale);
  unsigned at = 0;
  for (const compiler::KernelInfo& info : module->data()->code->kernels()) {
    if (at == function_count) break;
    functions[at++] = handle_of<CUfunction>(module->find_function(info.name).get());
  }
  return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, size_t* bytes, CUmodule handle, const char* name) {
  DRIVER_CHECK(name && *name, "no name");
  const Ref<Module> module = find_object<Module>(handle);
  if (!module) return fail(ErrorCode::kInvalidHandle, kStale);
  const auto found = module->data()->variables.find(name);
  if (found == module->data()->variables.end())
    return fail(ErrorCode::kNotFound, "the module has no variable of this name");
  if (pointer) *pointer = found->second.address;
  if (bytes) *bytes = found->second.variable->size;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver
