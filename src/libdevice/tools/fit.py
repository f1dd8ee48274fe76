#!/usr/bin/env python3
"""Derives every polynomial of the device math library and prints ../coefficients.h.

Each polynomial interpolates its function at Chebyshev nodes (near-minimax) in 70-digit arithmetic; the
coefficients are rounded once at the end. Standard error gets the relative error of each fit in bits.
Usage: fit.py > ../coefficients.h  (needs mpmath; a few minutes)
"""
import sys
import mpmath as mp

mp.mp.dps = 70
pi, ln2 = mp.pi, mp.log(2)


def interpolate(f, lo, hi, degree):
    """Monomial coefficients, lowest first, of the interpolant of f on [lo, hi]."""
    n = degree + 1
    mid, half = (mp.mpf(lo) + hi) / 2, (mp.mpf(hi) - lo) / 2
    nodes = [mp.cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values = [f(mid + half * t) for t in nodes]
    cheb = [2 * mp.fsum(values[k] * mp.cos(pi * j * (2 * k + 1) / (2 * n)) for k in range(n)) / n for j in range(n)]
    cheb[0] /= 2
    # Chebyshev series in t = (x - mid) / half to monomials in x, by Clenshaw's recurrence on polynomials.
    def times_t(p):
        r = [mp.mpf(0)] * (len(p) + 1)
        for i, c in enumerate(p):
            r[i + 1] += c / half
            r[i] -= c * mid / half
        return r
    def plus(p, q, s=1):
        m = max(len(p), len(q))
        return [(p[i] if i < len(p) else 0) + s * (q[i] if i < len(q) else 0) for i in range(m)]
    b1, b2 = [mp.mpf(0)], [mp.mpf(0)]
    for j in range(degree, 0, -1):
        b1, b2 = plus(plus([2 * c for c in times_t(b1)], b2, -1), [cheb[j]]), b1
    return plus(plus(times_t(b1), b2, -1), [cheb[0]])[:n]


def rounded(c, single):
    """Nearest double or float as a hexadecimal literal."""
    d = float(c)
    if not single:
        return d.hex()
    import struct
    return struct.unpack('f', struct.pack('f', d))[0].hex() + 'f'


def evaluate(coefficients, x):
    return mp.polyval(coefficients[::-1], x)


def one(f, lo, hi, degree, name):
    c = interpolate(f, lo, hi, degree)
    worst = 0
    for k in range(60):
        x = lo + (mp.mpf(hi) - lo) * (mp.mpf(k) + 0.37) / 60
        v = f(x)
        if v:
            worst = max(worst, abs(evaluate(c, x) / v - 1))
    print(f'{name}: {float(mp.log(worst, 2)):.1f} bits', file=sys.stderr, flush=True)
    return c


def emit(name, what, coefficients, single=False):
    kind = 'float' if single else 'double'
    print(f'// {what}')
    print(f'inline constexpr {kind} {name}[] = {{')
    row = '   '
    for c in coefficients:
        word = ' ' + rounded(c, single) + ','
        if len(row) + len(word) > 118:
            print(row)
            row = '   '
        row += word
    print(row + '};')


def fit(name, what, f, lo, hi, degree, single=False):
    emit(name, what, one(f, lo, hi, degree, name), single)


def emit_table(name, what, rows):
    """Rows of equal length for piecewise functions, picked at run time."""
    n = max(len(r) for r in rows)
    print(f'// {what}')
    print(f'inline constexpr double {name}[{len(rows)}][{n}] = {{')
    for r in rows:
        words = [rounded(c, False) for c in r] + ['0.0'] * (n - len(r))
        line = '    {'
        for i, w in enumerate(words):
            w += ',' if i + 1 < len(words) else '},'
            if len(line) + len(w) + 1 > 118:
                print(line)
                line = '    '
            line += (' ' if line[-1] != '{' else '') + w
        print(line)
    print('};')


def double_double(x):
    hi = float(x)
    return hi, float(x - mp.mpf(hi))


def odd(f, k0=1):
    """(f(x)/x - k0)/x^2 as a function of x^2."""
    return lambda z: (f(mp.sqrt(z)) / mp.sqrt(z) - k0) / z


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x) if x < 40 else mp.nsum(
        lambda k: (-1)**int(k) * mp.fac2(2 * int(k) - 1) / (2 * x * x)**int(k), [0, 30]) / (x * mp.sqrt(pi))


def erfcx_scaled(t):
    if t == 1:
        return 2 / mp.sqrt(pi)
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * erfcx(x)


def erfcinv(q):
    y = mp.sqrt(-mp.log(q)) if q < 0.1 else mp.mpf(0.5)
    for _ in range(60):
        d = (mp.erfc(y) - q) / (2 / mp.sqrt(pi) * mp.exp(-y * y))
        y += d / (1 - y * d)
        if abs(d) < mp.mpf(10)**-40:
            break
    return y


def erfcinv_ratio(t):
    s = 3 * (1 + t) / (1 - t)
    return erfcinv(mp.exp(-s * s)) / s


def pieces(name, f, table):
    """f near each of its zeros: f(x) = (x - zero) * P(x - centre) (no factor where zero is None)."""
    rows, centres = [], []
    for lo, hi, guess, degree in table:
        if guess is None:
            zero, centre, g = None, (mp.mpf(lo) + hi) / 2, f
        else:
            zero = mp.findroot(f, guess)
            centre = mp.mpf(float(zero))
            g = lambda x, z=zero: f(x) / (x - z)
        rows.append(one(lambda t: g(centre + t), lo - centre, hi - centre, degree, f'{name}[{lo},{hi}]'))
        centres.append((float(centre), float(zero - centre) if zero is not None else 0.0, zero is not None))
    emit_table(name, f'{name[1:]}: pieces {[(float(a), float(b)) for a, b, _, _ in table]}, around the centres below', rows)
    print(f'inline constexpr double {name}Centre[{len(rows)}] = {{' + ', '.join(c.hex() for c, _, _ in centres) + '};')
    print(f'inline constexpr double {name}Low[{len(rows)}] = {{' + ', '.join(l.hex() for _, l, _ in centres) + '};')


def asymptotic(order):
    def parts(z):
        x = 8 / mp.sqrt(z)
        chi = x - pi / 4 - order * pi / 2
        j, y, a = mp.besselj(order, x), mp.bessely(order, x), mp.sqrt(pi * x / 2)
        return a * (j * mp.cos(chi) + y * mp.sin(chi)), a * (y * mp.cos(chi) - j * mp.sin(chi)) * x
    return (lambda z: parts(z)[0]), (lambda z: parts(z)[1])


def main():
    print('''// Polynomial coefficients of the device math library, lowest power first.
// Printed by tools/fit.py, which derives them from scratch; don't edit. Tested through accuracy_test.cc.
#pragma once

// clang-format off
namespace heddle::libdevice {
''')
    q = (pi / 4)**2 * mp.mpf('1.001')
    zl = mp.mpf('0.02945')
    logz = odd(lambda s: 2 * mp.atanh(s), 2)
    stirling = lambda w: (mp.loggamma(1 / mp.sqrt(w)) - ((1 / mp.sqrt(w) - 0.5) * mp.log(1 / mp.sqrt(w))
                          - 1 / mp.sqrt(w) + mp.log(2 * pi) / 2)) / mp.sqrt(w)
    for name, value in (('Ln2', ln2), ('Log2e', 1 / ln2), ('Ln10', mp.log(10)), ('Log10e', 1 / mp.log(10)),
                        ('Log10Of2', ln2 / mp.log(10)), ('Log2Of10', mp.log(10) / ln2), ('Pi', pi), ('PiOver2', pi / 2),
                        ('TwoOverPi', 2 / pi), ('SqrtHalf', mp.sqrt(0.5)), ('TwoThirds', mp.mpf(2) / 3),
                        ('HalfLog2Pi', mp.log(2 * pi) / 2), ('Sqrt2', mp.sqrt(2)), ('HalfSqrtPi', mp.sqrt(pi) / 2),
                        ('LogPi', mp.log(pi)), ('TwoOverSqrtPi', 2 / mp.sqrt(pi))):
        hi, lo = double_double(value)
        low = float(value - mp.mpf(hi) - mp.mpf(lo))
        print(f'inline constexpr double k{name} = {hi.hex()}, k{name}Lo = {lo.hex()}, k{name}Lowest = {low.hex()};')
        parts, rest = [], value
        for _ in range(3):
            parts.append(rounded(rest, True))
            rest -= mp.mpf(float.fromhex(parts[-1][:-1]))
        print(f'inline constexpr float k{name}F = {parts[0]}, k{name}LoF = {parts[1]}, k{name}LowestF = {parts[2]};')
    # 2/pi behind 64 zero bits, for the reduction of huge arguments.
    with mp.workdps(420):
        bits = int(mp.floor(2 / +mp.pi * mp.mpf(2)**1280))
    words = [0] + [(bits >> (1280 - 64 * (i + 1))) & (2**64 - 1) for i in range(20)]
    print('inline constexpr unsigned long long kTwoOverPiBits[] = {')
    for i in range(0, 21, 5):
        print('    ' + ' '.join(f'0x{w:016x},' for w in words[i:i + 5]))
    print('};')
    # Double precision.
    fit('kExp', '(e^r - 1 - r) / r^2, |r| <= ln2/2', lambda r: (mp.exp(r) - 1 - r) / r**2, -0.3467, 0.3468, 10)
    fit('kLog', '(log((1+s)/(1-s)) / s - 2) / s^2 in s^2, |s| <= 0.1716', logz, 0, zl, 7)
    fit('kLogTail', '((log((1+s)/(1-s)) / s - 2) / s^2 - 2/3) / s^2 in s^2', lambda z: (logz(z) - mp.mpf(2) / 3) / z, 0, zl, 8)
    fit('kSin', '(sin r / r - 1) / r^2 in r^2, |r| <= pi/4', odd(mp.sin), 0, q, 5)
    fit('kCos', '(cos r - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4',
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, 0, q, 5)
    fit('kAsin', '(asin x / x - 1) / x^2 in x^2, |x| <= 1/2', odd(mp.asin), 0, 0.2501, 13)
    fit('kAtan', '(atan x / x - 1) / x^2 in x^2, |x| <= 1', odd(mp.atan), 0, 1, 21)
    fit('kSinh', '(sinh x / x - 1) / x^2 in x^2, |x| <= 1', odd(mp.sinh), 0, 1, 6)
    fit('kTanh', '(tanh x / x - 1) / x^2 in x^2, |x| <= 0.55', odd(mp.tanh), 0, 0.3026, 11)
    fit('kErf', 'erf x / x - 1 in x^2, |x| <= 1', lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, 0, 1, 12)
    fit('kErfcx', '(1 + 2x) e^(x^2) erfc x in (x-4)/(x+4), x >= 0', erfcx_scaled, -1, 1, 24)
    fit('kErfinv', 'erfinv x / x in x^2, |x| <= 1/2', lambda z: mp.erfinv(mp.sqrt(z)) / mp.sqrt(z), 0, 0.2501, 13)
    fit('kErfcinvGuess', 'erfcinv(e^(-s^2)) / s in (s-3)/(s+3), 0.83 <= s <= 27.3', erfcinv_ratio, -0.567, 0.803, 14)
    fit('kRcbrt', 'x^(-1/3), 1 <= x <= 2: start of an iteration', lambda x: x**(mp.mpf(-1) / 3), 1, 2, 4)
    fit('kLgamma', 'lgamma(x) / ((x-1)(x-2)) in x - 1.875, 1.25 <= x <= 2.5',
        lambda t: mp.loggamma(t + 1.875) / ((t + 0.875) * (t - 0.125)), -0.6251, 0.6251, 22)
    fit('kStirling', 'x * (remainder of Stirling\'s formula for lgamma x) in 1/x^2, x >= 12', stirling, mp.mpf(10)**-8, mp.mpf(1) / 144, 6)
    fit('kI0Small', 'I0(x) in (x/8)^2, |x| <= 8', lambda z: mp.besseli(0, 8 * mp.sqrt(z)), 0, 1, 15)
    fit('kI1Small', 'I1(x) / x in (x/8)^2, |x| <= 8', lambda z: mp.besseli(1, 8 * mp.sqrt(z)) / (8 * mp.sqrt(z)), 0, 1, 14)
    scaled_i = lambda n: lambda t: mp.besseli(n, 16 / (1 + t)) * mp.exp(-16 / (1 + t)) * mp.sqrt(16 / (1 + t))
    fit('kI0Large', 'e^-x sqrt(x) I0(x) in 16/x - 1, x >= 8', scaled_i(0), -1 + mp.mpf(2)**-24, 1, 24)
    fit('kI1Large', 'e^-x sqrt(x) I1(x) in 16/x - 1, x >= 8', scaled_i(1), -1 + mp.mpf(2)**-24, 1, 24)
    for order in (0, 1):
        p, qq = asymptotic(order)
        fit(f'kP{order}', f'amplitude P of J{order} and Y{order} in (8/x)^2, x >= 8', p, mp.mpf(10)**-6, 1, 12)
        fit(f'kQ{order}', f'amplitude Q times x of J{order} and Y{order} in (8/x)^2, x >= 8', qq, mp.mpf(10)**-6, 1, 12)
    j0, j1 = (lambda x: mp.besselj(0, x)), (lambda x: mp.besselj(1, x))
    y0, y1 = (lambda x: mp.bessely(0, x)), (lambda x: mp.bessely(1, x))
    fit('kJ0Small', 'J0(x) in x^2, |x| <= 2', lambda z: j0(mp.sqrt(z)), 0, 4, 9)
    fit('kJ1Small', 'J1(x) / x in x^2, |x| <= 2.5', lambda z: j1(mp.sqrt(z)) / mp.sqrt(z), 0, 6.25, 9)
    pieces('kJ0', j0, [(2, 4, 2.4, 14), (4, 7, 5.52, 17), (7, 8, 8.65, 12)])
    pieces('kJ1', j1, [(2.5, 5.4, 3.83, 16), (5.4, 8, 7.01, 16)])
    # Near 0 both Y have a logarithm: the rest is entire. 0.8935.. is Y0's first zero, and both parts of it vanish there.
    zero = mp.findroot(y0, 0.8935)
    hi, lo = double_double(zero)
    print(f'inline constexpr double kY0Zero = {hi.hex()}, kY0ZeroLow = {lo.hex()};')
    fit('kY0Small', '(Y0(x) - 2/pi log(x/zero) J0(x)) / (x^2 - zero^2) in x^2, 0 < x <= 2',
        lambda z: (y0(mp.sqrt(z)) - 2 / pi * mp.log(mp.sqrt(z) / zero) * j0(mp.sqrt(z))) / (z - zero**2), 0, 4, 8)
    fit('kY1Small', '(Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x in x^2, 0 < x <= 1.6',
        lambda z: (y1(mp.sqrt(z)) - 2 / pi * (mp.log(z) / 2 * j1(mp.sqrt(z)) - 1 / mp.sqrt(z))) / mp.sqrt(z), 0, 2.56, 8)
    pieces('kY0', y0, [(2, 3, None, 17), (3, 5, 3.957, 18), (5, 6.3, None, 14), (6.3, 8, 7.086, 14)])
    pieces('kY1', y1, [(1.6, 2.8, 2.197, 20), (2.8, 4.4, None, 18), (4.4, 6.5, 5.43, 17), (6.5, 8, 8.596, 14)])
    # Single precision.
    fit('kExpF', '(e^r - 1 - r) / r^2, |r| <= ln2/2', lambda r: (mp.exp(r) - 1 - r) / r**2, -0.3467, 0.3468, 4, True)
    fit('kExp2F', '(2^r - 1) / r, |r| <= 1/2', lambda r: (2**r - 1) / r, -0.5, 0.5001, 5, True)
    fit('kLogF', '(log(1+f) - f + f^2/2) / f^3, |f| <= 1/3', lambda f: (mp.log1p(f) - f + f * f / 2) / f**3, -0.33335, 0.33336, 8, True)
    fit('kLogTailF', '(log((1+s)/(1-s)) / s - 2) / s^2 in s^2, |s| <= 0.2', logz, 0, 0.0402, 3, True)
    fit('kSinF', '(sin r / r - 1) / r^2 in r^2, |r| <= pi/4', odd(mp.sin), 0, q, 2, True)
    fit('kCosF', '(cos r - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4',
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, 0, q, 2, True)
    fit('kAsinF', '(asin x / x - 1) / x^2 in x^2, |x| <= 1/2', odd(mp.asin), 0, 0.2501, 5, True)
    fit('kAtanF', '(atan x / x - 1) / x^2 in x^2, |x| <= 1', odd(mp.atan), 0, 1, 8, True)
    fit('kSinhF', '(sinh x / x - 1) / x^2 in x^2, |x| <= 1', odd(mp.sinh), 0, 1, 3, True)
    fit('kTanhF', '(tanh x / x - 1) / x^2 in x^2, |x| <= 0.55', odd(mp.tanh), 0, 0.3026, 5, True)
    fit('kErfF', 'erf x / x - 1 in x^2, |x| <= 1', lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, 0, 1, 7, True)
    fit('kErfTailF', '-log(erfc x) in x, 1 <= x <= 4', lambda x: -mp.log(mp.erfc(x)), 1, 4, 7, True)
    fit('kErfcxF', '(1 + 2x) e^(x^2) erfc x in (x-4)/(x+4), x >= 0', erfcx_scaled, -1, 1, 12, True)
    fit('kRcbrtF', 'x^(-1/3), 1 <= x <= 2: start of an iteration', lambda x: x**(mp.mpf(-1) / 3), 1, 2, 4, True)
    print('''
}  // namespace heddle::libdevice''')


main()
