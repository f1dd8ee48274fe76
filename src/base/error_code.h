// The error codes that Heddle uses inside. Their meaning for users (CUresult, cudaError_t, name, text) is one table:
// include/heddle/errors.def. The enumerators' values are the driver's numbers, so no translation is needed at the
// driver's door.
#pragma once

#include <cstdint>

namespace heddle {

enum class ErrorCode : std::int32_t {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kMapFailed = 205,
  kNotMapped = 211,
  kNoBinaryForGpu = 209,
  kAlreadyMapped = 208,
  kUnsupportedLimit = 215,
  kPeerAccessUnsupported = 217,
  kInvalidPtx = 218,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kInvalidSource = 300,
  kFileNotFound = 301,
  kSharedObjectSymbolNotFound = 302,
  kOperatingSystem = 304,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kPrimaryContextActive = 708,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotPermitted = 800,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kUnknown = 999,
};

}  // namespace heddle
