"""How precisely a GPU multiplies: fast where that is asked for, in full for all that privacy rests on."""

import contextlib
import functools
from collections.abc import Callable
from contextlib import AbstractContextManager

import torch

PRECISIONS = ["float32", "tf32", "bf16"]
_SWITCHES: tuple = (  # of TF32, from the most general to the most special
    torch.backends,
    torch.backends.cudnn,
    torch.backends.cuda.matmul,
    torch.backends.cudnn.conv,  # type: ignore[attr-defined]
    torch.backends.cudnn.rnn,
)


def passes(precision: str, device: torch.device | str) -> AbstractContextManager[Callable]:
    """Let forward and backward passes run at a precision; gives the context for the forward pass."""
    kind = torch.device(device).type
    bf16 = precision == "bf16"
    forward = functools.partial(torch.autocast, kind, torch.bfloat16) if bf16 else contextlib.nullcontext
    return _tf32(kind, precision == "tf32", forward)


def full_precision(device: torch.device | str) -> AbstractContextManager:
    """Switch TF32 and autocast off for norms and sums: a norm too small by 1e-3 is a bound that does not hold."""
    kind = torch.device(device).type
    return _without_autocast(kind) if torch.is_autocast_enabled(kind) else _tf32(kind, False)


@contextlib.contextmanager
def _without_autocast(kind):
    with torch.autocast(kind, enabled=False), _tf32(kind, False):
        yield


def _tf32(kind, allowed, gives=None):
    """Allow TF32, or not, where there is such a thing."""
    return _switched(allowed, gives) if kind == "cuda" else contextlib.nullcontext(gives)


@contextlib.contextmanager
def _switched(allowed, gives):
    before = [switch.fp32_precision for switch in _SWITCHES]
    try:
        _set(["tf32" if allowed else "ieee"] * len(_SWITCHES))
        yield gives
    finally:
        _set(before)


def _set(precisions):
    """Set the switches; one that follows a more general one needs no touch, and so goes on following it."""
    for switch, precision in zip(_SWITCHES, precisions, strict=True):
        if switch.fp32_precision != precision:
            switch.fp32_precision = precision
