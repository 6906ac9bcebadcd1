"""Ways to forge files that have checksums: zip archives, models, maps, replays, ONNX graphs.

Each takes random numbers and the bytes of an undamaged file, and returns what was done and the
bytes of one that is well-formed in its outer layers, and wrong inside.
"""

import hashlib
import io
import json
import random
import struct
import zipfile

import numpy as np
import torch

from hostile import damage
from midrange_puffer.replays.format import parameters_hash

HUGE = (40_000, 2**31, 10**12)
BOMB = 600  # megabytes
TINY = 8000  # empty objects for each of them


def of_zip(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    """Changes a member and its checksum, or declares other sizes."""
    if rng.random() < 0.2:
        at = rng.choice([at for at in range(len(data)) if data.startswith(b"PK\x01\x02", at)])
        size = struct.pack("<II", *rng.choices((0, 2**31, 2**32 - 2), k=2))
        return "sizes declared anew", data[: at + 20] + size + data[at + 28 :]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    index = rng.randrange(len(members))
    name, content = members[index]
    way = rng.choice(("change", "change", "change", "drop", "rename", "bomb", "fold"))
    kind = zipfile.ZIP_STORED
    if way == "change" and content:
        what, content = damage.of_bytes(rng, content, [b"", b"{}"])
        way = f"{way}: {what}"
    elif way == "bomb":
        content, kind = bytes(BOMB * damage.MEGABYTE), zipfile.ZIP_DEFLATED
    elif way == "fold":
        kind = zipfile.ZIP_DEFLATED
    members[index] = (name + "x" * (way == "rename"), content)
    if way == "drop":
        del members[index]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return f"member {index}, {name}: {way}", out.getvalue()


def of_torch(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    """Changes entries or tensors of a file of torch.save."""
    if rng.random() < 0.4:
        return of_zip(rng, data)
    entries = torch.load(io.BytesIO(data), weights_only=False)
    tensors = [entry for entry in damage.entries(entries) if torch.is_tensor(entry[1][entry[2]])]
    if rng.random() < 0.5 or not tensors:
        told, entries = damage.of_tree(rng, entries)
        if rng.random() < 0.3 and isinstance(entries, dict) and "policy" in entries:
            entries["policy"] = {"hidden_size": rng.choice(HUGE)}
            told = f"policy = {entries['policy']}"
    else:
        where, parent, key = rng.choice(tensors)
        what, parent[key] = _other_tensor(rng, parent[key])
        told = f"{where}: {what}"
    out = io.BytesIO()
    torch.save(entries, out)
    return told, out.getvalue()


def _other_tensor(rng: random.Random, old: torch.Tensor) -> tuple[str, object]:
    dtype = rng.choice((torch.float64, torch.int64, torch.complex64, torch.bool, torch.bfloat16))
    value = rng.choice((float("nan"), float("inf"), -float("inf"), 1e30, 1e-45))
    spoilt = old.clone().float()
    spoilt.view(-1)[:1] = value
    return rng.choice(
        (
            (f"first number {value}", spoilt),
            (f"all {value}", torch.full_like(old.float(), value)),
            (f"as {dtype}", old.to(dtype)),
            ("flat", old.reshape(-1)),
            ("empty", old.reshape(-1)[:0]),
            ("of 4 TB by strides of 0", torch.zeros(1).expand(10**6, 10**6)),
            ("of its shape by strides of 0", torch.zeros(()).expand(old.shape)),
            ("sparse", old.float().to_sparse()),
            ("with gradient", torch.nn.Parameter(old.clone().float())),
            ("a list", old.tolist()),
        )
    )


def of_map(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    """Changes arrays of an .npz file, or declares an array far greater than it is."""
    if rng.random() < 0.4:
        return of_zip(rng, data)
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    name = rng.choice(sorted(arrays))
    if name == "identity" or rng.random() < 0.3:
        told, tree = damage.of_tree(rng, json.loads(arrays["identity"].item()))
        arrays["identity"] = np.array(damage.to_json(tree).decode(errors="replace"))
        return f"identity: {told}", _savez(arrays)
    told, arrays[name] = rng.choice(
        (
            ("nan", np.full(arrays[name].shape, np.nan, np.float32)),
            ("negative", -arrays[name]),
            ("flat", arrays[name].ravel()),
            ("one row", arrays[name][:1]),
            ("float64", arrays[name].astype(float)),
            ("text", np.array("x")),
            ("declared of 4 TB", None),
            ("objects, a pickle", np.array([{}], object)),
        )
    )
    return f"{name}: {told}", _savez(arrays)


def _savez(arrays: dict[str, np.ndarray | None]) -> bytes:
    """Returns an .npz file; an array that is None is declared of 4 TB and has no numbers."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            part = io.BytesIO()
            if array is None:
                header = {"descr": "<f4", "fortran_order": False, "shape": (10**6, 10**6)}
                np.lib.format.write_array_header_1_0(part, header)
            else:
                np.save(part, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", part.getvalue())
    return out.getvalue()


def of_replay(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    """Changes the header or the controls of a replay, with the checksums that fit."""
    start = data.index(b"\n") + 1
    head, _, controls = data[start + 40 :].partition(b"\n")
    header = json.loads(head)
    way = rng.choice(("header", "header", "header", "controls", "bomb", "size", "long", "tiny"))
    told = way
    if way == "header":
        told, header = damage.of_tree(rng, header)
        if isinstance(header, dict) and rng.random() < 0.5:
            text = damage.to_json(header.get("parameters")).decode(errors="replace")
            if damage.DEEP not in str(header):
                text = json.dumps(header.get("parameters"), sort_keys=True)
            header["parameters_hash"] = hashlib.sha256(text.encode()).hexdigest()
    elif way == "controls":
        told, controls = damage.of_bytes(rng, controls, [])
    elif way == "bomb":
        controls = damage.bomb(BOMB)
        header["decisions"] = rng.choice((header["decisions"], BOMB * damage.MEGABYTE // 24))
    elif way == "long":  # as the rules allow, so that the controls fill gigabytes
        parameters = header["parameters"]
        parameters |= {"time_limit": 3600, "physics_dt": 0.001, "substeps": 1}
        header["parameters_hash"] = parameters_hash(parameters)
        header["decisions"] = BOMB * damage.MEGABYTE // (12 * len(header["pilots"]))
        controls = damage.bomb(BOMB)
    elif way == "tiny":
        header["meta"] = {"x": [{} for _ in range(BOMB * TINY)]}
    else:
        header["decisions"] = rng.choice(HUGE)
        told = f"decisions = {header['decisions']}"
    body = damage.to_json(header) + b"\n" + controls
    length = struct.pack("<Q", len(body))
    return told, data[:start] + length + hashlib.sha256(body).digest() + body


def of_onnx(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    """Changes metadata, weights or the graph of an exported policy."""
    import onnx

    model = onnx.load_from_string(data)
    way = rng.choice(("metadata", "metadata", "tiny", "weights", "shape", "node", "input"))
    told = way
    if way == "metadata":
        entry = rng.choice(model.metadata_props)
        told, tree = damage.of_tree(rng, json.loads(entry.value))
        told = f"{entry.key}: {told}"
        entry.value = damage.to_json(tree).decode(errors="replace")
    elif way == "tiny":
        rng.choice(model.metadata_props).value = f"[{'{},' * (BOMB * TINY)}{{}}]"
        told = "metadata of many empty objects"
    elif way == "weights":
        weights = rng.choice(model.graph.initializer)
        values = np.full(weights.dims, rng.choice((np.nan, np.inf, 1e30)), np.float32)
        weights.CopyFrom(onnx.numpy_helper.from_array(values, weights.name))
        told = f"{weights.name} = {values.flat[0] if values.size else 'empty'}"
    elif way == "shape":
        weights = rng.choice(model.graph.initializer)
        del weights.dims[:]
        weights.dims.extend([10**6, 10**6])
        told = f"{weights.name} declared of 4 TB"
    elif way == "node":
        node = rng.choice(model.graph.node)
        told = f"{node.op_type} made another"
        node.op_type = rng.choice(("Relu", "NoSuchNode", "Loop", "Gemm"))
    else:
        given = rng.choice([*model.graph.input, *model.graph.output])
        given.name += "x"
        told = f"{given.name} renamed"
    return told, model.SerializeToString()
