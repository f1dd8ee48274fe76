// Surface reads and writes through surface objects: surf1Dread, surf2Dwrite and so on, as PTX suld.b and sust.b.
// x counts bytes; what happens outside of the surface is the mode's matter. The instructions move untyped bytes, so
// a value of 8 or 16 bytes is two or four words whatever its type is.
// Tested by tests/programs/texture.cu.
#ifndef __SURFACE_INDIRECT_FUNCTIONS_H__
#define __SURFACE_INDIRECT_FUNCTIONS_H__
#if defined(__CUDA__) && defined(__clang__) && defined(__cplusplus)

#define HEDDLE_UNWRAP(...) __VA_ARGS__

#define HEDDLE_SURF_LOAD(geometry, mode, coordinates, operands)                                 \
  if (sizeof(T) == 1)                                                                           \
    asm volatile("suld.b." geometry ".b8." mode " %0, [%1, " coordinates "];"                   \
                 : "=h"(half)                                                                   \
                 : "l"(object), HEDDLE_UNWRAP operands);                                        \
  else if (sizeof(T) == 2)                                                                      \
    asm volatile("suld.b." geometry ".b16." mode " %0, [%1, " coordinates "];"                  \
                 : "=h"(half)                                                                   \
                 : "l"(object), HEDDLE_UNWRAP operands);                                        \
  else if (sizeof(T) == 4)                                                                      \
    asm volatile("suld.b." geometry ".b32." mode " %0, [%1, " coordinates "];"                  \
                 : "=r"(words[0])                                                               \
                 : "l"(object), HEDDLE_UNWRAP operands);                                        \
  else if (sizeof(T) == 8)                                                                      \
    asm volatile("suld.b." geometry ".v2.b32." mode " {%0, %1}, [%2, " coordinates "];"         \
                 : "=r"(words[0]), "=r"(words[1])                                               \
                 : "l"(object), HEDDLE_UNWRAP operands);                                        \
  else                                                                                          \
    asm volatile("suld.b." geometry ".v4.b32." mode " {%0, %1, %2, %3}, [%4, " coordinates "];" \
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])               \
                 : "l"(object), HEDDLE_UNWRAP operands);

#define HEDDLE_SURF_STORE(geometry, mode, coordinates, operands)                                                   \
  if (sizeof(T) == 1)                                                                                              \
    asm volatile("sust.b." geometry ".b8." mode " [%0, " coordinates "], %1;"                                      \
                 :                                                                                                 \
                 : "l"(object), "h"(half), HEDDLE_UNWRAP operands                                                  \
                 : "memory");                                                                                      \
  else if (sizeof(T) == 2)                                                                                         \
    asm volatile("sust.b." geometry ".b16." mode " [%0, " coordinates "], %1;"                                     \
                 :                                                                                                 \
                 : "l"(object), "h"(half), HEDDLE_UNWRAP operands                                                  \
                 : "memory");                                                                                      \
  else if (sizeof(T) == 4)                                                                                         \
    asm volatile("sust.b." geometry ".b32." mode " [%0, " coordinates "], %1;"                                     \
                 :                                                                                                 \
                 : "l"(object), "r"(words[0]), HEDDLE_UNWRAP operands                                              \
                 : "memory");                                                                                      \
  else if (sizeof(T) == 8)                                                                                         \
    asm volatile("sust.b." geometry ".v2.b32." mode " [%0, " coordinates "], {%1, %2};"                            \
                 :                                                                                                 \
                 : "l"(object), "r"(words[0]), "r"(words[1]), HEDDLE_UNWRAP operands                               \
                 : "memory");                                                                                      \
  else                                                                                                             \
    asm volatile("sust.b." geometry ".v4.b32." mode " [%0, " coordinates "], {%1, %2, %3, %4};"                    \
                 :                                                                                                 \
                 : "l"(object), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), HEDDLE_UNWRAP operands \
                 : "memory");

// One family: T name_read(object, ...), name_read(T*, object, ...) and name_write(T, object, ...).
#define HEDDLE_SURF(read, write, geometry, coordinates, parameters, arguments, operands)                       \
  template <class T>                                                                                           \
  static __device__ __forceinline__ T read(cudaSurfaceObject_t object, HEDDLE_UNWRAP parameters,               \
                                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {              \
    unsigned int words[4] = {0, 0, 0, 0};                                                                      \
    unsigned short half = 0;                                                                                   \
    if (mode == cudaBoundaryModeZero) {                                                                        \
      HEDDLE_SURF_LOAD(geometry, "zero", coordinates, operands)                                                \
    } else if (mode == cudaBoundaryModeClamp) {                                                                \
      HEDDLE_SURF_LOAD(geometry, "clamp", coordinates, operands)                                               \
    } else {                                                                                                   \
      HEDDLE_SURF_LOAD(geometry, "trap", coordinates, operands)                                                \
    }                                                                                                          \
    T result;                                                                                                  \
    if (sizeof(T) <= 2)                                                                                        \
      __builtin_memcpy(&result, &half, sizeof(T) <= 2 ? sizeof(T) : 2);                                        \
    else                                                                                                       \
      __builtin_memcpy(&result, words, sizeof(T));                                                             \
    return result;                                                                                             \
  }                                                                                                            \
  template <class T>                                                                                           \
  static __device__ __forceinline__ void read(T* result, cudaSurfaceObject_t object, HEDDLE_UNWRAP parameters, \
                                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
    *result = read<T>(object, HEDDLE_UNWRAP arguments, mode);                                                  \
  }                                                                                                            \
  template <class T>                                                                                           \
  static __device__ __forceinline__ void write(T value, cudaSurfaceObject_t object, HEDDLE_UNWRAP parameters,  \
                                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {          \
    unsigned int words[4] = {0, 0, 0, 0};                                                                      \
    unsigned short half = 0;                                                                                   \
    if (sizeof(T) <= 2)                                                                                        \
      __builtin_memcpy(&half, &value, sizeof(T) <= 2 ? sizeof(T) : 2);                                         \
    else                                                                                                       \
      __builtin_memcpy(words, &value, sizeof(T));                                                              \
    if (mode == cudaBoundaryModeZero) {                                                                        \
      HEDDLE_SURF_STORE(geometry, "zero", coordinates, operands)                                               \
    } else if (mode == cudaBoundaryModeClamp) {                                                                \
      HEDDLE_SURF_STORE(geometry, "clamp", coordinates, operands)                                              \
    } else {                                                                                                   \
      HEDDLE_SURF_STORE(geometry, "trap", coordinates, operands)                                               \
    }                                                                                                          \
  }

HEDDLE_SURF(surf1Dread, surf1Dwrite, "1d", "{%[x]}", (int x), (x), ([x] "r"(x)))
HEDDLE_SURF(surf2Dread, surf2Dwrite, "2d", "{%[x], %[y]}", (int x, int y), (x, y), ([x] "r"(x), [y] "r"(y)))
HEDDLE_SURF(surf3Dread, surf3Dwrite, "3d", "{%[x], %[y], %[z], %[z]}", (int x, int y, int z), (x, y, z),
            ([x] "r"(x), [y] "r"(y), [z] "r"(z)))
HEDDLE_SURF(surf1DLayeredread, surf1DLayeredwrite, "a1d", "{%[layer], %[x]}", (int x, int layer), (x, layer),
            ([x] "r"(x), [layer] "r"(layer)))
HEDDLE_SURF(surf2DLayeredread, surf2DLayeredwrite, "a2d", "{%[layer], %[x], %[y], %[y]}", (int x, int y, int layer),
            (x, y, layer), ([x] "r"(x), [y] "r"(y), [layer] "r"(layer)))
// A cubemap is a layered surface of six layers.
HEDDLE_SURF(surfCubemapread, surfCubemapwrite, "a2d", "{%[face], %[x], %[y], %[y]}", (int x, int y, int face),
            (x, y, face), ([x] "r"(x), [y] "r"(y), [face] "r"(face)))
HEDDLE_SURF(surfCubemapLayeredread, surfCubemapLayeredwrite, "a2d", "{%[face], %[x], %[y], %[y]}",
            (int x, int y, int face), (x, y, face), ([x] "r"(x), [y] "r"(y), [face] "r"(face)))

#undef HEDDLE_SURF
#undef HEDDLE_SURF_LOAD
#undef HEDDLE_SURF_STORE
#undef HEDDLE_UNWRAP
#endif
#endif
