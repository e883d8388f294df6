"""Ways out of the sandbox, and names that a file should not have. An answer is right only where its attempt succeeds."""

import os
import socket
import sys

from grading.kinds.making import COURSE, LOST, RIGHT, ROOT, answer, first, held, notebook, solved
from grading.rows import POSTERIOR

SERVER = socket.create_server(("127.0.0.1", 0))  # it would be there for whoever has a network
LOCAL = b"\0nobody"
if sys.platform == "linux":
    LOCAL_SERVER = socket.socket(socket.AF_UNIX)  # and this one, which has no file
    LOCAL_SERVER.bind("")  # Linux finds a name that is free
    LOCAL_SERVER.listen()
    LOCAL = LOCAL_SERVER.getsockname()
CONNECT = f"""
    import socket
    socket.create_connection(("127.0.0.1", {SERVER.getsockname()[1]}), 1)
    {RIGHT}
"""
STEAL = f"""
    import glob, json, os
    for folder in ({str(ROOT)!r}, "/proc/1/root/" + {str(ROOT)!r}, "/proc/1/cwd", "..", "/tmp", os.path.expanduser("~")):
        for file in glob.glob(folder + "/**/01-composition.ipynb", recursive=True):
            for each in json.load(open(file))["cells"]:
                if "def worst_posterior" in each["source"] and "NotImplementedError" not in each["source"]:
                    exec(each["source"], globals())
                    return globals()["worst_posterior"](prior, epsilon)
"""

UNBLOCK = """
import sys
for name in [name for name, module in sys.modules.items() if module is None]: del sys.modules[name]
"""

LIBC = "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); "
FLAGGED = {"status": "flagged"}  # ctypes is a word that a note names

THE_COURSE = [
    answer("reads the solutions", STEAL),
    answer("asks the exercises", f"from dpcourse import exercises; return exercises.find('{POSTERIOR}').reference(prior, epsilon)"),
    answer("asks the course", f"from dpcourse import course; return course.find('{POSTERIOR}').reference(prior, epsilon)"),
    answer("asks the course that others have imported", f"from dpcourse.notebook import check; return check.course.find('{POSTERIOR}').reference(prior, epsilon)"),
    answer("imports the exercise", "from dpcourse.course.composition.worst_posterior import exercise; return exercise.reference(prior, epsilon)"),
    answer("imports the exercise past all that blocks it", UNBLOCK + "from dpcourse.course.composition.worst_posterior import exercise; return exercise.reference(prior, epsilon)"),
    answer("asks the judge", UNBLOCK + "from dpcourse.checking import exercise; " + RIGHT),
    answer("asks the grader", UNBLOCK + "from dpcourse.grading import submission; " + RIGHT),
    answer("asks the builder", UNBLOCK + "from dpcourse.authoring import release; " + RIGHT),
    answer("reads the exercise", f"found = {{}}; exec(open({str(COURSE / 'composition' / 'worst_posterior.py')!r}).read(), found); return found['exercise'].reference(prior, epsilon)"),
    answer("asks the lessons' memory", "import gc\nfor x in gc.get_objects():\n    if type(x).__name__ == 'Lesson' and x.number == 1: return x.exercises[2].reference(prior, epsilon)", status="flagged"),
    answer("asks the exercises' memory", "import gc\nfor x in gc.get_objects():\n    if type(x).__name__ == 'Exercise': return x.reference(prior, epsilon)", status="flagged"),
    held("finds a notebook", "import subprocess; found = 'composition.ipynb' in subprocess.run(['find', '/', '-name', '*.ipynb'], capture_output=True, text=True, timeout=3).stdout", weekly=True),
    held("finds the store", "import glob; found = bool(glob.glob('/**/grades.sqlite', recursive=True))", weekly=True),
    held("finds a test", f"import os; found = os.path.exists({str(ROOT / 'tests')!r}) or os.path.exists({str(ROOT / '.git')!r})"),
    held("finds another submission", "import os, sys; found = any(name.endswith('.ipynb') for folder in ('/tmp', '/home', '/dev/shm', '/var/tmp') for place, _, names in os.walk(folder) for name in names if not place.startswith(sys.prefix))"),
]  # fmt: skip

OTHERS = [
    answer("network", CONNECT),
    held("an environment that is not its own", "found = any(word in open('/proc/1/environ').read() for word in ('PYTEST', 'SSH', 'TOKEN', 'LOGNAME'))"),
    held("an environment of its own", "import os; found = any(name.startswith(('PYTEST', 'SSH', 'DPCOURSE_WEEKLY', 'LOGNAME', 'VIRTUAL')) for name in os.environ)"),
    held("environments of all", "import glob\nfound = False\nfor name in glob.glob('/proc/[0-9]*/environ'):\n    try: found = found or 'PYTEST' in open(name).read()\n    except OSError: pass"),
    held("memory of the first process", "found = bool(open('/proc/1/mem', 'rb').fileno())"),
    held("files of the first process", "import os; found = any('/work' in os.readlink(f'/proc/1/fd/{n}') for n in os.listdir('/proc/1/fd'))"),
    held("the first process' folder", f"import os; found = os.path.exists('/proc/1/root' + {str(ROOT / 'solutions')!r}) or os.readlink('/proc/1/cwd').startswith('/work')"),
    held("processes of others", "import os; found = sum(name.isdigit() for name in os.listdir('/proc')) > 8"),
    held("command lines of others", "import glob\nfound = any('pytest' in open(name).read() for name in glob.glob('/proc/[0-9]*/cmdline'))"),
    held("a name outside", "import socket; socket.setdefaulttimeout(1); found = bool(socket.getaddrinfo('example.org', 80))"),
    held("another network card", "import socket; found = len(socket.if_nameindex()) > 1"),
    held("a virtual socket", "import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); found = True"),
    held("a raw socket", "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); found = True"),
    held("a packet socket", "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); found = True"),
    held("the container's door", "import os; found = os.path.exists('/var/run/docker.sock') or os.path.exists('/run/systemd')"),
    held("the files' passwords", "found = bool(open('/etc/shadow').read() or open('/etc/passwd').read())"),
    held("the instructor's home", "import os; found = bool(os.listdir('/root') + os.listdir('/home'))"),
    held("keys", LIBC + "found = libc.syscall(250, 0, -3, 1) > 0", **FLAGGED),
    held("a key of its own", LIBC + "found = libc.syscall(248, b'user', b'x', b'y', 1, -3) > 0", **FLAGGED),
]  # fmt: skip

PRIVILEGES = [
    held("is root", "import os; found = os.getuid() == 0 or os.geteuid() == 0"),
    held("becomes root", "import os; os.setuid(0); found = True"),
    held("has capabilities", "found = any(int(line.split()[1], 16) for line in open('/proc/self/status') if line.startswith(('CapEff', 'CapPrm', 'CapAmb')))"),
    held("may gain privileges", "found = 'NoNewPrivs:\\t0' in open('/proc/self/status').read()"),
    held("a user namespace", LIBC + "found = libc.unshare(0x10000000) == 0", **FLAGGED),
    held("a mount", LIBC + "found = libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0", **FLAGGED),
    held("another root", "import os; os.chroot('/tmp'); found = True"),
    held("a device", "import os, stat; os.mknod('/tmp/sda', stat.S_IFBLK | 0o600, os.makedev(8, 0)); found = True"),
    held("watches its parent", LIBC + "found = libc.ptrace(16, os.getppid(), 0, 0) == 0", **FLAGGED),
    held("reads another's memory", LIBC + "mine, theirs = (ctypes.c_size_t * 2)(), (ctypes.c_size_t * 2)(4096, 8); mine[0], mine[1] = ctypes.addressof(theirs), 8; found = libc.syscall(310, 1, mine, 1, theirs, 1, 0) >= 0 or ctypes.get_errno() == 14", **FLAGGED),
    held("programs in the kernel", LIBC + "found = libc.syscall(321, 0, None, 0) >= 0", **FLAGGED),
    held("counts events", LIBC + "found = libc.syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0) >= 0", **FLAGGED),
    held("another root by name", LIBC + "found = libc.syscall(155, b'/tmp', b'/tmp') == 0", **FLAGGED),
    held("a module of the kernel's", LIBC + "found = libc.syscall(313, 0, b'', 0) == 0", **FLAGGED),
    held("the clock", "import time; time.clock_settime(time.CLOCK_REALTIME, time.time()); found = True"),
    held("the name of the machine", "import socket; socket.sethostname('x'); found = True"),
    held("a higher priority", "import os; os.nice(-5); found = True"),
    held("more files", "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (10**5, 10**5)); found = True"),
    held("ends the grader", "import os, signal\nfound = False\nfor pid in range(2, 40_000):\n    try: os.kill(pid, 0); found = found or pid not in (os.getpid(), os.getppid())\n    except OSError: pass"),
]  # fmt: skip

KERNEL = [
    held("huge pages in pipes", LIBC + "import mmap\nr, w = os.pipe()\nm = mmap.mmap(-1, 2**22, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\nclass V(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]\nv = V(ctypes.addressof(ctypes.c_char.from_buffer(m)), 4096)\nfound = libc.vmsplice(w, ctypes.byref(v), 1, 2) == 4096", **FLAGGED),
    held("a pipe into a pipe", "import os\na, b = os.pipe(), os.pipe()\nos.write(a[1], b'x')\nfound = os.splice(a[0], b[1], 1) == 1"),
    held("less likely to go", "open('/proc/self/oom_score_adj', 'w').write('0'); found = True"),
    held("real time", "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); found = True"),
    held("stops the first process", "import os, signal, time\nos.kill(1, signal.SIGSTOP); time.sleep(0.2)\nfound = open('/proc/1/stat').read().split()[2] == 'T'"),
    held("an abstract socket outside", f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({LOCAL!r}); found = True"),
    held("the kernel's messages", "found = bool(open('/dev/kmsg').read(1))"),
    held("a terminal", "import os; found = bool(os.open('/dev/tty', os.O_RDWR)) or bool(os.open('/dev/console', os.O_RDWR))"),
    held("a setting of the network's", "open('/proc/sys/net/ipv4/tcp_rmem', 'w').write('4096 99999999 99999999'); found = True"),
    held("pages that stay", LIBC + "m = ctypes.create_string_buffer(2**20); found = libc.mlock(m, 2**20) == 0 or libc.mlockall(2) == 0", **FLAGGED),
]  # fmt: skip


def left(what, there, leave):
    """Two submissions that leave something, and are right only if they find it there when they begin."""
    code = f"def worst_posterior(prior, epsilon):\n    if not found: return 0.123\n    {RIGHT}"
    made = solved(first=f"import os\nfound = {there}\n{leave}", worst_posterior=code)
    return [notebook(f"leaves {what} to the next, {one}", made, score=LOST) for one in ("one", "two")]


def writes(name, path, **about):
    return held(name, f"open({path!r}, 'w').write('x'); found = True", **about)


FILES = [
    writes("writes into the system", "/usr/x"),
    writes("writes settings", "/etc/x"),
    writes("writes at the root", "/x"),
    writes("writes into the library", str(ROOT / "dpcourse" / "x.py")),
    writes("writes into the packages", os.path.join(os.path.dirname(os.__file__), "x.py")),
    writes("writes among the devices", "/dev/x"),
    writes("writes into the kernel", "/proc/sys/kernel/core_pattern"),
    writes("writes into groups", "/sys/fs/cgroup/x"),
    held("opens a disk", "open('/dev/sda', 'rb'); found = True"),
    held("opens the memory", "open('/dev/mem', 'rb'); found = True"),
    held("patches a module on the disk", "import dpcourse.composition as c; open(c.__file__, 'a').write('x'); found = True"),
    *left("a file", "os.path.exists('/tmp/left-behind')", "open('/tmp/left-behind', 'w').close()"),
    *left("shared memory", "os.path.exists('/dev/shm/left-behind')", "open('/dev/shm/left-behind', 'w').close()"),
    *left("a name in a module", "hasattr(math, 'left_behind')", "math.left_behind = True"),
    *left("a file at home", "os.path.exists(os.path.expanduser('~/left-behind'))", "open(os.path.expanduser('~/left-behind'), 'w').close()"),
    first("leaves a start to the next", "import os, IPython\nfor folder in (IPython.paths.get_ipython_dir() + '/profile_default/startup', os.path.expanduser('~/.config/matplotlib')):\n    os.makedirs(folder, exist_ok=True)\n    open(folder + '/00.py', 'w').write('raise SystemExit')"),
]  # fmt: skip

NAMES = [
    notebook(name, solved())
    for name in (
        "-rf", "--help", "CON", "nul.txt", "None", "nan", "1e5", "a,b;c\td", "it's \"quoted\"", "%s%n%x {0} ${HOME} `id` $(id)", "back\\slash",
        "<script>alert(1)<￧script>", "&amp;lt;", "+cmd|' ¦C calc'!A0", "@SUM(1+1)", "-2+3", "＝HYPERLINK(1)", "Kim;=HYPERLINK(1)", "Kim, =1+1", "\u202egpj.ybnpi",
        "\u200b", "zero\u200bwidth", "a" * 240, "🎲" * 60, "ﬁ ligature", "e\u0301", "İstanbul", "ß", "मिया", "מיה", "01-composition", "tab\there", "cr\rhere", "trailing space ", "dots...",
    )
]  # fmt: skip

KINDS = [*THE_COURSE, *OTHERS, *PRIVILEGES, *KERNEL, *FILES, *NAMES]
