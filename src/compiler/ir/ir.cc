#include "compiler/ir/ir.h"

#include <array>

namespace heddle::ir {
namespace {

struct TypeRow {
  const char* name;
  int bits;
  TypeClass type_class;
};
constexpr TypeRow kTypes[] = {
#define HEDDLE_IR_TYPE(identifier, text, bits, type_class) {text, bits, TypeClass::k##type_class},
#include "compiler/ir/types.def"
#undef HEDDLE_IR_TYPE
};

struct OpRow {
  const char* name;
  OpClass op_class;
};
constexpr OpRow kOps[] = {
#define HEDDLE_IR_OP(identifier, text, op_class) {text, OpClass::k##op_class},
#include "compiler/ir/opcodes.def"
#undef HEDDLE_IR_OP
};

}  // namespace

int bits_of(Type type) { return kTypes[static_cast<int>(type)].bits; }
TypeClass class_of(Type type) { return kTypes[static_cast<int>(type)].type_class; }
const char* name_of(Type type) { return kTypes[static_cast<int>(type)].name; }
OpClass class_of(Op op) { return kOps[static_cast<int>(op)].op_class; }
const char* name_of(Op op) { return kOps[static_cast<int>(op)].name; }

Type bits_type(int bits) {
  switch (bits) {
    case 1: return Type::kPred;
    case 8: return Type::kB8;
    case 16: return Type::kB16;
    case 32: return Type::kB32;
    case 64: return Type::kB64;
    default: return Type::kB128;
  }
}

}  // namespace heddle::ir
