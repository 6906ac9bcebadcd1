"""Arrays as JSON takes them: little-endian numbers in base64."""

import base64

import numpy as np

Packed = dict[str, object]

MISSING = -32768  # not a number, among int16
_GREATEST = 32767


def pack(values: np.ndarray) -> Packed:
    """As float32."""
    return _pack(np.asarray(values, "<f4"), 1.0)


def pack_coarsely(values: np.ndarray) -> Packed:
    """As int16, to within half of `scale`: the greatest value / 32767."""
    values = np.asarray(values, np.float64)
    scale = float(np.nanmax(np.abs(values), initial=0)) / _GREATEST or 1.0
    numbers = np.where(np.isnan(values), MISSING, np.round(values / scale))
    return _pack(numbers.astype("<i2"), scale)


def _pack(values: np.ndarray, scale: float) -> Packed:
    data = base64.b64encode(values.tobytes()).decode()
    return {"type": values.dtype.name, "shape": values.shape, "scale": scale, "data": data}
