// The subcommands of `heddle`, each one function with main's shape. argv[0] is the name it was called by.
#pragma once

namespace heddle::tools {

/// `heddle run`: starts a program on our libraries, after checking what would go wrong. (run.cc)
int run_main(int argc, char** argv);
/// `heddle c++`, also called as `nvcc`: compiles and links CUDA sources. (cxx.cc)
int cxx_main(int argc, char** argv);
/// What clang's CUDA toolchain calls by NVIDIA's names in <cuda-path>/bin; PTX passes through. (device_tools.cc)
int ptxas_main(int argc, char** argv);
int fatbinary_main(int argc, char** argv);
int nvlink_main(int argc, char** argv);
/// Stands in for the linker where only the device link is wanted (nvcc -dlink). (device_tools.cc)
int device_link_linker_main(int argc, char** argv);

}  // namespace heddle::tools
