// The older place of crt/host_config.h; clang's own CUDA wrapper asks for it by this name.
#pragma once
#include "crt/host_config.h"
