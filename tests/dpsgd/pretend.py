"""A GPU that is not there: torch's Python backend for PrivateUse1, whose numbers lie on the CPU.

After install() there is a device "pretend", for the rest of the process. It computes what the CPU computes, to the bit,
and refuses what a GPU refuses: tensors on different devices, a generator that is not on its device; where `gpu` says so
also float64 and more bytes than it has. It counts what a GPU would wait for. It cannot show: kernels' rounding and order
of adding, speed, what kernels take for the moment, streams, autocast, nccl, a second GPU, and branches on "cuda".
"""

import collections
import contextlib
import dataclasses
import weakref

import torch
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode

COPIES = {"aten::copy_", "aten::_to_copy"}
ASKS = {"aten::_local_scalar_dense", "aten::nonzero", "aten::equal", "aten::is_nonzero", "aten::_unique2"}
INDEXING = {"aten::index.Tensor", "aten::index_put_", "aten::index", "aten::_index_put_impl_", "aten::index_put"}
PRETEND = "pretend"
KINDS = {PRETEND, "cuda"}


def lacking():
    """Why this torch cannot have such a device; empty where it can."""
    parts = (
        (backend_registration, "_setup_privateuseone_for_python_backend"),
        (getattr(torch._C, "_acc", None), "register_python_privateuseone_hook"),
        (torch.Tensor, "_make_wrapper_subclass"),
    )
    missing = [name for where, name in parts if not hasattr(where, name)]
    return f"torch {torch.__version__} lacks {missing[0]}, from which the pretend device is made" if missing else ""


# ---- the device and its tensors


@dataclasses.dataclass
class Gpu:
    """What the device may, what it has counted, and its own stream of random numbers.

    waits, kernels: counts by the name of the operation; room: the most bytes its tensors may take; live, most: the bytes
    they take now, and at most since `most` was set to 0; unsteady: a matrix product adds in an order of its own.
    """

    float64: bool = True
    room: float = float("inf")
    unsteady: bool = False
    late: Exception | None = None
    live: int = 0
    most: int = 0
    waits: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    kernels: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    tensors: dict = dataclasses.field(default_factory=dict)  # {storage: how many tensors of the device are in it}

    def room_for(self, raw):
        """Count the bytes of a tensor until the last one in the same storage is gone, and with it what this returns."""
        storage = raw.untyped_storage()
        address, size = storage._cdata, storage.nbytes()
        if address not in self.tensors:
            if self.live + size > self.room:
                self.refuse(torch.OutOfMemoryError(f"pretend: out of memory, {size:,} bytes are wanted"))
            self.live += size
            self.most = max(self.most, self.live)
        self.tensors[address] = self.tensors.get(address, 0) + 1
        held = Held()
        weakref.finalize(held, self._gone, address, size)
        return held

    def refuse(self, error):
        """Raise it; in a backward pass, where torch would end the process, let the next operation after it do so."""
        if torch._C._current_graph_task_id() == -1:
            raise error
        self.late = self.late or error

    def say_what_was_late(self):
        if self.late and torch._C._current_graph_task_id() == -1:
            error, self.late = self.late, None
            raise error

    def _gone(self, address, size):
        self.tensors[address] -= 1
        if not self.tensors[address]:
            del self.tensors[address]
            self.live -= size


class Held:
    """Memory of the device, as long as it lives."""


gpu = Gpu()


class There(torch.Tensor):
    """A tensor on the device. raw: the tensor on the CPU that has its numbers; kind: of the device."""

    def __new__(cls, raw, kind=PRETEND):
        layout = {"strides": raw.stride(), "storage_offset": raw.storage_offset(), "dtype": raw.dtype}
        self = torch.Tensor._make_wrapper_subclass(cls, raw.shape, **layout, device=torch.device(kind, 0))
        self.raw = raw
        self.held = gpu.room_for(raw)
        return self

    @classmethod
    def __torch_dispatch__(cls, op, types, args=(), kwargs=None):
        return run(op, *args, **kwargs or {})

    def __reduce_ex__(self, protocol):  # a checkpoint is read with map_location="cpu"
        return self.raw.__reduce_ex__(protocol)

    def tolist(self):
        return self.cpu().tolist()


# ---- an operation


def run(op, *args, **kwargs):
    """Do what a GPU would: refuse, count, compute."""
    gpu.say_what_was_late()
    call = Call(op, args, kwargs)
    call.refuse_if_apart()
    gpu.waits.update([call.name] if call.waits() else [])
    gpu.kernels.update([call.name] if call.on_device and not op.is_view else [])
    out = call.computed()
    if torch.Tag.inplace_view in op.tags:
        _reshape_wrapper(op, args, kwargs)
    return call.wrapped(out)


class Call:
    """One operation with its arguments, and where it runs."""

    def __init__(self, op, args, kwargs):
        self.op, self.args, self.kwargs, self.name = op, args, kwargs, op._schema.name
        tensors = [leaf for leaf in leaves((*args, *kwargs.values())) if isinstance(leaf, torch.Tensor)]
        self.there = [tensor for tensor in tensors if isinstance(tensor, There)]
        self.here = [tensor for tensor in tensors if not isinstance(tensor, There)]
        self.written = tensors[:1] if self.name.endswith("_") else []
        asked = kwargs.get("device")
        if self.name == "aten::copy_":
            self.on_device = isinstance(args[0], There)
        else:
            self.on_device = bool(self.there) if asked is None else asked.type in KINDS
        self.kind = (
            asked.type if asked is not None and self.on_device else self.there[0].device.type if self.there else ""
        )

    def refuse_if_apart(self):
        """As CUDA does: a single number, a copy and an index may come from the CPU, nothing else."""
        if self.there and self.name not in COPIES | INDEXING:
            lists = isinstance(self.args[0], list)
            apart = [x for x in self.here if x.ndim or lists or any(x is one for one in self.written)]
            if apart:
                gpu.refuse(
                    RuntimeError(f"{self.name}: expected all tensors to be on the same device, got cpu and {self.kind}")
                )
        generator = self.kwargs.get("generator")
        if generator is not None and self.on_device != (generator._cdata in Generator.on_device):
            gpu.refuse(RuntimeError(f"{self.name}: expected the generator to be on the device of the tensors"))

    def waits(self):
        """Whether the CPU cannot go on before the device has done all it was given."""
        if self.name in COPIES:
            to_cpu, from_cpu = self.there and not self.on_device, self.here and self.on_device
            return bool(to_cpu or from_cpu) and not self.kwargs.get("non_blocking", self.args[2:3] == (True,))
        if self.name in INDEXING and self.there:
            indices = leaves(self.args[1])
            return any(x is not None and (not isinstance(x, There) or x.dtype == torch.bool) for x in indices)
        return self.name in ASKS and bool(self.there)

    def computed(self):
        """The result, from tensors on the CPU."""
        args = [mapped(There, lambda x: x.raw, value) for value in self.args]
        kwargs = {name: mapped(There, lambda x: x.raw, value) for name, value in self.kwargs.items()}
        if kwargs.get("device") is not None:
            kwargs["device"] = torch.device("cpu")
        draws = self.on_device and torch.Tag.nondeterministic_seeded in self.op.tags
        with module.in_place_of_the_cpus() if draws and not kwargs.get("generator") else contextlib.nullcontext():
            out = self.op(*args, **kwargs)
        if gpu.unsteady and self.on_device and self.name in {"aten::mm", "aten::bmm", "aten::addmm"}:
            out = out * (1 + 1e-7 * torch.randn(out.shape, generator=module.order))
        return out

    def wrapped(self, out):
        """The result as tensors of the device; one that was written into stays the same object."""
        if not self.on_device:
            return out
        if not gpu.float64 and torch.float64 in [getattr(leaf, "dtype", None) for leaf in leaves([out])]:
            gpu.refuse(TypeError(f"{self.name}: the device has no float64"))
        known = {id(tensor.raw): tensor for tensor in self.there}
        return mapped(torch.Tensor, lambda x: known[id(x)] if id(x) in known else There(x, self.kind), out)


def leaves(values):
    """The values, and of lists what is in them: operations have no deeper ones."""
    return [leaf for value in values for leaf in (value if isinstance(value, list | tuple) else [value])]


def mapped(kind, change, value):
    """The value with everything of a kind changed, in a list too."""
    if isinstance(value, list | tuple):
        return type(value)(change(leaf) if isinstance(leaf, kind) else leaf for leaf in value)
    return change(value) if isinstance(value, kind) else value


def _reshape_wrapper(op, args, kwargs):
    """After unsqueeze_ and the like: the wrapper has to take the new shape."""
    with torch._C._DisableTorchDispatch():
        torch._C._set_meta_in_tls_dispatch_include(True)
        try:
            op(*args, **kwargs)
        finally:
            torch._C._set_meta_in_tls_dispatch_include(False)


class Labelled(TorchDispatchMode):
    """While it is on, tensors may be made on "cuda", as far as no gradient is recorded and no number is read.

    torch without CUDA has no more of it: it ends the process where such a tensor enters autograd.
    """

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        return run(op, *args, **kwargs or {})


# ---- random numbers


class Generator(torch.Generator):
    """torch.Generator that may be on the device: it is known by its address, since torch hands back one of its own class."""

    on_device: dict = {}  # noqa: RUF012

    def __new__(cls, device="cpu"):
        self = super().__new__(cls)
        self.place = torch.device(device)
        if self.place.type in KINDS:
            cls.on_device[self._cdata] = self
        return self

    @property
    def device(self):
        return self.place


class Module:
    """What torch.cuda is to a GPU."""

    def begin(self):
        self.default_generators = (Generator(PRETEND),)
        self.order = torch.Generator().manual_seed(0)  # of adding, where gpu.unsteady

    @contextlib.contextmanager
    def in_place_of_the_cpus(self):
        """What draws from torch's own generator draws from the device's."""
        cpus, (mine,) = torch.get_rng_state(), self.default_generators
        torch.set_rng_state(mine.get_state())
        try:
            yield
        finally:
            mine.set_state(torch.get_rng_state())
            torch.set_rng_state(cpus)

    def is_initialized(self):
        return True

    def is_available(self):
        return True

    def _is_in_bad_fork(self):
        return False

    def current_device(self):
        return 0

    def device_count(self):
        return 1

    def manual_seed_all(self, seed):
        self.default_generators[0].manual_seed(seed)


module = Module()
_libraries = []  # torch forgets what they register when they are gone


def install():
    """Let torch have the device. Once, in a process of its own: it cannot be taken away."""
    backend_registration._setup_privateuseone_for_python_backend(PRETEND, backend_module=module)
    everything, aten = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    everything.fallback(run, "PrivateUse1")
    aten.impl("copy_", lambda *args, **kwargs: run(torch.ops.aten.copy_.default, *args, **kwargs), "PrivateUse1")
    _libraries.extend([everything, aten])
    module.begin()
    torch.Generator = Generator
    torch.__future__.set_swap_module_params_on_conversion(True)  # model.to keeps the parameters the optimizer was given
