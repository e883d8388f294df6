"""Data to train on: yours; scikit-learn's digits, always there; Fashion-MNIST and MNIST, found or downloaded."""

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from dpcourse.base import validate
from dpcourse.base.files import data_folder
from dpcourse.base.languages import listed, say
from dpcourse.dpsgd import processes, rows
from dpcourse.dpsgd.rows import Rows

PARTS = "train_inputs", "train_targets", "test_inputs", "test_targets"
WHOLE = torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64
DEBIAN = Path("/usr/share/datasets")
SECONDS_TO_WAIT = 10  # for a server's first sign of life


@dataclass(frozen=True, eq=False, repr=False)
class Data:
    """Rows, one for each person: images, token ids, rows of a table; a part to train on and perhaps one to test on.

    Each of the four is a tensor, or what numpy makes an array of, whose first dimension is the people; or several of
    these in a tuple or a dict, which a model is given as its arguments. Inputs and targets of a part have the same
    length, the part to train on at least 1; an empty part to test on is none. Tensors stay as they are; arrays become
    tensors, of torch's default precision (float32), or int64 where the numbers are whole. An array on a disk
    (numpy.memmap) stays there, and what is needed of it is read, batch by batch. Targets are classes where they are one
    whole number per person. name: of the data set; classes: their names, in the order of the numbers, where they have
    names; train_empty: which rows to train on are empty, a bool for each, or None for none: an empty row tosses its coin
    and adds nothing (see emptied); home: the device on which rows are handed out, None for that of the tensors; share:
    (first, people) where several processes train and each holds rows of its own: of how many people in all processes
    these rows are, and the number of the first of them. ValueError otherwise.

    >>> import numpy as np
    >>> Data(np.eye(3), np.array([0.5, 1.5, 2.5]), name="Toy")
    Toy: 3 rows to train on, none to test on, 3 numbers each
    """

    train_inputs: Rows
    train_targets: Rows
    test_inputs: Rows | None = None
    test_targets: Rows | None = None
    name: str = "data"
    classes: tuple[str, ...] | None = None
    train_empty: torch.Tensor | None = None
    home: torch.device | None = None
    share: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name in PARTS:
            object.__setattr__(self, name, _rows(name, getattr(self, name)))
        if (self.test_inputs is None) != (self.test_targets is None):
            raise ValueError("test_inputs and test_targets must both be given, or neither, got one of them")
        _same_length("train", self.train_inputs, self.train_targets)
        if self.test_inputs is not None and self.test_targets is not None:
            _same_length("test", self.test_inputs, self.test_targets)
        if len(self) == 0:
            raise ValueError("train_inputs must have at least one row, got none")
        if self.train_empty is not None:
            object.__setattr__(self, "train_empty", _tensor("train_empty", self.train_empty))
            if self.train_empty.dtype != torch.bool or self.train_empty.shape != (len(self),):
                raise ValueError(
                    f"train_empty must be {len(self)} values True or False, one for each row, got "
                    f"{self.train_empty.dtype} of shape {tuple(self.train_empty.shape)}"
                )
        if self.share is not None:
            first, people = validate.whole("share[0]", self.share[0], 0), validate.whole("share[1]", self.share[1])
            if first + len(self) > people:
                raise ValueError(f"share must be (first, people) with first + {len(self)} <= people, got {self.share}")
        if self.test_inputs is not None and rows.count(self.test_inputs) == 0:
            object.__setattr__(self, "test_inputs", None)
            object.__setattr__(self, "test_targets", None)

    def __len__(self) -> int:
        """The number of rows to train on."""
        return rows.count(self.train_inputs)

    @property
    def people(self) -> int:
        """The number of rows to train on, in all processes."""
        return len(self) if self.share is None else self.share[1]

    def mine(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the rows of a batch that this process takes, by their place in its data.

        >>> Data([[3.0], [4.0]], [0.0, 1.0], share=(5, 8)).mine(torch.tensor([1, 5, 6, 7])).tolist()
        [0, 1]
        """
        if self.share is None:
            return processes.share(batch)
        own = batch - self.share[0]
        return own[(own >= 0) & (own < len(self))]

    @property
    def device(self) -> torch.device:
        """On which rows are handed out."""
        return self.home or rows.device_of(self.train_inputs)

    @property
    def shape(self) -> Any:
        """Of the inputs of one person: channels, height and width of an image, as the models take them; one for each part."""
        return rows.each(lambda part: tuple(part.shape[1:]), self.train_inputs)

    @property
    def has_classes(self) -> bool:
        """Whether the targets are classes: one whole number per person."""
        targets = self.train_targets
        return rows.is_one(targets) and targets.ndim == 1 and rows.taken(targets, slice(0, 1)).dtype in WHOLE

    def chosen(self, these: torch.Tensor | slice | list[int]) -> tuple[Rows, Rows]:
        """Return inputs and targets of some rows to train on, on the data's device.

        >>> Data({"age": [3, 4]}, [1.0, 2.0]).chosen([1])
        ({'age': tensor([4])}, tensor([2.]))
        """
        return rows.on(rows.taken((self.train_inputs, self.train_targets), these), self.device)

    def tests(self, size: int) -> Iterator[tuple[Rows, Rows]]:
        """Yield inputs and targets to test on, in parts of at most so many rows, on the data's device."""
        if self.test_inputs is not None:
            parts = rows.split((self.test_inputs, self.test_targets), size)
            yield from (rows.on(part, self.device) for part in parts)

    def emptied(self, these: int | Sequence[int]) -> "Data":
        """Return a neighbour: the same data in which these rows to train on are empty, and all that was in them is gone.

        these: an index or several, each in [0, number of rows). ValueError otherwise. What lies on a disk stays there, and
        is not read.

        >>> data = Data([[1.0], [2.0]], [3.0, 4.0]).emptied(1)
        >>> data.train_inputs.tolist(), data.train_empty.tolist()
        ([[1.0], [0.0]], [False, True])
        """
        n, places = len(self), torch.as_tensor(these, dtype=torch.int64).reshape(-1)
        if any(not 0 <= place < n for place in places.tolist()):
            raise ValueError(f"these must be in [0, {n}), got {places.tolist()}")
        empty = torch.zeros(n, dtype=torch.bool) if self.train_empty is None else self.train_empty.clone()
        empty[places] = True

        def without(part):
            return part.index_fill(0, places.to(part.device), 0) if isinstance(part, torch.Tensor) else part

        inputs, targets = rows.each(without, (self.train_inputs, self.train_targets))
        return replace(self, train_inputs=inputs, train_targets=targets, train_empty=empty)

    def filled(self, these: torch.Tensor) -> torch.Tensor:
        """Return those of the rows to train on with these indices that are not empty."""
        return these if self.train_empty is None else these[~self.train_empty[these]]

    def on(self, device: torch.device) -> "Data":
        """Return the same data on a device; what lies on a disk is moved there when it is needed."""
        return replace(
            self, home=device, **{name: rows.on(getattr(self, name), device) for name in (*PARTS, "train_empty")}
        )

    def __repr__(self) -> str:
        shapes = {"": self.shape} if rows.is_one(self.train_inputs) else rows.named(self.shape)
        images = len(shapes.get("", ())) == 3 and rows.taken(self.train_inputs, slice(0, 1)).is_floating_point()
        train, test = len(self), 0 if self.test_inputs is None else rows.count(self.test_inputs)
        parts = [
            say("{train:,} images to train on", train=train)
            if images
            else say("{train:,} rows to train on", train=train),
            say("{test:,} to test on", test=test) if test else say("none to test on"),
        ]
        for part, shape in shapes.items():
            size = " x ".join(map(str, shape[1:] if images else shape or (1,)))
            if images:
                about = say("{size} pixels", size=size)
            else:
                about = say("1 number each") if size == "1" else say("{size} numbers each", size=size)
            parts.append(say("{part}: {about}", part=part, about=about) if part else about)
        if self.classes is not None:
            parts.append(say("{number} classes", number=len(self.classes)))
        return say("{name}: {parts}", name=self.name, parts=listed(parts, "{first}, {then}"))


def _rows(name, values):
    """Return the tensor of a part, or the tuple or dict of its tensors."""
    if isinstance(values, Mapping):
        return {key: _tensor(f"{name}[{key!r}]", part) for key, part in values.items()}
    if isinstance(values, tuple) and values and all(getattr(part, "ndim", 0) for part in values):
        return tuple(_tensor(f"{name}[{place}]", part) for place, part in enumerate(values))
    return _tensor(name, values)


def _tensor(name, values):
    """Return a tensor or an array on a disk as it is, whatever else numpy takes as a tensor."""
    if isinstance(values, torch.Tensor) or (values is None and name.startswith("test")):
        found = values
    else:
        if isinstance(values, Dataset):
            raise ValueError(
                f"{name} must be numbers, got a {type(values).__name__}: for a Dataset of torch write a loop of your own "
                "with dpsgd.loader"
            )
        array = values if isinstance(values, rows.OnDisk) else np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise ValueError(
                f"{name} must be numbers, a tensor or a numpy array, got {array.dtype} ({type(values).__name__})"
            )
        on_disk = isinstance(array, rows.OnDisk)
        found = array if on_disk else torch.from_numpy(np.require(array, rows.dtype_of(array), ["C", "W"]))
    if found is not None and found.ndim == 0:
        raise ValueError(f"{name} must have one row per person in its first dimension, got a single number")
    return found


def _same_length(part, inputs, targets):
    first, second = rows.count(inputs), rows.count(targets)
    if first != second:
        raise ValueError(f"{part}_targets must have one row for each of {part}_inputs ({first}), got {second}")


def people_of(rows: int, public_n: int | None) -> int:
    """Return the number of people that settings are made from: public_n, or else the number of rows.

    public_n: None, or whole, >= 1, and not the number of rows; ValueError otherwise.

    >>> people_of(1437, None), people_of(1437, 1500)
    (1437, 1500)
    """
    if public_n is None:
        return rows
    if validate.whole("public_n", public_n) == rows:
        raise ValueError(
            f"public_n must be a number written down before the rows were counted, got {public_n}, which is the number "
            "of rows; without public_n the account holds for a row emptied, and the number of rows is public"
        )
    return validate.whole("public_n", public_n)


def digits() -> Data:
    """Return scikit-learn's 1,797 handwritten digits of 8 x 8 pixels: 1,437 to train on and 360 to test on.

    The split is always the same, and each class has its share in both parts.
    Source: Alpaydin & Kaynak (1998), Optical recognition of handwritten digits, UCI Machine Learning Repository.

    >>> digits()
    Digits: 1,437 images to train on, 360 to test on, 8 x 8 pixels, 10 classes
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    bundle = load_digits()
    train, test, train_targets, test_targets = train_test_split(
        bundle.images, bundle.target, test_size=360, random_state=0, stratify=bundle.target
    )
    return _data((train, train_targets, test, test_targets), white=16, name="Digits", classes=tuple("0123456789"))


def fashion_mnist() -> Data:
    """Return Fashion-MNIST, 60,000 photographs to train on and 10,000 to test on; the digits where it cannot be had.

    The files are looked for where Debian's package dataset-fashion-mnist puts them, then in the folder of the learner's
    data; else they are downloaded into that folder and compared with their checksums. What failed is printed.
    Source: Xiao, Rasul & Vollgraf (2017), Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms.
    """
    return _load(FASHION_MNIST)


def mnist() -> Data:
    """Return MNIST, 60,000 handwritten digits to train on and 10,000 to test on, found or downloaded like Fashion-MNIST.

    Source: LeCun, Cortes & Burges (1998), The MNIST database of handwritten digits.
    """
    return _load(MNIST)


@dataclass(frozen=True)
class _Source:
    """A data set in MNIST's four files: names of the files with sha256, and the addresses that have them."""

    name: str
    folder: str
    mirrors: tuple[str, ...]
    checksums: dict[str, str]
    classes: tuple[str, ...]
    debian_package: str | None = None


FASHION_MNIST = _Source(
    name="Fashion-MNIST",
    folder="fashion-mnist",
    mirrors=(
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    ),
    checksums={
        "train-images-idx3-ubyte.gz": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        "train-labels-idx1-ubyte.gz": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "t10k-images-idx3-ubyte.gz": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "t10k-labels-idx1-ubyte.gz": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    },
    classes=(
        *("T-shirt/top", "trouser", "pullover", "dress", "coat"),
        *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
    ),
    debian_package="dataset-fashion-mnist",
)

MNIST = _Source(
    name="MNIST",
    folder="mnist",
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
    checksums={
        "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    },
    classes=tuple("0123456789"),
)


def _load(source):
    """Return the data set from the first place that has all of it, or the digits and what was tried."""
    tried = []
    for place, find in _places(source):
        try:
            arrays = [_array(find(file)) for file in source.checksums]
            return _data(arrays, white=255, name=source.name, classes=source.classes)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            tried.append(f"  {_what_happened(place, error)}")
    instead = say("{name} cannot be had, so here are the digits instead. Tried:", name=source.name)
    print("\n".join([instead, *tried, _advice(source)]))
    return digits()


def _places(source):
    """Yield where to look, in this order, each with a function from a file's name to its path."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    if source.debian_package:
        yield DEBIAN / source.folder, (DEBIAN / source.folder).joinpath
    for mirror in source.mirrors:
        store = pooch.create(path=_folder(source), base_url=mirror, registry=source.checksums)
        yield mirror, lambda file, store=store: store.fetch(file, downloader=_download)


def _folder(source):
    return data_folder() / "datasets" / source.folder


def _download(url, file, store):
    """Download a file; pooch calls this when a file is not in the store, or not whole."""
    import pooch

    print(say("Downloading {url}", url=url), flush=True)
    pooch.HTTPDownloader(timeout=SECONDS_TO_WAIT)(url, file, store)


def _array(path):
    """Return the bytes in a gzipped IDX file, MNIST's format: 0, 0, 8, dimensions, then big-endian sizes, then data."""
    with gzip.open(path) as stream:
        content = stream.read()
    if content[:3] != b"\0\0\x08":
        raise ValueError(f"{path} is not an IDX file of bytes")
    dimensions = content[3]
    sizes = np.frombuffer(content, ">u4", count=dimensions, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(sizes)


def _data(arrays, white, **about):
    train, train_targets, test, test_targets = arrays
    inputs = [torch.from_numpy(np.float32(images[:, None]) / white) for images in (train, test)]
    targets = [torch.from_numpy(classes.astype(np.int64)) for classes in (train_targets, test_targets)]
    return Data(inputs[0], targets[0], inputs[1], targets[1], **about)


def _what_happened(place, error):
    if isinstance(error, (ValueError, EOFError, zlib.error, gzip.BadGzipFile)):
        return say("{place} has a damaged file", place=place)
    answer = getattr(error, "response", None)
    if answer is not None:
        return say("{place} answered {status}", place=place, status=answer.status_code)
    if error.strerror:
        return f"{place} ({error.strerror}: {error.filename})"
    return say("{place} cannot be reached", place=place)


def _advice(source):
    files = {"files": ", ".join(source.checksums), "mirror": source.mirrors[0], "folder": _folder(source)}
    if source.debian_package is None:
        return say("To get it: save {files} from {mirror} in {folder}", **files)
    return say(
        "To get it: `apt-get install {package}` on Debian or Ubuntu, or save {files} from {mirror} in {folder}",
        package=source.debian_package,
        **files,
    )
