"""The processor's clock, as a short program measures it."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

# Each addition needs the result of the one before, and takes one cycle. The compiler must not merge
# them, and what is added is not known to it.
PROGRAM = r"""
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#define ADD x += y; __asm__ volatile("" : "+r"(x));
#define TEN ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int argc, char **argv) {
  uint64_t x = 0, y = (uint64_t)argc;
  double best = 0;
  for (int round = 0; round < 20; round++) {
    double start = now();
    for (int i = 0; i < 200000; i++) { TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN }
    double rate = 200000 * 100 / (now() - start);
    if (rate > best) best = rate;
  }
  printf("%.0f\n", best / 1e6);
  return x == 0 || !argv;
}
"""


def measured_mhz() -> int | None:
    """Returns the clock of one busy core, or None without a C compiler."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "clock.c"), Path(folder, "clock")
        source.write_text(PROGRAM)
        compiler = shlex.split(os.environ.get("CC", "cc"))
        try:
            subprocess.run([*compiler, "-O2", "-o", program, source], check=True)
            done = subprocess.run([program], check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError):
            return None
    return int(done.stdout)
