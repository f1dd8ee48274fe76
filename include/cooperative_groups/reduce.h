// cooperative_groups::reduce and the function objects that it and the scans take.
// Tested by tests/programs/cooperative_groups.cu.
#ifndef _COOPERATIVE_GROUPS_REDUCE_H_
#define _COOPERATIVE_GROUPS_REDUCE_H_
#include "../cooperative_groups.h"
#if defined(__cplusplus) && defined(__CUDACC__)

namespace cooperative_groups {

#define HEDDLE_CG_OPERATION(name, expression)                                          \
  template <class T>                                                                   \
  struct name {                                                                        \
    HEDDLE_CG_METHOD T operator()(const T& a, const T& b) const { return expression; } \
  };
HEDDLE_CG_OPERATION(plus, a + b)
HEDDLE_CG_OPERATION(less, b < a ? b : a)
HEDDLE_CG_OPERATION(greater, a < b ? b : a)
HEDDLE_CG_OPERATION(bit_and, a& b)
HEDDLE_CG_OPERATION(bit_or, a | b)
HEDDLE_CG_OPERATION(bit_xor, a ^ b)
#undef HEDDLE_CG_OPERATION

/// The values of all threads of a tile joined by `operation`; every thread gets the result.
template <unsigned Size, class Parent, class T, class Operation>
HEDDLE_CG_METHOD auto reduce(const thread_block_tile<Size, Parent>& group, T value, Operation&& operation)
    -> decltype(operation(value, value)) {
  for (unsigned distance = Size / 2; distance > 0; distance /= 2)
    value = operation(value, group.shfl_xor(value, distance));
  return value;
}

/// The same of a coalesced group, whose lanes may have gaps: halves are folded onto each other by rank.
template <class T, class Operation>
HEDDLE_CG_METHOD auto reduce(const coalesced_group& group, T value, Operation&& operation)
    -> decltype(operation(value, value)) {
  unsigned rank = group.thread_rank();
  for (unsigned count = group.size(); count > 1;) {
    unsigned half = (count + 1) / 2;
    T other = group.shfl_down(value, half);
    if (rank + half < count) value = operation(value, other);
    count = half;
  }
  return group.shfl(value, 0);
}

/// The group's result, joined into memory by one thread.
template <class Group, class Destination, class T, class Operation>
HEDDLE_CG_METHOD void reduce_store_async(const Group& group, Destination* destination, T value, Operation&& operation) {
  T result = reduce(group, value, operation);
  if (group.thread_rank() == 0) *destination = result;
}

}  // namespace cooperative_groups
#endif
#endif
