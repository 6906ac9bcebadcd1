"""The bytes of a simulation's snapshot: a mark, a digest, whose it is, and the state."""

import hashlib

MAGIC = b"midrange-snapshot-1\n"
DIGEST_BYTES = 32


def pack(identity: bytes, state: bytes) -> bytes:
    """Returns a snapshot.

    Args:
        identity: a digest of the simulation, which must be the same where it is restored.
        state: the state.
    """
    body = identity + state
    return MAGIC + hashlib.sha256(body).digest() + body


def unpack(snapshot: bytes, identity: bytes) -> bytes:
    """Returns the state in a snapshot.

    Raises:
        ValueError: It is no snapshot, is damaged, or of another simulation.
    """
    start = len(MAGIC) + DIGEST_BYTES
    if not snapshot.startswith(MAGIC):
        raise ValueError("not a snapshot of this version of midrange_puffer")
    digest, body = snapshot[len(MAGIC) : start], snapshot[start:]
    if hashlib.sha256(body).digest() != digest:
        raise ValueError("the snapshot is damaged or cut short")
    if not body.startswith(identity):
        raise ValueError("the snapshot is of a simulation of another size, seats or parameters")
    return body[len(identity) :]
