// libheddle-jit.so: a kernel's IR in, an ELF object out. LLVM is set up for the processor that this runs on; passes are
// a short fixed list, since vectors are made by us (no vectorisers) and compile time decides start-up.
//
// Floating point stays exactly as PTX says: no fast-math flag is ever set, nothing is contracted, denormals count.
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryDependenceAnalysis.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>

#include "base/error_code.h"
#include "base/options.h"
#include "compiler/codegen/jit_api.h"
#include "compiler/codegen/kernel_emitter.h"

extern "C" void LLVMInitializeX86TargetInfo();
extern "C" void LLVMInitializeX86Target();
extern "C" void LLVMInitializeX86TargetMC();
extern "C" void LLVMInitializeX86AsmPrinter();
extern "C" void LLVMInitializeX86AsmParser();

namespace heddle::codegen {
namespace {

/// LLVM's own fatal errors ("cannot select") end the process unless a handler doesn't return.
struct LlvmFailure {
  std::string text;
};

struct Host {
  std::string triple, cpu, features;
  bool avx512 = false;
  const llvm::Target* target = nullptr;
};

const Host& host() {
  static const Host found = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // inline assembly
    // Moving masks between register files is what takes longest on our code (minutes on some kernels) and gains
    // nothing.
    const char* const arguments[] = {"heddle", "-disable-x86-domain-reassignment"};
    llvm::cl::ParseCommandLineOptions(2, arguments);
    llvm::install_fatal_error_handler([](void*, const char* reason, bool) { throw LlvmFailure{reason}; });
    Host h;
    h.triple = llvm::sys::getProcessTriple();
    h.cpu = llvm::sys::getHostCPUName().str();
    llvm::SubtargetFeatures features;
    for (const auto& [name, on] : llvm::sys::getHostCPUFeatures()) {
      features.AddFeature(name, on);
      if (name == "avx512bw" && on) h.avx512 = true;
    }
    h.features = features.getString();
    std::string error;
    h.target = llvm::TargetRegistry::lookupTarget(h.triple, error);
    return h;
  }();
  return found;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine() {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      host().target->createTargetMachine(host().triple, host().cpu, host().features, options, llvm::Reloc::PIC_,
                                         llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true));
}

// ---------------------------------------------------------------------------------------------------------------- plan

struct BodyFacts {
  std::size_t instructions = 0;
  bool needs_whole_warp = false;  ///< warp operations, barriers, yields: 32 lanes a vector
  bool allocates = false;
};

BodyFacts look_at(const ir::Function& function) {
  BodyFacts facts;
  for (const ir::Block& block : function.blocks) {
    facts.instructions += block.insts.size();
    for (const ir::Inst& inst : block.insts) {
      const ir::OpClass c = ir::class_of(inst.op);
      facts.needs_whole_warp |= c == ir::OpClass::kWarp || c == ir::OpClass::kBarrier || inst.op == ir::Op::kClock;
      facts.needs_whole_warp |= inst.op == ir::Op::kBarrierArrive;
      facts.allocates |= inst.op == ir::Op::kLocalAlloc;
    }
  }
  return facts;
}

unsigned choose_lanes(const ir::Program& program, const compiler::Variant& variant, const BodyFacts& facts) {
  bool whole = facts.needs_whole_warp || !program.functions.empty();
  if (whole) return 32;
  if (variant.width == 1 || variant.width == 8 || variant.width == 16 || variant.width == 32) return variant.width;
  // Above about a thousand instructions 32 lanes spill more than they gain.
  if (facts.instructions > 1200) return host().avx512 ? 16 : 8;
  return 32;
}

// ---------------------------------------------------------------------------------------------------------- the
// wrappers

class ModuleMaker {
 public:
  ModuleMaker(llvm::Module& module, Unit& unit)
      : module_(module), unit_(unit), c_(module.getContext()), debug_(module) {
    file_ = debug_.createFile("ptx", ".");
    debug_.createCompileUnit(llvm::dwarf::DW_LANG_C, file_, "heddle", true, "", 0, "",
                             llvm::DICompileUnit::DebugEmissionKind::LineTablesOnly);
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
    i32_ = llvm::Type::getInt32Ty(c_);
    i64_ = llvm::Type::getInt64Ty(c_);
    pointer_ = llvm::PointerType::get(c_, 0);
  }

  void attach(llvm::Function* function) {
    function->addFnAttr("target-cpu", host().cpu);
    function->addFnAttr("target-features", host().features);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    if (host().avx512) function->addFnAttr("prefer-vector-width", "512");
    auto* type = debug_.createSubroutineType(debug_.getOrCreateTypeArray({}));
    function->setSubprogram(debug_.createFunction(file_, function->getName(), "", file_, 0, type, 0,
                                                  llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition));
  }

  llvm::Function* make(const char* name, llvm::Type* result, std::vector<llvm::Type*> parameters, bool external) {
    auto* type = llvm::FunctionType::get(result, parameters, false);
    auto* function = llvm::Function::Create(
        type, external ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage, name, module_);
    attach(function);
    return function;
  }

  /// u32 body(launch, cta, group, x, y, z)
  llvm::Function* make_body() {
    auto* body = make("body", i32_, {pointer_, pointer_, i32_, i32_, i32_, i32_}, false);
    body->addFnAttr(llvm::Attribute::AlwaysInline);
    return body;
  }

  /// Kernels that suspend: one call runs one warp.
  void make_warp_function(llvm::Function* body) {
    llvm::Function* warp = make("heddle_warp", i32_, {pointer_, pointer_, i32_}, true);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(c_, "entry", warp));
    b.SetCurrentDebugLocation(llvm::DILocation::get(c_, 0, 0, warp->getSubprogram()));
    b.CreateRet(b.CreateCall(body, {warp->getArg(0), warp->getArg(1), warp->getArg(2), load_cta(b, warp->getArg(1), 0),
                                    load_cta(b, warp->getArg(1), 1), load_cta(b, warp->getArg(1), 2)}));
  }

  /// Kernels that never suspend, or only at barriers of the whole CTA: all groups of lanes of a run of CTAs in one
  /// function with the body inlined once. With barriers, the warps run in rounds from one barrier to the next; every
  /// warp that lives has arrived when a round is over.
  /// u32 run(launch, cta, x, y, z, u64 linear, u64 count, u32 first_group, u32 end_group, bool once); `once`: one round
  /// of what WarpState says, for heddle_warp.
  void make_range_functions(llvm::Function* body, const compiler::Variant& variant, bool rounds) {
    llvm::Type* i1 = llvm::Type::getInt1Ty(c_);
    llvm::Function* run = make("run", i32_, {pointer_, pointer_, i32_, i32_, i32_, i64_, i64_, i32_, i32_, i1}, false);
    run->addFnAttr(llvm::Attribute::NoInline);
    auto block = [&](const char* name) { return llvm::BasicBlock::Create(c_, name, run); };
    auto *entry = block("entry"), *cta_loop = block("cta"), *begin = block("begin"), *round = block("round"),
         *group_loop = block("group"), *group_body = block("group_body"), *group_end = block("group_end"),
         *cta_end = block("cta_end"), *next_cta = block("next_cta"), *end = block("end");
    llvm::IRBuilder<> b(entry);
    b.SetCurrentDebugLocation(llvm::DILocation::get(c_, 0, 0, run->getSubprogram()));
    llvm::Value *launch = run->getArg(0), *cta = run->getArg(1), *first_group = run->getArg(7), *once = run->getArg(9);
    llvm::Value* size_x = load(b, launch, offsetof(exec::LaunchContext, grid_x), i32_);
    llvm::Value* size_y = load(b, launch, offsetof(exec::LaunchContext, grid_y), i32_);
    llvm::Value* warps = load(b, cta, offsetof(exec::CtaContext, warps), pointer_);
    auto state = [&](llvm::Value* group, std::size_t offset) {
      llvm::Value* at = b.CreateMul(b.CreateZExt(group, i64_), b.getInt64(sizeof(exec::WarpState)));
      return b.CreateGEP(b.getInt8Ty(), warps, b.CreateAdd(at, b.getInt64(offset)));
    };
    b.CreateCondBr(b.CreateICmpEQ(run->getArg(6), b.getInt64(0)), end, cta_loop);

    b.SetInsertPoint(cta_loop);
    llvm::PHINode *x = b.CreatePHI(i32_, 2, "x"), *y = b.CreatePHI(i32_, 2, "y"), *z = b.CreatePHI(i32_, 2, "z");
    llvm::PHINode *linear = b.CreatePHI(i64_, 2, "linear"), *left = b.CreatePHI(i64_, 2, "left");
    llvm::PHINode* const phis[] = {x, y, z, linear, left};
    for (unsigned i = 0; i < 5; ++i) phis[i]->addIncoming(run->getArg(2 + i), entry);
    store(b, cta, offsetof(exec::CtaContext, x), x);
    store(b, cta, offsetof(exec::CtaContext, y), y);
    store(b, cta, offsetof(exec::CtaContext, z), z);
    store(b, cta, offsetof(exec::CtaContext, linear), linear);
    if (rounds) {
      b.CreateCondBr(once, round, begin);
    } else {
      b.CreateBr(round);
    }
    b.SetInsertPoint(begin);
    if (rounds) {
      llvm::PHINode* group = b.CreatePHI(i32_, 2);
      group->addIncoming(first_group, cta_loop);
      b.CreateStore(b.getInt32(0), state(group, offsetof(exec::WarpState, pc)));
      b.CreateStore(b.getInt32(exec::kWarpYield), state(group, offsetof(exec::WarpState, status)));
      llvm::Value* next = b.CreateAdd(group, b.getInt32(1));
      group->addIncoming(next, begin);
      b.CreateCondBr(b.CreateICmpULT(next, run->getArg(8)), begin, round);
    } else {
      b.CreateBr(round);
    }
    b.SetInsertPoint(round);
    b.CreateBr(group_loop);
    b.SetInsertPoint(group_loop);
    llvm::PHINode *group = b.CreatePHI(i32_, 2, "group"), *waiting = b.CreatePHI(i32_, 2, "waiting");
    group->addIncoming(first_group, round);
    waiting->addIncoming(b.getInt32(0), round);
    const unsigned per_warp = 32 / unit_.lanes;
    store(b, cta, offsetof(exec::CtaContext, current_warp),
          per_warp == 1 ? static_cast<llvm::Value*>(group) : b.CreateUDiv(group, b.getInt32(per_warp)));
    if (rounds) {
      llvm::Value* status = b.CreateLoad(i32_, state(group, offsetof(exec::WarpState, status)));
      b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(exec::kWarpDone)), group_end, group_body);
    } else {
      b.CreateBr(group_body);
    }
    b.SetInsertPoint(group_body);
    llvm::Value* status = b.CreateCall(body, {launch, cta, group, x, y, z});
    b.CreateBr(group_end);
    b.SetInsertPoint(group_end);
    llvm::Value* now = b.getInt32(0);
    if (rounds) {
      llvm::PHINode* phi = b.CreatePHI(i32_, 2);
      phi->addIncoming(b.getInt32(0), group_loop);
      phi->addIncoming(status, group_body);
      now = b.CreateOr(waiting, phi);
    }
    llvm::Value* next = b.CreateAdd(group, b.getInt32(1));
    group->addIncoming(next, group_end);
    waiting->addIncoming(now, group_end);
    b.CreateCondBr(b.CreateICmpULT(next, run->getArg(8)), group_loop, cta_end);

    b.SetInsertPoint(cta_end);
    if (rounds) {
      llvm::Value* over = b.CreateOr(once, b.CreateICmpEQ(now, b.getInt32(0)));
      b.CreateCondBr(over, next_cta, round);
    } else {
      b.CreateBr(next_cta);
    }
    b.SetInsertPoint(next_cta);
    llvm::Value* next_x = b.CreateAdd(x, b.getInt32(1));
    llvm::Value* wrap_x = b.CreateICmpEQ(next_x, size_x);
    llvm::Value* next_y = b.CreateAdd(y, b.CreateZExt(wrap_x, i32_));
    llvm::Value* wrap_y = b.CreateICmpEQ(next_y, size_y);
    x->addIncoming(b.CreateSelect(wrap_x, b.getInt32(0), next_x), next_cta);
    y->addIncoming(b.CreateSelect(wrap_y, b.getInt32(0), next_y), next_cta);
    z->addIncoming(b.CreateAdd(z, b.CreateZExt(wrap_y, i32_)), next_cta);
    linear->addIncoming(b.CreateAdd(linear, b.getInt64(1)), next_cta);
    llvm::Value* rest = b.CreateSub(left, b.getInt64(1));
    left->addIncoming(rest, next_cta);
    b.CreateCondBr(b.CreateICmpNE(rest, b.getInt64(0)), cta_loop, end);
    b.SetInsertPoint(end);
    llvm::PHINode* result = b.CreatePHI(i32_, 2);
    result->addIncoming(b.getInt32(0), entry);
    result->addIncoming(now, next_cta);
    b.CreateRet(result);

    auto group_count = [&](llvm::IRBuilder<>& at, llvm::Value* launch_argument) -> llvm::Value* {
      const std::uint32_t known = variant.block[0] * variant.block[1] * variant.block[2];
      if (known) return at.getInt32((known + unit_.lanes - 1) / unit_.lanes);
      llvm::Value* threads = load(at, launch_argument, offsetof(exec::LaunchContext, threads), i32_);
      return at.CreateUDiv(at.CreateAdd(threads, at.getInt32(unit_.lanes - 1)), at.getInt32(unit_.lanes));
    };

    llvm::Function* warp = make("heddle_warp", i32_, {pointer_, pointer_, i32_}, true);
    llvm::IRBuilder<> w(llvm::BasicBlock::Create(c_, "entry", warp));
    w.SetCurrentDebugLocation(llvm::DILocation::get(c_, 0, 0, warp->getSubprogram()));
    llvm::Value* warp_group = w.CreateMul(warp->getArg(2), w.getInt32(per_warp));
    llvm::Value* end_group = w.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, w.CreateAdd(warp_group, w.getInt32(per_warp)), group_count(w, warp->getArg(0)));
    w.CreateRet(w.CreateCall(
        run, {warp->getArg(0), warp->getArg(1), load_cta(w, warp->getArg(1), 0), load_cta(w, warp->getArg(1), 1),
              load_cta(w, warp->getArg(1), 2), load(w, warp->getArg(1), offsetof(exec::CtaContext, linear), i64_),
              w.getInt64(1), warp_group, end_group, w.getTrue()}));

    llvm::Function* range = make("heddle_range", llvm::Type::getVoidTy(c_), {pointer_, pointer_, i64_, i64_}, true);
    llvm::IRBuilder<> r(llvm::BasicBlock::Create(c_, "entry", range));
    r.SetCurrentDebugLocation(llvm::DILocation::get(c_, 0, 0, range->getSubprogram()));
    llvm::Value* first = range->getArg(2);
    llvm::Value* wide_x = r.CreateZExt(load(r, range->getArg(0), offsetof(exec::LaunchContext, grid_x), i32_), i64_);
    llvm::Value* wide_y = r.CreateZExt(load(r, range->getArg(0), offsetof(exec::LaunchContext, grid_y), i32_), i64_);
    llvm::Value* row = r.CreateUDiv(first, wide_x);
    llvm::Value* plane = r.CreateUDiv(row, wide_y);
    r.CreateCall(run,
                 {range->getArg(0), range->getArg(1), r.CreateTrunc(r.CreateSub(first, r.CreateMul(row, wide_x)), i32_),
                  r.CreateTrunc(r.CreateSub(row, r.CreateMul(plane, wide_y)), i32_), r.CreateTrunc(plane, i32_), first,
                  range->getArg(3), r.getInt32(0), group_count(r, range->getArg(0)), r.getFalse()});
    r.CreateRetVoid();
  }

  void finish() { debug_.finalize(); }

 private:
  llvm::Value* load(llvm::IRBuilder<>& b, llvm::Value* object, std::size_t offset, llvm::Type* type) {
    return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), object, offset));
  }
  void store(llvm::IRBuilder<>& b, llvm::Value* object, std::size_t offset, llvm::Value* value) {
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), object, offset));
  }
  llvm::Value* load_cta(llvm::IRBuilder<>& b, llvm::Value* cta, unsigned dimension) {
    static_assert(offsetof(exec::CtaContext, y) == offsetof(exec::CtaContext, x) + 4 &&
                  offsetof(exec::CtaContext, z) == offsetof(exec::CtaContext, x) + 8);
    return load(b, cta, offsetof(exec::CtaContext, x) + 4 * dimension, i32_);
  }

  llvm::Module& module_;
  Unit& unit_;
  llvm::LLVMContext& c_;
  llvm::DIBuilder debug_;
  llvm::DIFile* file_ = nullptr;
  llvm::Type *i32_, *i64_, *pointer_;
};

// -------------------------------------------------------------------------------------------------------------- passes

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;
  auto instrumentation = [] { return llvm::PassInstrumentationAnalysis(); };
  loops.registerPass(instrumentation);
  functions.registerPass(instrumentation);
  modules.registerPass(instrumentation);
  functions.registerPass([&] { return machine.getTargetIRAnalysis(); });
  functions.registerPass([&] {
    llvm::TargetLibraryInfoImpl library{llvm::Triple(host().triple)};
    library.disableAllFunctions();
    return llvm::TargetLibraryAnalysis(library);
  });
  functions.registerPass([] { return llvm::AssumptionAnalysis(); });
  functions.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  functions.registerPass([] { return llvm::PostDominatorTreeAnalysis(); });
  functions.registerPass([] { return llvm::LoopAnalysis(); });
  functions.registerPass([] { return llvm::BasicAA(); });
  functions.registerPass([] { return llvm::ScopedNoAliasAA(); });
  functions.registerPass([] {
    llvm::AAManager manager;
    manager.registerFunctionAnalysis<llvm::BasicAA>();
    manager.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
    return manager;
  });
  functions.registerPass([] { return llvm::MemorySSAAnalysis(); });
  functions.registerPass([] { return llvm::MemoryDependenceAnalysis(); });
  functions.registerPass([] { return llvm::ScalarEvolutionAnalysis(); });
  functions.registerPass([] { return llvm::OptimizationRemarkEmitterAnalysis(); });
  functions.registerPass([] { return llvm::BranchProbabilityAnalysis(); });
  functions.registerPass([] { return llvm::BlockFrequencyAnalysis(); });
  modules.registerPass([] { return llvm::ProfileSummaryAnalysis(); });
  functions.registerPass([&] { return llvm::LoopAnalysisManagerFunctionProxy(loops); });
  functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules); });
  loops.registerPass([&] { return llvm::FunctionAnalysisManagerLoopProxy(functions); });
  modules.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());

  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::AlwaysInlinerPass(false));
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
}

// --------------------------------------------------------------------------------------------------------------- lines

std::vector<compiler::SourceLine> read_lines(llvm::StringRef object, const ir::Program& program) {
  std::map<std::uint32_t, const ir::Location*> location_of;
  auto note = [&](const ir::Function& function) {
    for (const ir::Block& block : function.blocks) {
      for (const ir::Inst& inst : block.insts) location_of.try_emplace(inst.location.ptx_line, &inst.location);
    }
  };
  note(program.kernel);
  for (const ir::Function& function : program.functions) note(function);

  std::vector<compiler::SourceLine> lines;
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return lines;
  }
  auto quiet = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context = llvm::DWARFContext::create(**file, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr,
                                                  "", quiet, quiet);
  for (const auto& unit : context->compile_units()) {
    const llvm::DWARFDebugLine::LineTable* table = context->getLineTableForUnit(unit.get());
    if (table == nullptr) continue;
    for (const llvm::DWARFDebugLine::Row& row : table->Rows) {
      if (row.EndSequence || row.Line == 0) continue;
      compiler::SourceLine line;
      line.code_offset = static_cast<std::uint32_t>(row.Address.Address);
      line.ptx_line = row.Line;
      if (const auto found = location_of.find(row.Line); found != location_of.end()) {
        line.line = found->second->line;
        line.file = found->second->file;
      }
      if (!lines.empty() && lines.back().ptx_line == line.ptx_line && lines.back().code_offset <= line.code_offset)
        continue;
      lines.push_back(line);
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.code_offset < b.code_offset; });
  return lines;
}

void dump(const std::string& kernel, const char* suffix, const llvm::Module& module) {
  const std::string& folder = options().dump;
  if (folder.empty()) return;
  std::error_code error;
  llvm::raw_fd_ostream out(folder + "/" + kernel.substr(0, 100) + suffix, error);
  if (!error) module.print(out, nullptr);
}

/// The plan in words.
std::string explain(const Unit& unit, const FunctionEmitter& kernel) {
  const auto& block = unit.variant.block;
  std::string text = "kernel " + unit.program.kernel.name + ": " + std::to_string(unit.lanes) + " lanes a vector, ";
  if (block[0]) {
    text += "block " + std::to_string(block[0]) + "x" + std::to_string(block[1]) + "x" + std::to_string(block[2]);
  } else {
    text += "any block";
  }
  const AccessCounts& n = unit.counts;
  text += "\n" + kernel.explain() + "  accesses emitted: " + std::to_string(n.uniform) + " uniform, " +
          std::to_string(n.unit_stride) + " unit stride, " + std::to_string(n.pattern) + " in runs, " +
          std::to_string(n.tested) + " tested at run time, " + std::to_string(n.gather) + " gather or scatter; " +
          std::to_string(n.atomics) + " atomics, " + std::to_string(n.warp_reduced) + " of them combined in the warp\n";
  return text;
}

int compile(const ir::Program& program, const compiler::Variant& variant, JitOutput* output, std::string* text,
            llvm::SmallVectorImpl<char>* object, std::vector<compiler::SourceLine>* lines) {
  const auto failed = [&](ErrorCode code, const std::string& why) {
    *text = why;
    return static_cast<int>(code);
  };
  if (host().target == nullptr)
    return failed(ErrorCode::kNotSupported, "LLVM has no code generator for " + host().triple);
  llvm::LLVMContext context;
  llvm::Module module("heddle", context);
  const auto machine = make_target_machine();
  module.setTargetTriple(host().triple);
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::SmallPIC);

  Unit unit(module, program, variant);
  BodyFacts facts = look_at(program.kernel);
  for (const ir::Function& function : program.functions) facts.allocates |= look_at(function).allocates;
  unit.lanes = choose_lanes(program, variant, facts);
  unit.local_stride = facts.allocates ? 0 : (program.local_bytes + 15) / 16 * 16;
  std::uint32_t align = 16;
  for (const ir::Symbol& symbol : program.symbols) {
    if (symbol.external && symbol.space == ir::Space::kShared) align = std::max(align, symbol.align);
  }
  unit.dynamic_shared_offset = (program.shared_bytes + align - 1) / align * align;

  ModuleMaker maker(module, unit);
  FunctionEmitter kernel(unit, program.kernel, true);
  kernel.plan();
  llvm::Function* body = maker.make_body();
  kernel.set_subprogram(body->getSubprogram());
  kernel.emit(body);
  while (!unit.functions_to_emit.empty() && unit.error.empty()) {
    const unsigned index = unit.functions_to_emit.back();
    unit.functions_to_emit.pop_back();
    FunctionEmitter callee(unit, program.functions[index], false);
    callee.plan();
    maker.attach(unit.functions[index]);
    callee.set_subprogram(unit.functions[index]->getSubprogram());
    callee.emit(unit.functions[index]);
  }
  if (!unit.error.empty()) return failed(ErrorCode::kNotSupported, unit.error);
  const bool has_range = !kernel.suspends() || kernel.runs_in_rounds();
  if (has_range) {
    maker.make_range_functions(body, variant, kernel.suspends());
  } else {
    maker.make_warp_function(body);
  }
  maker.finish();

  dump(program.kernel.name, ".ll", module);
  std::string problems;
  llvm::raw_string_ostream problem_stream(problems);
  if (llvm::verifyModule(module, &problem_stream)) {
    return failed(ErrorCode::kUnknown, "internal error: " + program.kernel.name + " became wrong LLVM IR: " + problems);
  }
  optimize(module, *machine);
  dump(program.kernel.name, ".opt.ll", module);
  llvm::raw_svector_ostream stream(*object);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return failed(ErrorCode::kNotSupported, "LLVM can't write objects for " + host().triple);
  }
  codegen.run(module);
  *lines = read_lines(llvm::StringRef(object->data(), object->size()), program);
  *text = explain(unit, kernel);
  output->frame_bytes = kernel.frame_bytes();
  output->has_range = has_range;
  if (!options().dump.empty()) {
    std::ofstream out(options().dump + "/" + program.kernel.name.substr(0, 100) + ".o", std::ios::binary);
    out.write(object->data(), static_cast<std::streamsize>(object->size()));
  }
  return static_cast<int>(ErrorCode::kSuccess);
}

}  // namespace

std::string FunctionEmitter::explain() const {
  std::size_t scalars = 0, vectors = 0;
  for (const Info& info : info_) {
    if (info.def == nullptr) continue;
    ++(info.kind == analysis::Shape::Kind::kVarying ? vectors : scalars);
  }
  std::size_t yields = 0, slow = 0;
  for (const Suspension& point : suspensions_) yields += point.is_yield;
  for (bool has : has_slow_body_) slow += has;
  return "  values: " + std::to_string(scalars) + " scalar, " + std::to_string(vectors) +
         " vector; divergent branches: " + std::to_string(divergent_branches_) + "; masked copies of " +
         std::to_string(slow) + " of " + std::to_string(cfg_.order.size()) +
         " blocks\n  suspension points: " + std::to_string(suspensions_.size() - yields) + " barriers, " +
         std::to_string(yields) + " in spin loops, frame " + std::to_string(frame_bytes_) + " bytes a warp\n" +
         (slots_in_memory_ ? "  large: values that cross blocks are kept in memory\n" : "");
}

}  // namespace heddle::codegen

extern "C" __attribute__((visibility("default"))) int heddle_jit_compile(
    const heddle::ir::Program& program, const heddle::compiler::Variant& variant,
    void (*sink)(void* user, const heddle::codegen::JitOutput& output), void* user) {
  heddle::codegen::JitOutput output;
  std::string text;
  llvm::SmallVector<char, 0> object;
  std::vector<heddle::compiler::SourceLine> lines;
  int code = 0;
  try {
    code = heddle::codegen::compile(program, variant, &output, &text, &object, &lines);
  } catch (const heddle::codegen::LlvmFailure& failure) {
    code = static_cast<int>(heddle::ErrorCode::kNotSupported);
    text = program.kernel.name + ": LLVM: " + failure.text;
  } catch (const std::exception& failure) {
    code = static_cast<int>(heddle::ErrorCode::kUnknown);
    text = program.kernel.name + ": " + failure.what();
  }
  if (code == 0) {
    output.object = reinterpret_cast<const std::uint8_t*>(object.data());
    output.object_bytes = object.size();
    output.lines = lines.data();
    output.line_count = lines.size();
  }
  output.explanation = text.c_str();
  sink(user, output);
  return code;
}
