"""A training on a device, where there is none: what pretend_slips.py tells, in a process of its own."""

import json
import os
import subprocess
import sys

import pytest
from dpsgd import pretend
from dpsgd.pretend_checks import CHECKS
from dpsgd.pretend_slips import SLIPS
from support import ROOT, by_profile

pytestmark = pytest.mark.skipif(bool(pretend.lacking()), reason=pretend.lacking())

EVERY_TIME = {"noise from a generator on the CPU", "memory is tried after the ledger was charged"}

ON_A_COMMIT = sorted(CHECKS)[::10]
NAMES = by_profile("checks and slips of a training on a device", [*ON_A_COMMIT, *EVERY_TIME], [*CHECKS, *SLIPS])
SEEN_BY_OTHERS = pytest.mark.weekly("the other checks see on a commit nearly all that this one does")
ONE_OF_MANY = pytest.mark.weekly("each slip is a training of its own")


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """{"checks": {name: why it fails}, "slips": {name: {check: why it fails}}}."""
    file = tmp_path_factory.mktemp("pretend") / "said.json"
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
    done = subprocess.run(
        [sys.executable, "-m", "dpsgd.pretend_slips", str(file), *NAMES],
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.every_case
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ON_A_COMMIT else SEEN_BY_OTHERS) for name in CHECKS]
)
def test_on_the_pretend_device(name, said):
    assert not said["checks"][name], said["checks"][name]


@pytest.mark.parametrize("name", SLIPS)
def test_the_place_of_a_slip_is_there(name):
    """In the week each is made; on a commit it is seen that it can be."""
    slip = SLIPS[name]
    assert (ROOT / "dpcourse" / "dpsgd" / f"{slip.module}.py").read_text(encoding="utf-8").count(slip.was) == 1


@pytest.mark.every_case
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in EVERY_TIME else ONE_OF_MANY) for name in SLIPS]
)
def test_a_slip_is_found(name, said):
    """Or no check finds it, as is said of it."""
    slip, found = SLIPS[name], said["slips"][name]
    assert list(found) == ([slip.found_by] if slip.found_by else []), found
    assert not any("mend the slip" in why for why in found.values()), found
