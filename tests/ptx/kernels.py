"""The kernels of this folder that are not element-wise: memory, control flow, warps, barriers. Called by generate.py."""
import random

from kernel_file import Kernel
from kernels_control import barriers, control, warps
from kernels_memory import atomics, memory


def write_all(write):
    rng = random.Random(77)

    def k(*arguments, **named):
        Kernel(write, *arguments, **named)

    words = [rng.getrandbits(32) for _ in range(64)]
    small = [rng.randrange(40) for _ in range(64)]
    memory(k, rng, words)
    atomics(k, rng)
    warps(k, rng, words, small)
    control(k, rng, small)
    barriers(k, rng, words)
