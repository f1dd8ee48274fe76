// The older name of the surface functions.
#pragma once
#include "surface_indirect_functions.h"
