// Managed memory: one pointer for host and device, and no copies in the program. Host and kernel take turns on a linked
// list whose nodes point into the same memory.
//   heddle c++ managed.cu -o managed && heddle run ./managed
#include "common/check.h"

struct Node {
  int value;
  Node* next;
};

// One thread a list: walks it, squares the values, and returns their sum.
__global__ void square_lists(Node** heads, long long* sums, int lists) {
  int list = blockIdx.x * blockDim.x + threadIdx.x;
  if (list >= lists) return;
  long long sum = 0;
  for (Node* node = heads[list]; node; node = node->next) {
    node->value *= node->value;
    sum += node->value;
  }
  sums[list] = sum;
}

int main() {
  constexpr int kLists = 300, kNodes = 50;
  Node *nodes, **heads;
  long long* sums;
  CUDA_CHECK(cudaMallocManaged(&nodes, sizeof(Node) * kLists * kNodes));
  CUDA_CHECK(cudaMallocManaged(&heads, sizeof(Node*) * kLists));
  CUDA_CHECK(cudaMallocManaged(&sums, sizeof(long long) * kLists));
  for (int list = 0; list < kLists; list++) {
    heads[list] = nullptr;
    for (int i = 0; i < kNodes; i++) {
      Node* node = &nodes[i * kLists + list];  // neighbours in a list are far apart
      *node = {list + i, heads[list]};
      heads[list] = node;
    }
  }
  square_lists<<<(kLists + 63) / 64, 64>>>(heads, sums, kLists);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());  // from here on the host may read

  bool right = true;
  for (int list = 0; list < kLists; list++) {
    long long expected = 0, walked = 0;
    for (int i = 0; i < kNodes; i++) expected += static_cast<long long>(list + i) * (list + i);
    for (Node* node = heads[list]; node; node = node->next) walked += node->value;
    right = right && sums[list] == expected && walked == expected;
  }
  std::printf("%d lists of %d nodes, sum of the last: %lld\n", kLists, kNodes, sums[kLists - 1]);
  CUDA_CHECK(cudaFree(nodes));
  CUDA_CHECK(cudaFree(heads));
  CUDA_CHECK(cudaFree(sums));
  return finish(right, "managed");
}
