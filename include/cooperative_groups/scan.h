// cooperative_groups::inclusive_scan and exclusive_scan. Tested by tests/programs/cooperative_groups.cu.
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_
#include "reduce.h"
#if defined(__cplusplus) && defined(__CUDACC__)

namespace cooperative_groups {

/// Thread r gets the values of ranks 0..r joined in order.
template <class Group, class T, class Operation>
HEDDLE_CG_METHOD auto inclusive_scan(const Group& group, T value, Operation&& operation)
    -> decltype(operation(value, value)) {
  unsigned rank = (unsigned)group.thread_rank(), count = (unsigned)group.size();
  for (unsigned distance = 1; distance < count; distance *= 2) {
    T other = group.shfl_up(value, distance);
    if (rank >= distance) value = operation(other, value);
  }
  return value;
}
template <class Group, class T>
HEDDLE_CG_METHOD T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// Thread r gets the values of ranks 0..r-1; thread 0 a value-initialised T.
template <class Group, class T, class Operation>
HEDDLE_CG_METHOD auto exclusive_scan(const Group& group, T value, Operation&& operation)
    -> decltype(operation(value, value)) {
  T inclusive = inclusive_scan(group, value, operation);
  T before = group.shfl_up(inclusive, 1);
  return group.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T>
HEDDLE_CG_METHOD T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
#endif
#endif
