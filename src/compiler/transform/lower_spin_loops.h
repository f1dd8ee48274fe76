// Forward progress. A loop that can only end because another thread writes memory (a lock, a flag, decoupled look-back,
// a grid barrier) gets a Yield on its back edges, so that lanes of a warp, warps of a CTA and CTAs take turns. Loops
// that end by themselves get none: a Yield costs a suspension.
//
// A loop spins if one of its exits depends, through values or the branches that choose them, on a volatile or ordered
// load, on an atomic that changes nothing by being repeated (exchange, and, or, min, max, compare-and-swap with the
// same expected value; not an atomicAdd of a work queue, nor the retry loop of a lock-free update), or if it sleeps.
// Tested by transform/transform_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace heddle::transform {

void lower_spin_loops(ir::Program* program);

}  // namespace heddle::transform
