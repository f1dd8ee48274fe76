// Polynomial coefficients of the device math library, lowest power first.
// Printed by tools/fit.py, which derives them from scratch; don't edit. Tested through accuracy_test.cc.
#pragma once

// clang-format off
namespace heddle::libdevice {

inline constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Lo = 0x1.abc9e3b39803fp-56, kLn2Lowest = 0x1.7b57a079a1934p-111;
inline constexpr float kLn2F = 0x1.62e4300000000p-1f, kLn2LoF = -0x1.05c6100000000p-29f, kLn2LowestF = -0x1.950d880000000p-54f;
inline constexpr double kLog2e = 0x1.71547652b82fep+0, kLog2eLo = 0x1.777d0ffda0d24p-56, kLog2eLowest = -0x1.60bb8a5442ab9p-110;
inline constexpr float kLog2eF = 0x1.7154760000000p+0f, kLog2eLoF = 0x1.4ae0c00000000p-26f, kLog2eLowestF = -0x1.e888300000000p-52f;
inline constexpr double kLn10 = 0x1.26bb1bbb55516p+1, kLn10Lo = -0x1.f48ad494ea3e9p-53, kLn10Lowest = -0x1.9ebae3ae0260cp-107;
inline constexpr float kLn10F = 0x1.26bb1c0000000p+1f, kLn10LoF = -0x1.12aaba0000000p-25f, kLn10LowestF = -0x1.3e915a0000000p-50f;
inline constexpr double kLog10e = 0x1.bcb7b1526e50ep-2, kLog10eLo = 0x1.95355baaafad3p-57, kLog10eLowest = 0x1.ee191f71a3012p-112;
inline constexpr float kLog10eF = 0x1.bcb7b20000000p-2f, kLog10eLoF = -0x1.5b235e0000000p-27f, kLog10eLowestF = -0x1.cd59540000000p-54f;
inline constexpr double kLog10Of2 = 0x1.34413509f79ffp-2, kLog10Of2Lo = -0x1.9dc1da994fd21p-59, kLog10Of2Lowest = 0x1.22f04d5a618a8p-114;
inline constexpr float kLog10Of2F = 0x1.3441360000000p-2f, kLog10Of2LoF = -0x1.ec10c00000000p-27f, kLog10Of2LowestF = -0x1.0cee0e0000000p-54f;
inline constexpr double kLog2Of10 = 0x1.a934f0979a371p+1, kLog2Of10Lo = 0x1.7f2495fb7fa6dp-53, kLog2Of10Lowest = 0x1.fb699b2d8abfcp-107;
inline constexpr float kLog2Of10F = 0x1.a934f00000000p+1f, kLog2Of10LoF = 0x1.2f346e0000000p-24f, kLog2Of10LowestF = 0x1.5fc9260000000p-51f;
inline constexpr double kPi = 0x1.921fb54442d18p+1, kPiLo = 0x1.1a62633145c07p-53, kPiLowest = -0x1.f1976b7ed8fbcp-109;
inline constexpr float kPiF = 0x1.921fb60000000p+1f, kPiLoF = -0x1.777a5c0000000p-24f, kPiLowestF = -0x1.ee59da0000000p-49f;
inline constexpr double kPiOver2 = 0x1.921fb54442d18p+0, kPiOver2Lo = 0x1.1a62633145c07p-54, kPiOver2Lowest = -0x1.f1976b7ed8fbcp-110;
inline constexpr float kPiOver2F = 0x1.921fb60000000p+0f, kPiOver2LoF = -0x1.777a5c0000000p-25f, kPiOver2LowestF = -0x1.ee59da0000000p-50f;
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1, kTwoOverPiLo = -0x1.6b01ec5417056p-55, kTwoOverPiLowest = -0x1.6447e493ad4cep-109;
inline constexpr float kTwoOverPiF = 0x1.45f3060000000p-1f, kTwoOverPiLoF = 0x1.b939100000000p-26f, kTwoOverPiLowestF = 0x1.529fc20000000p-52f;
inline constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1, kSqrtHalfLo = -0x1.bdd3413b26456p-55, kSqrtHalfLowest = 0x1.57d3e3adec175p-109;
inline constexpr float kSqrtHalfF = 0x1.6a09e60000000p-1f, kSqrtHalfLoF = 0x1.9fcef40000000p-27f, kSqrtHalfLowestF = -0x1.b7ba680000000p-52f;
inline constexpr double kTwoThirds = 0x1.5555555555555p-1, kTwoThirdsLo = 0x1.5555555555555p-55, kTwoThirdsLowest = 0x1.5555555555555p-109;
inline constexpr float kTwoThirdsF = 0x1.5555560000000p-1f, kTwoThirdsLoF = -0x1.5555560000000p-26f, kTwoThirdsLowestF = 0x1.5555560000000p-51f;
inline constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1, kHalfLog2PiLo = -0x1.65b5a1b7ff5dfp-55, kHalfLog2PiLowest = -0x1.b7f70c13dc1ccp-110;
inline constexpr float kHalfLog2PiF = 0x1.d67f1c0000000p-1f, kHalfLog2PiLoF = 0x1.0c97d60000000p-26f, kHalfLog2PiLowestF = 0x1.29a4a60000000p-51f;
inline constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0, kSqrt2Lo = -0x1.bdd3413b26456p-54, kSqrt2Lowest = 0x1.57d3e3adec175p-108;
inline constexpr float kSqrt2F = 0x1.6a09e60000000p+0f, kSqrt2LoF = 0x1.9fcef40000000p-26f, kSqrt2LowestF = -0x1.b7ba680000000p-51f;
inline constexpr double kHalfSqrtPi = 0x1.c5bf891b4ef6bp-1, kHalfSqrtPiLo = -0x1.618f13eb7ca89p-55, kHalfSqrtPiLowest = -0x1.b1f0071b7aae4p-111;
inline constexpr float kHalfSqrtPiF = 0x1.c5bf8a0000000p-1f, kHalfSqrtPiLoF = -0x1.c962120000000p-26f, kHalfSqrtPiLowestF = -0x1.5618f20000000p-51f;
inline constexpr double kLogPi = 0x1.250d048e7a1bdp+0, kLogPiLo = 0x1.7abf2ad8d5088p-57, kLogPiLowest = -0x1.6ccf43244818ap-113;
inline constexpr float kLogPiF = 0x1.250d040000000p+0f, kLogPiLoF = 0x1.1cf4380000000p-25f, kLogPiLowestF = -0x1.7a15040000000p-51f;
inline constexpr double kTwoOverSqrtPi = 0x1.20dd750429b6dp+0, kTwoOverSqrtPiLo = 0x1.1ae3a914fed80p-56, kTwoOverSqrtPiLowest = -0x1.3cbbebf65f145p-111;
inline constexpr float kTwoOverSqrtPiF = 0x1.20dd760000000p+0f, kTwoOverSqrtPiLoF = -0x1.f7ac920000000p-25f, kTwoOverSqrtPiLowestF = -0x1.7728e20000000p-51f;
inline constexpr unsigned long long kTwoOverPiBits[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};
// (e^r - 1 - r) / r^2, |r| <= ln2/2
inline constexpr double kExp[] = {
    0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100cep-7, 0x1.6c16c16c16148p-10,
    0x1.a01a01abef7b2p-13, 0x1.a01a01a77e16bp-16, 0x1.71de0219d9c0dp-19, 0x1.27e4d9a7b9ed3p-22, 0x1.af4e1adb84d4fp-26,
    0x1.1f763c51af418p-29,};
// (log((1+s)/(1-s)) / s - 2) / s^2 in s^2, |s| <= 0.1716
inline constexpr double kLog[] = {
    0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476ba1p-2, 0x1.c71c72017a15cp-3, 0x1.745cf8f6c9119p-3,
    0x1.3b1c38474d3eep-3, 0x1.0fbe478772696p-3, 0x1.0c06cf14c641bp-3,};
// ((log((1+s)/(1-s)) / s - 2) / s^2 - 2/3) / s^2 in s^2
inline constexpr double kLogTail[] = {
    0x1.999999999999ap-2, 0x1.2492492492491p-2, 0x1.c71c71c71cfdep-3, 0x1.745d174512f5ep-3, 0x1.3b13b1bcae4fap-3,
    0x1.1110df9bb9145p-3, 0x1.e1f80050fe02dp-4, 0x1.ac4a0689e4f11p-4, 0x1.b8d8d83f51283p-4,};
// (sin r / r - 1) / r^2 in r^2, |r| <= pi/4
inline constexpr double kSin[] = {
    -0x1.5555555555555p-3, 0x1.1111111110babp-7, -0x1.a01a019e820aep-13, 0x1.71de37946ed6dp-19,
    -0x1.ae6008d114485p-26, 0x1.5e0a4fc16be59p-33,};
// (cos r - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4
inline constexpr double kCos[] = {
    0x1.5555555555555p-5, -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16, -0x1.27e4fa16cc2d1p-22,
    0x1.1eeb67d026ec6p-29, -0x1.907cd8ff5ede7p-37,};
// (asin x / x - 1) / x^2 in x^2, |x| <= 1/2
inline constexpr double kAsin[] = {
    0x1.5555555555555p-3, 0x1.3333333333389p-4, 0x1.6db6db6dac0eap-5, 0x1.f1c71c7a5e151p-6, 0x1.6e8ba121b9d5fp-6,
    0x1.1c4efd20ebb99p-6, 0x1.c990a42b32b03p-7, 0x1.7b02ef007d23ep-7, 0x1.3b462d121c5d3p-7, 0x1.31777489dfd29p-7,
    0x1.8dcdf11997e12p-9, 0x1.40c91fa8deb7ep-6, -0x1.3bd7e353ddbc1p-6, 0x1.e58a4f278e006p-6,};
// (atan x / x - 1) / x^2 in x^2, |x| <= 1
inline constexpr double kAtan[] = {
    -0x1.5555555555555p-2, 0x1.999999999997dp-3, -0x1.2492492491234p-3, 0x1.c71c71c6882cdp-4, -0x1.745d1731e853fp-4,
    0x1.3b13af957f086p-4, -0x1.1110f9a06b09dp-4, 0x1.e1e0069edf96ep-5, -0x1.af1a76061e434p-5, 0x1.85c82bf04fbd6p-5,
    -0x1.62c464c86804fp-5, 0x1.42a843b89b0ebp-5, -0x1.20f157ad652dfp-5, 0x1.f0f041d3e2f50p-6, -0x1.8c59dbc673323p-6,
    0x1.198ad7e0bd0c6p-6, -0x1.552f78ddf9b30p-7, 0x1.50ea3497605b5p-8, -0x1.0110cfd66bd22p-9, 0x1.19e6b726893d0p-11,
    -0x1.890e58e18ff08p-14, 0x1.04a3628aee536p-17,};
// (sinh x / x - 1) / x^2 in x^2, |x| <= 1
inline constexpr double kSinh[] = {
    0x1.5555555555555p-3, 0x1.11111111110fdp-7, 0x1.a01a01a01ee70p-13, 0x1.71de3a4e14f40p-19, 0x1.ae6460fae3728p-26,
    0x1.611cb330c1fe8p-33, 0x1.b41232cf9950fp-41,};
// (tanh x / x - 1) / x^2 in x^2, |x| <= 0.55
inline constexpr double kTanh[] = {
    -0x1.5555555555555p-2, 0x1.1111111111109p-3, -0x1.ba1ba1ba1a723p-5, 0x1.664f48822e32fp-6, -0x1.226e3539a2567p-7,
    0x1.d6d3c5fa306d8p-9, -0x1.7da25d2dc94ddp-10, 0x1.3547b99663ef6p-11, -0x1.f41cac23a5451p-13,
    0x1.8c91aa027e00fp-14, -0x1.1ad8e00df097cp-15, 0x1.08286da59d447p-17,};
// erf x / x - 1 in x^2, |x| <= 1
inline constexpr double kErf[] = {
    0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b30p-4, -0x1.b82ce31284e00p-6, 0x1.565bcd0dbaa38p-8,
    -0x1.c02db3dac435fp-11, 0x1.f9a321d5b8e1ep-14, -0x1.f4d1e3183f7aep-17, 0x1.b9df224ca4b97p-20,
    -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27, -0x1.389d4f2641625p-30, 0x1.05ffd737fb32ep-34,};
// (1 + 2x) e^(x^2) erfc x in (x-4)/(x+4), x >= 0
inline constexpr double kErfcx[] = {
    0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a286p-3, 0x1.f7f5df66fd797p-7, 0x1.16ecefcfa4d10p-4, -0x1.9ddb23c3e8f13p-4,
    0x1.7fee004e1eefep-4, -0x1.0fb06dfe4c6c0p-4, 0x1.3079edf5181dfp-5, -0x1.09623884747dbp-6, 0x1.49c672e199469p-8,
    -0x1.8d4a9a6465372p-11, -0x1.a1df5e81f57b4p-13, 0x1.3be0432bfa860p-13, -0x1.99537515467bep-16,
    -0x1.7884d2487d5efp-17, 0x1.7ef644c7815aap-18, 0x1.393f4d359a7fdp-22, -0x1.b8ce493292da5p-21,
    0x1.4dcd6b6d85452p-24, 0x1.c8a212189b424p-24, -0x1.64110b1736fb3p-26, -0x1.a7f4a11380e73p-27,
    0x1.bc41def3d5cc5p-29, 0x1.ff247156a53a2p-31, -0x1.2feb115e10ff8p-32,};
// erfinv x / x in x^2, |x| <= 1/2
inline constexpr double kErfinv[] = {
    0x1.c5bf891b4ef6bp-1, 0x1.db29fb2fee68ap-3, 0x1.053c2c0aae96ap-3, 0x1.62847c503bcaap-4, 0x1.0a1316e142512p-4,
    0x1.a7c8ca00d8675p-5, 0x1.5ee2649a15a98p-5, 0x1.2b32af925b95cp-5, 0x1.fe4164512b866p-6, 0x1.02e4d7974de3dp-5,
    0x1.137e39d4880a6p-7, 0x1.2d3f6c34a0754p-4, -0x1.382c2a7e13c76p-4, 0x1.cfcc156ddbc76p-4,};
// erfcinv(e^(-s^2)) / s in (s-3)/(s+3), 0.83 <= s <= 27.3
inline constexpr double kErfcinvGuess[] = {
    0x1.cf51b7b567593p-1, 0x1.183b82a0b8ffdp-2, -0x1.5b1aa69acad10p-2, 0x1.1d5a158d4a0f1p-2, -0x1.6d93dfb412edap-3,
    0x1.1c18466e9e86ep-4, 0x1.504cc8ae58d35p-6, -0x1.3a7171239d9bfp-4, 0x1.868ef987c1d94p-4, -0x1.7a02c18d58aadp-4,
    0x1.2dc2721ac7953p-4, -0x1.ef2b1cf87e968p-7, -0x1.f3bc6eff0a0e9p-5, 0x1.267a844f6403fp-4, -0x1.a1285e91f4cd7p-6,};
// x^(-1/3), 1 <= x <= 2: start of an iteration
inline constexpr double kRcbrt[] = {
    0x1.aa913e4c930ecp+0, -0x1.2992df8a9809cp+0, 0x1.5e8accb9a7d37p-1, -0x1.bb1bec900c2fdp-3, 0x1.c731837107b28p-6,};
// lgamma(x) / ((x-1)(x-2)) in x - 1.875, 1.25 <= x <= 2.5
inline constexpr double kLgamma[] = {
    0x1.be5346f51a230p-2, -0x1.bf346f5de0ad4p-4, 0x1.384caef1e460ep-5, -0x1.f3cb040748d76p-7, 0x1.ae0b9be13ab1dp-8,
    -0x1.82bef48fe674fp-9, 0x1.661e03b787940p-10, -0x1.527a91d9f1a46p-11, 0x1.44c724763ef43p-12,
    -0x1.3b3d6a75f8d01p-13, 0x1.34c4f596993b4p-14, -0x1.30a7dc319e8dcp-15, 0x1.2e6d96451bd6fp-16,
    -0x1.2dd14c4d6ae94p-17, 0x1.2e783b3da949bp-18, -0x1.2f30c454ad69cp-19, 0x1.3200548c4b2ebp-20,
    -0x1.4230a1d780439p-21, 0x1.472cc6b3682a8p-22, -0x1.e7600b5f0ad91p-24, 0x1.efa1ffd5281f0p-25,
    -0x1.352b25e84472dp-24, 0x1.3d09be2ce0241p-25,};
// x * (remainder of Stirling's formula for lgamma x) in 1/x^2, x >= 12
inline constexpr double kStirling[] = {
    0x1.5555555555555p-4, -0x1.6c16c16c16bc7p-9, 0x1.a01a019f671cfp-11, -0x1.38137ed9c0f28p-11, 0x1.b94e0cf0e9da7p-11,
    -0x1.f5108b369174bp-10, 0x1.78e827440addap-8,};
// I0(x) in (x/8)^2, |x| <= 8
inline constexpr double kI0Small[] = {
    0x1.0000000000000p+0, 0x1.0000000000004p+4, 0x1.fffffffffff45p+5, 0x1.c71c71c71d358p+6, 0x1.c71c71c70ef94p+6,
    0x1.2345678a3b363p+6, 0x1.02e85c00c634fp+5, 0x1.522a448d1c138p+3, 0x1.522a3bdea4416p+1, 0x1.0b318351a4203p-1,
    0x1.55fceae2f697ap-4, 0x1.69fbf8016c6a9p-7, 0x1.401b06c070f1fp-10, 0x1.f72e4735e2d2fp-14, 0x1.05433b1b32441p-17,
    0x1.294193ed78270p-20,};
// I1(x) / x in (x/8)^2, |x| <= 8
inline constexpr double kI1Small[] = {
    0x1.0000000000001p-1, 0x1.fffffffffffc2p+1, 0x1.55555555559d4p+3, 0x1.c71c71c7142d2p+3, 0x1.6c16c16c96198p+3,
    0x1.845c8a03acf9dp+2, 0x1.27e4fbe6ed8a7p+1, 0x1.522a3cc360512p-1, 0x1.2c97acda75e79p-3, 0x1.ab7c6ebf88594p-6,
    0x1.f1b8681cc90c3p-9, 0x1.e031f2b9145b3p-12, 0x1.98bd48a59a129p-15, 0x1.c9644eff0bafdp-19, 0x1.16bc17a036b2fp-21,};
// e^-x sqrt(x) I0(x) in 16/x - 1, x >= 8
inline constexpr double kI0Large[] = {
    0x1.9bd428ad249a5p-2, 0x1.b87969bb93b75p-9, 0x1.1daa72b5e650cp-13, 0x1.75e5ee71edd16p-17, 0x1.8e513a1d5e565p-20,
    0x1.3f49a6bcfbc97p-22, 0x1.7d0f75812a0b7p-24, 0x1.51ced7b73b645p-25, 0x1.7224b182fefbcp-26, 0x1.03896ef6acd1fp-27,
    -0x1.ce768f08a3a54p-28, -0x1.cc90f58c11456p-27, -0x1.77cc955a3edacp-28, 0x1.0317d4946ab5ep-27,
    0x1.047454ee946cep-27, -0x1.df15485dbeec5p-29, -0x1.a9411c3db9459p-28, 0x1.9bbbfad60f1b4p-30,
    0x1.0ab5ef525eb03p-28, -0x1.31c903bb4ed9dp-31, -0x1.e8fd995589913p-30, 0x1.42a55144231d2p-33,
    0x1.1ce147e230bc9p-31, -0x1.5210904d0cff6p-36, -0x1.36e52cc9dd947p-34,};
// e^-x sqrt(x) I1(x) in 16/x - 1, x >= 8
inline constexpr double kI1Large[] = {
    0x1.8ebe783a84030p-2, -0x1.3f796198ee628p-7, -0x1.cbc54df1ece76p-13, -0x1.f89c23066d27ap-17,
    -0x1.ec8e1017444bcp-20, -0x1.76137e6904aafp-22, -0x1.ad8db6e1fba30p-24, -0x1.727a73a831ab3p-25,
    -0x1.9180f82a7cad4p-26, -0x1.21895bb2f5232p-27, 0x1.cd818475f531ap-28, 0x1.e20e7d54f8362p-27,
    0x1.9f203ce39a7cap-28, -0x1.0630cda5475aap-27, -0x1.1465ce7452b12p-27, 0x1.d43458d7a5de5p-29,
    0x1.bdc8daec6ba56p-28, -0x1.858c71e616939p-30, -0x1.162964f09de47p-28, 0x1.1aee82c9e7f00p-31,
    0x1.fce6b3b0d2db6p-30, -0x1.272ad7603fa3dp-33, -0x1.283962e047ca1p-31, 0x1.33e83124b6d29p-36,
    0x1.432b0b5fc49ebp-34,};
// amplitude P of J0 and Y0 in (8/x)^2, x >= 8
inline constexpr double kP0[] = {
    0x1.0000000000000p+0, -0x1.1ffffffffe5fbp-10, 0x1.cb5fffe8ce870p-16, -0x1.251ed77e24c1bp-19,
    0x1.84b6e1a477595p-22, -0x1.b75a44e2d9588p-24, 0x1.74be864a6aea9p-25, -0x1.9f81652d0a264p-26,
    0x1.fe16a4b716609p-27, -0x1.1d9d82fcaaba8p-27, 0x1.ed513ff822940p-29, -0x1.13acf41bc1b1bp-30,
    0x1.22b3e063c05f3p-33,};
// amplitude Q times x of J0 and Y0 in (8/x)^2, x >= 8
inline constexpr double kQ0[] = {
    -0x1.ffffffffffffdp-4, 0x1.2bfffffff1adcp-10, -0x1.d11dff99bc901p-15, 0x1.ba4c10874329ap-18,
    -0x1.8608d6ce77a8ap-20, 0x1.12de5696f57dcp-21, -0x1.155e2252bbb03p-22, 0x1.5ef595d822e50p-23,
    -0x1.d39d837158c7ep-24, 0x1.12e94d06791b8p-24, -0x1.e8aa63a50d48bp-26, 0x1.15e8a35d1d739p-27,
    -0x1.286195ef42fc5p-30,};
// amplitude P of J1 and Y1 in (8/x)^2, x >= 8
inline constexpr double kP1[] = {
    0x1.0000000000000p+0, 0x1.dffffffffe47dp-10, -0x1.274ffff3bd40ap-15, 0x1.5a6a468cb90c6p-19,
    -0x1.b88b797832ec0p-22, 0x1.e5a296867240cp-24, -0x1.955f94afd5df7p-25, 0x1.bf322ecfdbc46p-26,
    -0x1.10cec7a389253p-26, 0x1.3074b680f6427p-27, -0x1.066ba8af9e172p-28, 0x1.24f50a6b5808bp-30,
    -0x1.34b4b17f336ddp-33,};
// amplitude Q times x of J1 and Y1 in (8/x)^2, x >= 8
inline constexpr double kQ1[] = {
    0x1.7ffffffffffffp-2, -0x1.a3fffffff0e32p-10, 0x1.1c3cffca0bb1ap-14, -0x1.fe57cb82a1774p-18,
    0x1.b3eca0f1662a9p-20, -0x1.2d143ab36bb5ep-21, 0x1.2bc3401b99acep-22, -0x1.780a0672a14dep-23,
    0x1.f27d511c70625p-24, -0x1.2439cdee6e7dap-24, 0x1.034c7eda7339dp-25, -0x1.26a4e168e0dcbp-27,
    0x1.3a08d5d1a88fap-30,};
// J0(x) in x^2, |x| <= 2
inline constexpr double kJ0Small[] = {
    0x1.0000000000000p+0, -0x1.0000000000000p-2, 0x1.fffffffffffdfp-7, -0x1.c71c71c71b9e2p-12, 0x1.c71c71c6c6693p-18,
    -0x1.2345677593da0p-24, 0x1.02e8565126cf4p-31, -0x1.5228402ec4b51p-39, 0x1.51bc3cad689cap-47,
    -0x1.fc4a5f117a595p-56,};
// J1(x) / x in x^2, |x| <= 2.5
inline constexpr double kJ1Small[] = {
    0x1.0000000000000p-1, -0x1.ffffffffffffep-5, 0x1.5555555555484p-9, -0x1.c71c71c715ba7p-15, 0x1.6c16c16a57518p-21,
    -0x1.845c898713fe5p-28, 0x1.27e4e316277e7p-35, -0x1.5224c2c09f107p-43, 0x1.2bd6a02f2c657p-51,
    -0x1.8e27e7f1fd162p-60,};
// J0: pieces [(2.0, 4.0), (4.0, 7.0), (7.0, 8.0)], around the centres below
inline constexpr double kJ0[3][18] = {
    {-0x1.09cdb36551280p-1, 0x1.ba1deea029495p-4, 0x1.cfae864368d71p-5, -0x1.1bb1cbe1a41c1p-7, -0x1.1f992590d0eeap-9,
     0x1.15382ba096233p-12, 0x1.6ed3b9ee1291fp-15, -0x1.232c78026538cp-18, -0x1.1cce2abf62d17p-21,
     0x1.7ff9680f97ba4p-25, 0x1.294c48fd0f2cfp-28, -0x1.5b7815463de39p-32, -0x1.c7e7b0c677ae5p-36,
     0x1.0e404115d7d58p-39, 0x1.6b908eacac61ep-45, 0.0, 0.0, 0.0},
    {0x1.5c6e60a097823p-2, -0x1.f8f72e7a848dep-6, -0x1.b2150cb41e8c1p-5, 0x1.2f7ffe90256b9p-8, 0x1.27e31fe9a9761p-9,
     -0x1.6f641f419560dp-13, -0x1.863f481a41472p-15, 0x1.ad77d74894ef0p-19, 0x1.32e6d99b6cb47p-21,
     -0x1.2da37e33761bdp-25, -0x1.41d72cefef58ap-28, 0x1.1d04318e4f34cp-32, 0x1.e2f2bcbafa403p-36,
     -0x1.8497b93616512p-40, -0x1.102c1c2c3efefp-43, 0x1.90b49f1007dfbp-48, 0x1.d153634af83e7p-52,
     -0x1.34f4a1ca641acp-56},
    {-0x1.15f7977a69351p-2, 0x1.00f7fcfc4e68bp-6, 0x1.68b9850ad19b4p-5, -0x1.48e62f87a85a5p-9, -0x1.0e0d5164ae22ap-9,
     0x1.d7990817dcd0fp-14, 0x1.7807dc5fb9e5cp-15, -0x1.32c1855d11564p-19, -0x1.2fee63a0d772ap-21,
     0x1.dcdaa20cab4e3p-26, 0x1.56055b93d55eep-28, -0x1.77a33475b24cfp-33, -0x1.f27fbd145cf82p-36, 0.0, 0.0, 0.0, 0.0,
     0.0},
};
inline constexpr double kJ0Centre[3] = {0x1.33d152e971b40p+1, 0x1.6148f5b2c2e45p+2, 0x1.14eb56cccdecap+3};
inline constexpr double kJ0Low[3] = {-0x1.0f539d7da258ep-53, 0x1.75054cd60a517p-54, -0x1.51970714c7c25p-52};
// J1: pieces [(2.5, 5.4), (5.4, 8.0)], around the centres below
inline constexpr double kJ1[2][17] = {
    {-0x1.9c6cf582cbf7fp-2, 0x1.ae8a39f51ad06p-5, 0x1.b589d1da13903p-5, -0x1.537544c331da0p-8, -0x1.24b3409958f5bp-9,
     0x1.6e4c2d5353a3fp-13, 0x1.83a06e30b2237p-15, -0x1.9799d4c97f189p-19, -0x1.33825cc952bb2p-21,
     0x1.170691f9efd0fp-25, 0x1.4569ac96b9885p-28, -0x1.03b9c7be9399dp-32, -0x1.ec5e8a86d7429p-36,
     0x1.5eb1fbd5dffbbp-40, 0x1.1700c7752a91bp-43, -0x1.5ff4d92a258e7p-48, -0x1.bc1cfa9d83f67p-52},
    {0x1.33518b3874e8ap-2, -0x1.5e70dc60362c2p-6, -0x1.80c83bdeee5b0p-5, 0x1.9a4b292e3de4ap-9, 0x1.13fbc7d6981fep-9,
     -0x1.07358bbdc0333p-13, -0x1.796a751f871f7p-15, 0x1.4255b015f2c32p-19, 0x1.3026e0cda1682p-21,
     -0x1.d48dce03129e8p-26, -0x1.44639d3a6b111p-28, 0x1.c62d01bc2273fp-33, 0x1.ecaefbbc34bd7p-36,
     -0x1.3bc703600b9a6p-40, -0x1.188e1515b37fdp-43, 0x1.4d41462ee5ca0p-48, 0x1.14b79e2cf032ep-51},
};
inline constexpr double kJ1Centre[2] = {0x1.ea75575af6f09p+1, 0x1.c0ff5f3b47250p+2};
inline constexpr double kJ1Low[2] = {-0x1.60155a9d1b256p-53, -0x1.b226d9d243827p-54};
inline constexpr double kY0Zero = 0x1.c982eb8d417eap-1, kY0ZeroLow = 0x1.ea9d270347f83p-56;
// (Y0(x) - 2/pi log(x/zero) J0(x)) / (x^2 - zero^2) in x^2, 0 < x <= 2
inline constexpr double kY0Small[] = {
    0x1.750811790a13cp-3, -0x1.12583f4a4abcbp-6, 0x1.268a9aaaeae0ep-11, -0x1.4c030d998c715p-17, 0x1.cf0413c86ca69p-24,
    -0x1.b796fcec32635p-31, 0x1.2eb2927506f81p-38, -0x1.3bfe05f9e1924p-46, 0x1.ef66776699d8ap-55,};
// (Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x in x^2, 0 < x <= 1.6
inline constexpr double kY1Small[] = {
    -0x1.91866143cbc8ap-3, 0x1.bd3975c75b4a6p-5, -0x1.835b97894bdc8p-9, 0x1.2c7dbffcd9fa7p-14, -0x1.0a780ac5253f4p-20,
    0x1.32e5a38ea7d2bp-27, -0x1.f0cd563f1bb13p-35, 0x1.2a23007b41dacp-42, -0x1.0b6dd81e77470p-50,};
// Y0: pieces [(2.0, 3.0), (3.0, 5.0), (5.0, 6.3), (6.3, 8.0)], around the centres below
inline constexpr double kY0[4][19] = {
    {0x1.fe0628069e15dp-2, -0x1.2ad720f3af3a9p-3, -0x1.c24187d5e1706p-3, 0x1.977cb3a5331bcp-5, 0x1.0ebd002e3ad7bp-7,
     -0x1.80d4033124d8fp-11, -0x1.6bd70c5ffd0dcp-11, 0x1.729c0769671f1p-13, -0x1.72eb2db0dfb78p-15,
     0x1.1f44aa8737a15p-16, -0x1.b1669fc8fb112p-18, 0x1.3be395e3e0146p-19, -0x1.d1188afc8625fp-21,
     0x1.590a6a3c4f551p-22, -0x1.fc004989012bdp-24, 0x1.7c4244dd8f5c7p-25, -0x1.5488b63220130p-26,
     0x1.011c563a5aed1p-27, 0.0},
    {-0x1.9c34256a12a0cp-2, 0x1.a09c9290367f0p-5, 0x1.df6d59bf50ebap-5, -0x1.c116fdc59800dp-8, -0x1.1e32bc4ef857fp-9,
     0x1.9982765152449p-13, 0x1.ab2c1fec0db74p-15, -0x1.486371d1da09ep-18, -0x1.3b216613be065p-22,
     -0x1.7770b72a7d74fp-26, 0x1.452e397a268b0p-26, -0x1.f68b97e5593c2p-29, 0x1.a5b73708cf4b0p-31,
     -0x1.9a1c5663b5cc5p-33, 0x1.87846e0d7a2ccp-35, -0x1.68df1811e6daap-37, 0x1.6a4623987288ep-39,
     -0x1.ba6db0744952ep-41, 0x1.645fc00ac09e1p-43},
    {-0x1.542c28d0b9b4dp-2, 0x1.2ab1b3b5bc68dp-4, 0x1.46f4b8a6b3a29p-3, -0x1.5b34ff35e3ea5p-6, -0x1.7b01ad3879303p-7,
     0x1.50b9c0946d7eep-10, 0x1.50b6dc60527a0p-12, -0x1.0055790ee9b50p-15, -0x1.53ae16b8db896p-18,
     0x1.cf2b8a4e74335p-22, 0x1.990ffb6f37c2dp-25, -0x1.d8bdff15badd4p-29, -0x1.a2fe62ff773e3p-32,
     0x1.0bdf73e1f474cp-35, 0x1.bd12520c624dbp-42, 0.0, 0.0, 0.0, 0.0},
    {0x1.334cca0697a5bp-2, -0x1.5aef611fc4d5ap-6, -0x1.8969c64cbf452p-5, 0x1.b2f14a95527b7p-9, 0x1.1d35e85fde1d3p-9,
     -0x1.26dd71e39066ap-13, -0x1.8177e4fe331bcp-15, 0x1.6a922732b0462p-19, 0x1.34aa75508831dp-21,
     -0x1.0a281274a601fp-25, -0x1.442a136b96fe2p-28, 0x1.fa674fee850bcp-33, 0x1.f11c35f2bed53p-36,
     -0x1.6e94a50d579f4p-40, -0x1.f32302f50c50ap-44, 0.0, 0.0, 0.0, 0.0},
};
inline constexpr double kY0Centre[4] = {0x1.4000000000000p+1, 0x1.fa9534d98569cp+1, 0x1.699999999999ap+2, 0x1.c581dc4e72103p+2};
inline constexpr double kY0Low[4] = {0x0.0p+0, -0x1.f06ae7804384ep-54, 0x0.0p+0, -0x1.9774a495f56cfp-54};
// Y1: pieces [(1.6, 2.8), (2.8, 4.4), (4.4, 6.5), (6.5, 8.0)], around the centres below
inline constexpr double kY1[4][21] = {
    {0x1.0aa48442f014bp-1, -0x1.e56f82217b8f1p-4, -0x1.0d2af4e932384p-5, -0x1.3a6dec3729922p-8, 0x1.e671c7d119393p-8,
     -0x1.5429dc5a05cfbp-9, 0x1.17ab4afacc924p-10, -0x1.0b2d8798a592dp-11, 0x1.eea7bbc031ee7p-13,
     -0x1.c3fad6d4e95f2p-14, 0x1.9d17484a5b640p-15, -0x1.79587e08dcc1ep-16, 0x1.5866b159d1218p-17,
     -0x1.39fefd3f284bep-18, 0x1.1e5bc9d21e449p-19, -0x1.07602720968b1p-20, 0x1.df06e07ede38ap-22,
     -0x1.8afc00822171ap-23, 0x1.6d6ba94a8517ep-24, -0x1.0cefbfbe03f9cp-24, 0x1.dcd727a9e743ap-26},
    {0x1.a95c75452f948p-2, 0x1.08cb1bb150933p-5, -0x1.91bbfb3536ce2p-3, 0x1.5ca0a2b2c87c6p-7, 0x1.92072503c6313p-7,
     -0x1.42595a8912784p-12, -0x1.d468df739a798p-12, 0x1.1d7dd6f857736p-15, 0x1.449c539d519bbp-22,
     0x1.7b4a0e373f85ap-20, -0x1.13f6549be1abdp-21, 0x1.153438963151bp-23, -0x1.2ea6624348cd5p-25,
     0x1.56b575d097ce5p-27, -0x1.7f84116ecf690p-29, 0x1.9ef0e7c0c6053p-31, -0x1.cea6b580dc64ep-33,
     0x1.5141d747a9183p-34, -0x1.779a10be02721p-36, 0.0, 0.0},
    {-0x1.5c7c556f0c19ap-2, 0x1.00b9f8571ca19p-5, 0x1.a15d92dfe3e27p-5, -0x1.10a329e2c23fdp-8, -0x1.1be6db9923a0bp-9,
     0x1.337c7e1390091p-13, 0x1.85b940eb439bcp-15, -0x1.80619148c7769p-19, -0x1.255e6cd50b69ep-21,
     0x1.b62cd1a185647p-26, 0x1.80b17dcf28d02p-28, -0x1.a7ee905e2c055p-32, 0x1.4292df3eeb860p-39,
     -0x1.383394b43c7f7p-38, 0x1.4597a5e03840fp-40, -0x1.bf3a21c48ebcdp-43, 0x1.7be4074a4894ep-45,
     -0x1.0986162d60ed6p-47, 0.0, 0.0, 0.0},
    {0x1.15f993fceb554p-2, -0x1.02b3933c6d380p-6, -0x1.6395dfe308e31p-5, 0x1.3ced2a8d49939p-9, 0x1.07a679c70c7a3p-9,
     -0x1.b50d46e987ff0p-14, -0x1.6f7b147aa9c2bp-15, 0x1.17782ba99015ap-19, 0x1.2c0b53715e485p-21,
     -0x1.a13a1bb5361d8p-26, -0x1.3dc97b06c58b5p-28, 0x1.c9518f84b49ebp-33, 0x1.1ceaf61eec939p-35,
     -0x1.fe401ce12d3e9p-42, -0x1.bbcb4fb07d503p-44, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
};
inline constexpr double kY1Centre[4] = {0x1.193bed4dff243p+1, 0x1.ccccccccccccdp+1, 0x1.5b7fe4e87b02ep+2, 0x1.13127ae6169b4p+3};
inline constexpr double kY1Low[4] = {-0x1.bd1e50d219bfdp-55, 0x0.0p+0, 0x1.dfe7bac228e8cp-52, 0x1.479cc068d9046p-52};
// (e^r - 1 - r) / r^2, |r| <= ln2/2
inline constexpr float kExpF[] = {
    0x1.0000000000000p-1f, 0x1.5554dc0000000p-3f, 0x1.5555160000000p-5f, 0x1.120ba40000000p-7f,
    0x1.6d14940000000p-10f,};
// (2^r - 1) / r, |r| <= 1/2
inline constexpr float kExp2F[] = {
    0x1.62e4300000000p-1f, 0x1.ebfbe00000000p-3f, 0x1.c6af6c0000000p-5f, 0x1.3b2a500000000p-7f,
    0x1.5f08a40000000p-10f, 0x1.44160e0000000p-13f,};
// (log(1+f) - f + f^2/2) / f^3, |f| <= 1/3
inline constexpr float kLogF[] = {
    0x1.5555560000000p-2f, -0x1.ffffb60000000p-3f, 0x1.9999540000000p-3f, -0x1.5578360000000p-3f,
    0x1.24b2880000000p-3f, -0x1.f757fe0000000p-4f, 0x1.bf1b580000000p-4f, -0x1.fcd3c40000000p-4f,
    0x1.d018820000000p-4f,};
// (log((1+s)/(1-s)) / s - 2) / s^2 in s^2, |s| <= 0.2
inline constexpr float kLogTailF[] = {
    0x1.5555560000000p-1f, 0x1.999a6e0000000p-2f, 0x1.242bd40000000p-2f, 0x1.e682660000000p-3f,};
// (sin r / r - 1) / r^2 in r^2, |r| <= pi/4
inline constexpr float kSinF[] = {
    -0x1.5555520000000p-3f, 0x1.110c260000000p-7f, -0x1.9ac8560000000p-13f,};
// (cos r - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4
inline constexpr float kCosF[] = {
    0x1.5555540000000p-5f, -0x1.6c12d00000000p-10f, 0x1.9bd7860000000p-16f,};
// (asin x / x - 1) / x^2 in x^2, |x| <= 1/2
inline constexpr float kAsinF[] = {
    0x1.5555540000000p-3f, 0x1.3334320000000p-4f, 0x1.6d5b8e0000000p-5f, 0x1.fd921a0000000p-6f, 0x1.18e1f60000000p-6f,
    0x1.14138c0000000p-5f,};
// (atan x / x - 1) / x^2 in x^2, |x| <= 1
inline constexpr float kAtanF[] = {
    -0x1.5555540000000p-2f, 0x1.99983c0000000p-3f, -0x1.246cd20000000p-3f, 0x1.c3f1680000000p-4f,
    -0x1.6295f80000000p-4f, 0x1.0001c60000000p-4f, -0x1.25dc120000000p-5f, 0x1.ba9f660000000p-7f,
    -0x1.38de560000000p-9f,};
// (sinh x / x - 1) / x^2 in x^2, |x| <= 1
inline constexpr float kSinhF[] = {
    0x1.5555560000000p-3f, 0x1.11111e0000000p-7f, 0x1.a009000000000p-13f, 0x1.78a70e0000000p-19f,};
// (tanh x / x - 1) / x^2 in x^2, |x| <= 0.55
inline constexpr float kTanhF[] = {
    -0x1.5555560000000p-2f, 0x1.1111040000000p-3f, -0x1.ba142c0000000p-5f, 0x1.6579040000000p-6f,
    -0x1.1762740000000p-7f, 0x1.4b1a280000000p-9f,};
// erf x / x - 1 in x^2, |x| <= 1
inline constexpr float kErfF[] = {
    0x1.06eba80000000p-3f, -0x1.8127460000000p-2f, 0x1.ce2f080000000p-4f, -0x1.b829c80000000p-6f,
    0x1.562a600000000p-8f, -0x1.bccf660000000p-11f, 0x1.d887500000000p-14f, -0x1.445f480000000p-17f,};
// -log(erfc x) in x, 1 <= x <= 4
inline constexpr float kErfTailF[] = {
    0x1.918d100000000p-11f, 0x1.203a900000000p+0f, 0x1.473d860000000p-1f, 0x1.a70a1a0000000p-4f,
    -0x1.725b4a0000000p-6f, 0x1.c1e29a0000000p-9f, -0x1.4c55220000000p-12f, 0x1.bd58b80000000p-17f,};
// (1 + 2x) e^(x^2) erfc x in (x-4)/(x+4), x >= 0
inline constexpr float kErfcxF[] = {
    0x1.3ba5920000000p+0f, -0x1.1df1a80000000p-3f, 0x1.f7f6240000000p-7f, 0x1.16ebf80000000p-4f,
    -0x1.9ddc120000000p-4f, 0x1.7ff5fa0000000p-4f, -0x1.0fa8fa0000000p-4f, 0x1.30400e0000000p-5f,
    -0x1.09c9260000000p-6f, 0x1.4d1b640000000p-8f, -0x1.7791740000000p-11f, -0x1.04b5ba0000000p-12f,
    0x1.e916e20000000p-14f,};
// x^(-1/3), 1 <= x <= 2: start of an iteration
inline constexpr float kRcbrtF[] = {
    0x1.aa913e0000000p+0f, -0x1.2992e00000000p+0f, 0x1.5e8acc0000000p-1f, -0x1.bb1bec0000000p-3f,
    0x1.c731840000000p-6f,};

}  // namespace heddle::libdevice
