"""Helpers to read the page of a fight and its state in a browser."""

import base64
import io

import numpy as np
from PIL import Image

TYPES = {"float32": "<f4", "int16": "<i2"}


def unpack(packed):
    numbers = np.frombuffer(base64.b64decode(packed["data"]), TYPES[packed["type"]])
    missing = (packed["type"] == "int16") & (numbers == -32768)
    return np.where(missing, np.nan, numbers * packed["scale"]).reshape(packed["shape"])


def columns(packed):
    return dict(zip(packed["columns"], unpack(packed["entries"]), strict=True))


def text(page, element):
    return page.evaluate(f"document.getElementById('{element}').textContent")


def picture(page, element):
    return page.evaluate(f"document.getElementById('{element}').toDataURL()")


def is_shown(page, element):
    return page.evaluate(f"document.getElementById('{element}').checkVisibility()")


def click(page, element):
    page.evaluate(f"document.getElementById('{element}').click()")
    page.frame()


def time_of(page):
    return page.evaluate("document.getElementById('time').valueAsNumber")


def status(page):
    """Returns the texts of both seats, by name."""
    rows = page.evaluate(
        "Array.from(document.getElementById('status').tBodies[0].rows, "
        "(row) => Array.from(row.cells, (cell) => cell.textContent))"
    )
    return {name: cells for name, *cells in rows}


def go(page, place):
    page.evaluate(f"void (location.hash = '{place}')")
    page.frame()


def colour_count(page, element):
    return page.evaluate(
        f"""(() => {{
          const canvas = document.getElementById('{element}');
          const area = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(area.data.buffer)).size;
        }})()"""
    )


def screenshot(page, element) -> np.ndarray:
    """Returns an element as the window shows it, uint8 [height, width, 3]."""
    clip = page.evaluate(
        "(({ x, y, width, height }) => ({ x, y, width, height, scale: 1 }))"
        f"(document.getElementById('{element}').getBoundingClientRect())"
    )
    data = page.call("Page.captureScreenshot", format="png", clip=clip)["data"]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))
