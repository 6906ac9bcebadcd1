"""Archives: what is damaged or declares more than it has is refused before it takes memory."""

import io
import zipfile

import numpy as np
import pytest
from flips import flipped

from midrange_puffer.archives import read_arrays, read_zip, write_zip

MEMBERS = {"a/data": bytes(range(256)), "a/empty": b"", "b": b"text"}


def saved(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def with_header(header: bytes) -> bytes:
    """Returns an archive with an array of eight bytes under this header."""
    text = header.ljust(117) + b"\n"
    return write_zip({"x.npy": b"\x93NUMPY\x01\x00" + bytes([len(text), 0]) + text + bytes(8)})


def test_a_written_archive_is_read():
    assert read_zip(io.BytesIO(write_zip(MEMBERS))) == MEMBERS
    arrays = {"x": np.arange(6.0).reshape(2, 3), "text": np.array("word")}
    for name, values in read_arrays(io.BytesIO(saved(**arrays))).items():
        np.testing.assert_array_equal(values, arrays[name])
        assert values.dtype == arrays[name].dtype
    assert read_arrays(
        io.BytesIO(with_header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"))
    )


def test_no_flipped_bit_changes_a_member():
    refused = 0
    for damaged in flipped(write_zip(MEMBERS), 300):
        try:
            assert read_zip(io.BytesIO(damaged)) == MEMBERS
        except ValueError:
            refused += 1
    assert refused > 200


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"[a]", write_zip(MEMBERS)[:-30]])
def test_a_file_that_is_no_archive_is_refused(content):
    with pytest.raises(ValueError, match="not a zip file"):
        read_zip(io.BytesIO(content))


def test_an_archive_that_would_fill_the_memory_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(10**6))
    with pytest.raises(ValueError, match="is compressed"):
        read_zip(io.BytesIO(file.getvalue()))
    # Both headers of the member say that it is a terabyte long.
    whole = write_zip({"x": b"12345"})
    huge = whole.replace((5).to_bytes(4, "little"), (2**31).to_bytes(4, "little"))
    with pytest.raises(ValueError, match=r"declare 2147483648 bytes, more than its \d+"):
        read_zip(io.BytesIO(huge))


def test_two_members_of_one_name_are_refused():
    with pytest.raises(ValueError, match="same name"):
        read_zip(io.BytesIO(write_zip({"one": b"1", "two": b"2"}).replace(b"two", b"one")))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"{'descr': '<f4', 'fortran_order': False, 'shape': (10**12,)}", "malformed"),
        (b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", "and has 8"),
        (
            b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -2)}",
            "unknown dimension",
        ),
        (b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "declares 16 bytes and has 8"),
        (b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "pickle"),
        (b"(" * 117, "header cannot be read"),
    ],
)
def test_an_array_that_is_none_is_refused(header, message):
    with pytest.raises(ValueError, match=message):
        read_arrays(io.BytesIO(with_header(header)))
