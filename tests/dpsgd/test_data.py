"""The data of lesson 05: the same split always, whole files only, no stack trace without a network."""

import contextlib
import gzip
import hashlib
import re
import struct
import time
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from dpcourse import dpsgd
from dpcourse.dpsgd import data as module

with_debians_package = pytest.mark.skipif(
    not (module.DEBIAN / "fashion-mnist").exists(), reason="needs Debian's package dataset-fashion-mnist"
)


# ---- digits


def test_the_digits_are_scikit_learns_each_in_one_part():
    data = dpsgd.digits()
    both = torch.cat([data.train_inputs, data.test_inputs]).flatten(1).numpy()
    targets = torch.cat([data.train_targets, data.test_targets]).numpy()
    theirs = load_digits()
    ours = sorted(
        (*(16 * image).astype(int).tolist(), int(target)) for image, target in zip(both, targets, strict=True)
    )
    assert ours == sorted(
        (*image.astype(int).tolist(), int(target)) for image, target in zip(theirs.data, theirs.target, strict=True)
    )
    assert data.shape == (1, 8, 8)
    assert data.classes == tuple("0123456789")


def test_each_class_has_its_share_in_both_parts():
    data = dpsgd.digits()
    train, test = (torch.bincount(part) / len(part) for part in (data.train_targets, data.test_targets))
    assert torch.allclose(train, test, atol=0.003)


def test_the_split_is_the_same_everywhere():
    test = dpsgd.digits().test_inputs.mul(16).to(torch.uint8).numpy().tobytes()
    assert hashlib.sha256(test).hexdigest() == "3cc232bd25364446c8646cd9434a26e35ea92e20045d395b2fdd2232a75c9b8f"


# ---- one's own


def test_arrays_become_tensors_and_tensors_stay_as_they_are():
    rng = np.random.default_rng(0)
    table, prices = rng.standard_normal((5, 3)), rng.standard_normal(5)
    data = dpsgd.Data(table[::-1], prices, table[:2].astype(np.float16), [1.5, 2.5])
    assert {data.train_inputs.dtype, data.train_targets.dtype, data.test_inputs.dtype} == {torch.float32}
    assert np.array_equal(data.train_inputs.numpy(), table[::-1].astype(np.float32))
    tokens = np.arange(10, dtype=np.uint16).reshape(5, 2)
    tokens.setflags(write=False)
    data = dpsgd.Data(tokens, np.array([0, 1, 1, 0, 1], dtype=np.int8))
    assert (data.train_inputs.dtype, data.train_targets.dtype) == (torch.int64, torch.int64)
    assert data.train_inputs.tolist() == tokens.tolist()
    double, flags = torch.zeros(5, dtype=torch.float64), torch.zeros(5, dtype=torch.bool)
    data = dpsgd.Data(double, flags)
    assert data.train_inputs is double
    assert data.train_targets is flags


@pytest.mark.parametrize(
    ("targets", "classes"),
    [([0, 1], True), ([0.0, 1.0], False), ([[0], [1]], False), ([[0, 1], [1, 0]], False), ([False, True], False)],
    ids=["numbers of classes", "numbers", "a column", "one for each token", "flags"],
)
def test_targets_are_classes_where_they_are_one_whole_number_per_person(targets, classes):
    assert dpsgd.Data(np.zeros((2, 3)), targets).has_classes == classes


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dpsgd.digits(), "Digits: 1,437 images to train on, 360 to test on, 8 x 8 pixels, 10 classes"),
        (lambda: dpsgd.Data(np.zeros((3, 4)), [0, 1, 0]), "data: 3 rows to train on, none to test on, 4 numbers each"),
        (lambda: dpsgd.Data([1.5, 2], [0, 1]), "data: 2 rows to train on, none to test on, 1 number each"),
        (
            lambda: dpsgd.Data(np.ones((3, 5), int), [0, 1, 0], [[1] * 5], [1], "Texts", ("bad", "good")),
            "Texts: 3 rows to train on, 1 to test on, 5 numbers each, 2 classes",
        ),
        (
            lambda: dpsgd.Data(np.ones((3, 5, 2)), np.ones((3, 5))),
            "data: 3 rows to train on, none to test on, 5 x 2 numbers each",
        ),
    ],
    ids=["images", "table", "one column", "token ids", "series"],
)
def test_every_kind_of_data_says_what_it_is(make, says):
    assert repr(make()) == says


def test_an_empty_part_to_test_on_is_none():
    data = dpsgd.Data(np.zeros((3, 4)), np.zeros(3), np.zeros((0, 4)), np.zeros(0))
    assert data.test_inputs is data.test_targets is None
    assert data.on(torch.device("cpu")).test_inputs is None


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ((np.zeros((3, 4)), np.zeros(2)), r"train_targets must have one row for each of train_inputs \(3\), got 2"),
        ((np.zeros(3), np.zeros(3), np.zeros(2), np.zeros(1)), r"test_targets must have one row .* \(2\), got 1"),
        ((np.zeros(3), np.zeros(3), np.zeros(2)), "test_inputs and test_targets must both be given, or neither"),
        ((np.zeros(0), np.zeros(0)), "train_inputs must have at least one row, got none"),
        ((3.0, np.zeros(3)), "train_inputs must have one row per person in its first dimension, got a single number"),
        ((np.array(["a", "b"]), np.zeros(2)), r"train_inputs must be numbers, a tensor or a numpy array, got <U1"),
        ((None, np.zeros(2)), r"train_inputs must be numbers, .* got object \(NoneType\)"),
    ],
)
def test_what_is_no_data_is_refused(parts, says):
    with pytest.raises(ValueError, match=says):
        dpsgd.Data(*parts)


# ---- Fashion-MNIST and MNIST: a small data set in the same format, on a server of our own


def idx(array):
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (n, 4, 5), dtype=np.uint8) for n in (12, 6)]
    labels = [rng.integers(0, 10, n, dtype=np.uint8) for n in (12, 6)]
    return images[0], labels[0], images[1], labels[1]


@pytest.fixture
def contents(arrays):
    return {file: idx(array) for file, array in zip(module.FASHION_MNIST.checksums, arrays, strict=True)}


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(module, "DEBIAN", tmp_path / "debian")
    return tmp_path / "data" / "datasets" / "fashion-mnist"


def save(folder, contents):
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in contents.items():
        (folder / file).write_bytes(content)
    return folder


class Server(ThreadingHTTPServer):
    """The files of a folder on 127.0.0.1, and a list of the requests."""

    def __init__(self, folder):
        self.requests = requests = []

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *_):
                requests.append(self.path)

        super().__init__(("127.0.0.1", 0), partial(Handler, directory=folder))
        self.address = f"http://127.0.0.1:{self.server_port}/"
        Thread(target=self.serve_forever, args=(0.01,)).start()

    def stop(self):
        self.shutdown()
        self.server_close()


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(contents):
        servers.append(Server(save(tmp_path / f"server-{len(servers)}", contents)))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def load(contents, monkeypatch):
    """fashion_mnist() with the small files' checksums and these mirrors."""

    def load(*mirrors):
        checksums = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
        monkeypatch.setattr(
            module, "FASHION_MNIST", replace(module.FASHION_MNIST, mirrors=mirrors, checksums=checksums)
        )
        return dpsgd.fashion_mnist()

    return load


@pytest.fixture
def nobody():
    """The address of a server that is gone."""
    server = Server(".")
    server.stop()
    return server.address


def is_whole(data, arrays):
    parts = (data.train_inputs, data.train_targets, data.test_inputs, data.test_targets)
    return data.name == "Fashion-MNIST" and all(
        np.array_equal(part.squeeze(1).mul(255).round() if part.ndim == 4 else part, array)
        for part, array in zip(parts, arrays, strict=True)
    )


def test_what_is_downloaded_once_is_kept(load, serve, contents, arrays, store, capfd):
    server = serve(contents)
    data = load(server.address)
    assert is_whole(data, arrays)
    assert data.train_inputs.shape == (12, 1, 4, 5)
    assert (data.train_inputs.dtype, data.train_targets.dtype) == (torch.float32, torch.int64)
    assert sorted(path.name for path in store.iterdir()) == sorted(contents)
    out, err = capfd.readouterr()
    assert out.splitlines() == [f"Downloading {server.address}{file}" for file in contents]
    assert err == ""
    server.requests.clear()
    assert is_whole(load(server.address), arrays)
    assert server.requests == []
    assert capfd.readouterr() == ("", "")


def test_what_was_saved_by_hand_is_found_without_a_network(load, nobody, contents, arrays, store):
    save(store, contents)
    assert is_whole(load(nobody), arrays)


def test_debians_files_come_first(load, nobody, contents, arrays):
    save(module.DEBIAN / "fashion-mnist", contents)
    assert is_whole(load(nobody), arrays)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b"<html>",
        lambda whole: b"",
        lambda whole: gzip.compress(b"P5 28 28"),
        lambda whole: gzip.compress(gzip.decompress(whole)[:-1]),
    ],
)
def test_a_damaged_file_of_debians_is_passed_over(load, serve, nobody, contents, arrays, damage, capfd):
    debians = save(module.DEBIAN / "fashion-mnist", {file: damage(content) for file, content in contents.items()})
    assert load(nobody).name == "Digits"
    assert f"{debians} has a damaged file" in capfd.readouterr().out
    assert is_whole(load(serve(contents).address), arrays)


def test_a_damaged_file_in_the_store_is_downloaded_again(load, serve, contents, arrays, store):
    file = next(iter(contents))
    save(store, contents | {file: contents[file][:-1]})
    server = serve(contents)
    assert is_whole(load(server.address), arrays)
    assert server.requests == [f"/{file}"]


def test_after_a_damaged_download_the_next_mirror_is_asked(load, serve, contents, arrays):
    file = list(contents)[1]
    damaged, whole = serve(contents | {file: contents[file] + b"\0"}), serve(contents)
    assert is_whole(load(damaged.address, whole.address), arrays)


def test_nothing_damaged_is_kept_and_the_digits_stand_in(load, serve, contents, store, capfd):
    damaged = serve({file: b"<html>Log in to this network</html>" for file in contents})
    assert load(damaged.address).name == "Digits"
    assert list(store.iterdir()) == []
    out, err = capfd.readouterr()
    assert f"{damaged.address} has a damaged file" in out
    assert err == ""


def test_without_a_network_it_is_said_what_was_tried_and_how_to_get_it(load, serve, nobody, store, capfd):
    empty = serve({})
    assert load(nobody, empty.address).name == "Digits"
    out, err = capfd.readouterr()
    assert out[out.index("Fashion-MNIST cannot") :].splitlines() == [
        "Fashion-MNIST cannot be had, so here are the digits instead. Tried:",
        f"  {module.DEBIAN / 'fashion-mnist'} (No such file or directory: {module.DEBIAN / 'fashion-mnist' / 'train-images-idx3-ubyte.gz'})",
        f"  {nobody} cannot be reached",
        f"  {empty.address} answered 404",
        "To get it: `apt-get install dataset-fashion-mnist` on Debian or Ubuntu, or save train-images-idx3-ubyte.gz, "
        f"train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz, t10k-labels-idx1-ubyte.gz from {nobody} in {store}",
    ]
    assert err == ""


@pytest.mark.parametrize("rest", [slice(0, 0), slice(100, None)], ids=["breaks off", "goes on too late"])
def test_a_download_that_stalls_is_given_up(load, serve, contents, monkeypatch, capfd, rest):
    class Stalling(SimpleHTTPRequestHandler):
        def do_GET(self):
            content = contents[self.path[1:]]
            self.send_response(200)
            self.send_header("Content-Length", len(content))
            self.end_headers()
            self.wfile.write(content[:100])
            self.wfile.flush()
            if rest != slice(0, 0):
                time.sleep(1)
            with contextlib.suppress(ConnectionError):
                self.wfile.write(content[rest])

    monkeypatch.setattr(module, "SECONDS_TO_WAIT", 0.2)
    server = serve(contents)
    server.RequestHandlerClass = Stalling
    assert load(server.address).name == "Digits"
    assert f"{server.address} cannot be reached" in capfd.readouterr().out


def test_a_folder_that_cannot_be_written_is_said(load, serve, contents, tmp_path, monkeypatch, capfd):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "file"))
    server = serve(contents)
    assert load(server.address).name == "Digits"
    assert str(tmp_path / "file") in capfd.readouterr().out


def test_mnist_stands_aside_for_the_digits_too(nobody, monkeypatch, capfd):
    monkeypatch.setattr(module, "MNIST", replace(module.MNIST, mirrors=(nobody,)))
    assert dpsgd.mnist().name == "Digits"
    assert "apt-get" not in capfd.readouterr().out


@with_debians_package
def test_fashion_mnist_is_what_its_authors_published(monkeypatch):
    """Mean and standard deviation of the pixels as torchvision's users quote them; Debian's gzip headers without name and time."""
    monkeypatch.undo()
    data = dpsgd.fashion_mnist()
    assert data.train_inputs.shape == (60_000, 1, 28, 28)
    assert data.test_inputs.shape == (10_000, 1, 28, 28)
    assert [round(float(data.train_inputs.mean()), 4), round(float(data.train_inputs.std()), 4)] == [0.2860, 0.3530]
    assert torch.bincount(data.train_targets).tolist() == [6000] * 10
    assert data.classes[data.train_targets[0]] == "ankle boot"
    packed = {"train-images-idx3-ubyte.gz": -21, "train-labels-idx1-ubyte.gz": -21}
    for file, published in module.FASHION_MNIST.checksums.items():
        debians = (module.DEBIAN / "fashion-mnist" / file).read_bytes()
        moment = struct.pack("<I", 1_504_176_627 + packed.get(file, 0))  # 31 August 2017
        original = b"\x1f\x8b\x08\x08" + moment + b"\x00\x03" + file.removesuffix(".gz").encode() + b"\0" + debians[10:]
        assert hashlib.sha256(original).hexdigest() == published


README = Path("/usr/share/doc/dataset-fashion-mnist/README.md.gz")


@pytest.mark.skipif(not README.exists(), reason="needs the documentation in Debian's package dataset-fashion-mnist")
def test_the_classes_are_called_as_its_authors_call_them():
    table = re.findall(r"^\| (\d) \| (.+) \|$", gzip.decompress(README.read_bytes()).decode(), flags=re.MULTILINE)
    assert [(str(number), name) for number, name in enumerate(module.FASHION_MNIST.classes)] == [
        (number, name if name == "T-shirt/top" else name.lower()) for number, name in table
    ]
