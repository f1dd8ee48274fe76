/* cudaCreateChannelDesc<T>(): the channel format of a C++ type. Tested by tests/abi. */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#ifdef __cplusplus

#include "cuda_runtime_api.h"
#include "driver_types.h"

/* 16-bit floating point, one, two or four channels. */
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

/* A type without a channel format has no channels. */
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define HEDDLE_CHANNELS(type, x, y, z, w, kind)                            \
  template <>                                                              \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {             \
    return cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind); \
  }
/* The scalar and its vectors of one, two and four. Vectors of three have no channel format. */
#define HEDDLE_CHANNELS_OF(scalar, vector, bits, kind) \
  HEDDLE_CHANNELS(scalar, bits, 0, 0, 0, kind)         \
  HEDDLE_CHANNELS(vector##1, bits, 0, 0, 0, kind)      \
  HEDDLE_CHANNELS(vector##2, bits, bits, 0, 0, kind)   \
  HEDDLE_CHANNELS(vector##4, bits, bits, bits, bits, kind)

#ifdef __CHAR_UNSIGNED__
HEDDLE_CHANNELS(char, 8, 0, 0, 0, Unsigned)
#else
HEDDLE_CHANNELS(char, 8, 0, 0, 0, Signed)
#endif
HEDDLE_CHANNELS_OF(signed char, char, 8, Signed)
HEDDLE_CHANNELS_OF(unsigned char, uchar, 8, Unsigned)
HEDDLE_CHANNELS_OF(short, short, 16, Signed)
HEDDLE_CHANNELS_OF(unsigned short, ushort, 16, Unsigned)
HEDDLE_CHANNELS_OF(int, int, 32, Signed)
HEDDLE_CHANNELS_OF(unsigned int, uint, 32, Unsigned)
HEDDLE_CHANNELS_OF(float, float, 32, Float)

#undef HEDDLE_CHANNELS
#undef HEDDLE_CHANNELS_OF

/* Packed and compressed formats, by the kind that names them. */
template <cudaChannelFormatKind kind>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define HEDDLE_FORMAT(kind, x, y, z, w)                                               \
  template <>                                                                         \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<cudaChannelFormatKind##kind>() { \
    return cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind);            \
  }
HEDDLE_FORMAT(NV12, 8, 8, 8, 0)
HEDDLE_FORMAT(UnsignedNormalized8X1, 8, 0, 0, 0)
HEDDLE_FORMAT(UnsignedNormalized8X2, 8, 8, 0, 0)
HEDDLE_FORMAT(UnsignedNormalized8X4, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedNormalized16X1, 16, 0, 0, 0)
HEDDLE_FORMAT(UnsignedNormalized16X2, 16, 16, 0, 0)
HEDDLE_FORMAT(UnsignedNormalized16X4, 16, 16, 16, 16)
HEDDLE_FORMAT(SignedNormalized8X1, 8, 0, 0, 0)
HEDDLE_FORMAT(SignedNormalized8X2, 8, 8, 0, 0)
HEDDLE_FORMAT(SignedNormalized8X4, 8, 8, 8, 8)
HEDDLE_FORMAT(SignedNormalized16X1, 16, 0, 0, 0)
HEDDLE_FORMAT(SignedNormalized16X2, 16, 16, 0, 0)
HEDDLE_FORMAT(SignedNormalized16X4, 16, 16, 16, 16)
HEDDLE_FORMAT(UnsignedBlockCompressed1, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedBlockCompressed1SRGB, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedBlockCompressed2, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedBlockCompressed2SRGB, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedBlockCompressed3, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedBlockCompressed3SRGB, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedBlockCompressed4, 8, 0, 0, 0)
HEDDLE_FORMAT(SignedBlockCompressed4, 8, 0, 0, 0)
HEDDLE_FORMAT(UnsignedBlockCompressed5, 8, 8, 0, 0)
HEDDLE_FORMAT(SignedBlockCompressed5, 8, 8, 0, 0)
HEDDLE_FORMAT(UnsignedBlockCompressed6H, 16, 16, 16, 0)
HEDDLE_FORMAT(SignedBlockCompressed6H, 16, 16, 16, 0)
HEDDLE_FORMAT(UnsignedBlockCompressed7, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedBlockCompressed7SRGB, 8, 8, 8, 8)
HEDDLE_FORMAT(UnsignedNormalized1010102, 10, 10, 10, 2)

#undef HEDDLE_FORMAT

#endif /* __cplusplus */

#endif /* __CHANNEL_DESCRIPTOR_H__ */
