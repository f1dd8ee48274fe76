/* Rounding modes of the runtime API. Checked by tests/abi. */
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__

enum cudaRoundMode { cudaRoundNearest = 0, cudaRoundZero = 1, cudaRoundPosInf = 2, cudaRoundMinInf = 3 };

#endif /* __DEVICE_TYPES_H__ */
