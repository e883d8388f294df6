"""A student's cell that tries to see, to take and to leave what is not its own; and what honest code needs besides.

It is sent into a sandbox as text, behind `NUMBERS`: name of a call of the kernel's -> its number. It uses nothing of
the tests. Each function here tries one thing; beside it stands how that must end: an error's name, or a value's repr.
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import threading

NUMBERS: dict = globals().get("NUMBERS", {})
TRIED = []
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_size_t, *4 * (ctypes.c_int,))
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def ends(*expected):
    """The ways in which an attempt may end."""

    def note(function):
        TRIED.append((function, expected))
        return function

    return note


def tried():
    """For each attempt its name, how it must end, how it ended."""
    found = []
    for function, expected in TRIED:
        try:
            got = repr(function())
        except OSError as error:
            got = errno.errorcode.get(error.errno, str(error))
        except Exception as error:
            got = type(error).__name__
        found.append([function.__name__, " or ".join(expected), got[:190]])
    return found


def call(name, *arguments):
    """A call of the kernel's; raises OSError as it answers."""
    return call_number(NUMBERS[name], *arguments)


def call_number(number, *arguments):
    arguments = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    ctypes.set_errno(0)
    if (result := libc.syscall(ctypes.c_long(number), *arguments)) < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def opened(path, mode="rb"):
    with open(path, mode) as file:
        return file.read(1)


# ---- what is the instructor's


@ends("[]")
def names_of_the_environment_that_are_not_allowed():
    allowed = {"HOME", "PATH", "LANG", "USER", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONUSERBASE", "MPLBACKEND",
               "MPLCONFIGDIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DPCOURSE_DATA",
               "IPYTHONDIR"}  # fmt: skip
    with open("/proc/self/environ") as file:
        began_with = [each.split("=")[0] for each in file.read().split("\0") if each]
    set_here = [name for name in os.environ if not name.startswith(("PIP_", "PY"))]
    return sorted({*began_with, *set_here} - allowed)


@ends("[]")
def a_secret_in_what_can_be_read_of_any_process():
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        for what in ("environ", "cmdline"):
            try:
                with open(f"/proc/{process}/{what}") as file:
                    found += [f"{process}/{what}"] if "not-for-students" in file.read() else []
            except OSError:
                pass
    return found


@ends("[]")
def a_secret_in_the_memory_of_this_process():
    wanted, found = b"not-for-" + b"students", []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            place, mode, *_ = line.split()
            begin, end = (int(each, 16) for each in place.split("-"))
            if mode.startswith("rw") and end - begin < 2**26:
                try:
                    memory.seek(begin)
                    found += [line] * (memory.read(end - begin).count(b"TOKEN=" + wanted))
                except (OSError, ValueError):
                    pass
    return found


def look_at_the_first_process(what):
    return opened(f"/proc/1/{what}")


@ends("EACCES")
def the_environment_of_the_first_process():
    return look_at_the_first_process("environ")


@ends("EACCES")
def the_memory_of_the_first_process():
    return look_at_the_first_process("mem")


@ends("EACCES")
def the_maps_of_the_first_process():
    return look_at_the_first_process("maps")


@ends("EACCES")
def the_folder_of_the_first_process():
    return os.listdir("/proc/1/cwd")


@ends("EACCES")
def the_root_of_the_first_process():
    return os.listdir("/proc/1/root/")


@ends("EACCES")
def the_files_of_the_first_process():
    return os.readlink("/proc/1/fd/0")


@ends("2")
def processes_that_can_be_seen():
    return len([each for each in os.listdir("/proc") if each.isdigit()])


@ends("[]")
def open_files_besides_the_channel():
    found = []
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the one that lists them is closed
            found.append(os.readlink(f"/proc/self/fd/{each}"))
    return [link for link in found if link != "/dev/null" and not link.startswith("socket:")][1:]


@ends("EACCES")
def the_names_of_the_keys():
    return opened("/proc/keys")


@ends("EACCES")
def what_the_machine_was_started_with():
    return opened("/proc/cmdline")


@ends("'sandbox'")
def the_name_of_the_machine():
    return socket.gethostname()


# ---- the kernel


@ends("[]")
def calls_that_are_denied_and_answer():
    answered = []
    for name in NUMBERS:
        try:
            answered.append((name, call(name, 0, 0, 0, 0, 0, 0)))
        except OSError as error:
            answered += [] if error.errno == errno.ENOSYS else [(name, error.errno)]
    return answered


@ends("[]")
def calls_that_are_denied_and_answer_in_another_thread():
    found = []
    thread = threading.Thread(target=lambda: found.extend(calls_that_are_denied_and_answer()))
    thread.start()
    thread.join()
    return found


@ends("ENOSYS")
def a_fork_into_a_new_user_namespace():
    new_user = 0x10000000
    if (child := clone(new_user | signal.SIGCHLD)) == 0:
        os._exit(0)
    return child


def clone(flags):
    ctypes.set_errno(0)
    number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    return call_number(number, flags, 0, 0, 0, 0)


@ends("ENOSYS")
def a_call_of_i386():
    if platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, "there is none")
    code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
    result = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    if result < 0:
        raise OSError(-result, "")
    return result


@ends("ENOSYS")
def a_call_of_x32():
    if platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, "there is none")
    return call_number(0x40000000 | 39)


@ends("['ENOSYS']")
def families_of_sockets():
    """Netlink, packets, the kernel's ciphers, other virtual machines, Bluetooth."""
    return sorted({errno.errorcode[socket_error(family)] for family in (16, 17, 38, 40, 31)})


def socket_error(family):
    try:
        socket.socket(family, socket.SOCK_RAW).close()
        return 0
    except OSError as error:
        return error.errno


@ends("'0000000000000000'")
def capabilities():
    with open("/proc/self/status") as file:
        told = dict(line.rstrip().split(":\t") for line in file if line.startswith("Cap"))
    return max(told["CapEff"], told["CapPrm"], told["CapInh"], told["CapAmb"])


@ends("('1', '2')")
def no_new_privileges_and_a_filter():
    with open("/proc/self/status") as file:
        told = dict(line.split(":", 1) for line in file)
    return told["NoNewPrivs"].strip(), told["Seccomp"].strip()


@ends("EPERM", "EINVAL")  # the second where the namespace has no root
def become_root():
    return os.setresuid(0, 0, 0)


@ends("False")
def is_root():
    return 0 in (*os.getresuid(), *os.getresgid())


@ends("EPERM", "EACCES")
def a_higher_priority():
    return os.nice(-5)


@ends("ValueError")
def more_memory_for_itself():
    return resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


# ---- the disk and the memory


@ends("EROFS")
def write_into_dev():
    return opened("/dev/mine", "wb")


@ends("EROFS", "EACCES")
def change_its_own_memory_through_a_file():
    return opened("/proc/self/mem", "r+b")


@ends("EACCES", "ETXTBSY", "EROFS")
def overwrite_python():
    return opened("/proc/self/exe", "r+b")


@ends("[]")
def places_to_write_besides_tmp_and_shm():
    return sorted(place for place in places() if not place.startswith(("/tmp", "/dev/shm")))


def places():
    """All folders in which a file can be made, and all files of /proc and /dev that open for writing."""
    for folder, folders, names in os.walk("/"):
        if folder == "/proc":
            folders[:] = [name for name in folders if not name.isdigit() or name == str(os.getpid())]
        elif folder.startswith("/proc"):
            folders[:] = [name for name in folders if name != "fd"]  # its own files
        mine = os.path.join(folder, "mine")
        try:
            os.close(os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.unlink(mine)
            yield folder
        except OSError:
            pass
        for name in names if folder.startswith("/proc") else ():
            if os.access(file := os.path.join(folder, name), os.W_OK) and file not in MASKED:
                yield file


MASKED = ("/proc/keys", "/proc/key-users", "/proc/cmdline")  # devices that do not open


@ends("EACCES")
def pages_of_dev_zero():
    return opened("/dev/zero", "r+b")


@ends("ENOSYS")
def shared_pages_of_no_file():
    return mmap.mmap(-1, 4096)


@ends("ENOMEM")
def pages_beyond_the_limit():
    return mmap.mmap(-1, 3 * 2**30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


@ends("ENOMEM")
def pages_beyond_the_limit_that_become_writable_later():
    page = libc.mmap(None, 3 * 2**30, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if libc.mprotect(page, 3 * 2**30, mmap.PROT_READ | mmap.PROT_WRITE) != 0:
        raise OSError(ctypes.get_errno(), "")


@ends("ENOSYS")
def pages_that_grow_as_a_stack_does():
    """The kernel counts these as no data."""
    return mmap.mmap(-1, 2**20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100)


@ends("ENOSYS")
def a_file_without_a_name():
    return os.memfd_create("mine")


@ends("EPERM", "ENOMEM")
def pages_that_stay_in_memory():
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if libc.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page))), ctypes.c_size_t(4096)) != 0:
        raise OSError(ctypes.get_errno(), "")


@ends("True")
def all_pipes_together_hold_what_the_kernel_lets_one_user_have():
    """What is in pipes is counted nowhere: 64 MiB, and two pages of each further one (see pipe(7))."""
    pipes, held = [], 0
    with contextlib.suppress(OSError):
        for _ in range(100):
            pipes.append(os.pipe())
            with contextlib.suppress(OSError):
                fcntl.fcntl(pipes[-1][1], fcntl.F_SETPIPE_SZ, 2**20)
            held += fcntl.fcntl(pipes[-1][1], fcntl.F_GETPIPE_SZ)
    for file in [file for pipe in pipes for file in pipe]:
        os.close(file)
    with open("/proc/sys/fs/pipe-user-pages-soft") as file:
        pages = int(file.read())
    return len(pipes) == 100 and held <= (pages + 2 * len(pipes)) * mmap.PAGESIZE


# ---- what honest code needs


@ends("137438953472")
def addresses_that_it_never_touches():
    return len(mmap.mmap(-1, 2**37, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ))


@ends("b'hello\\n'")
def a_subprocess():
    return subprocess.run(["echo", "hello"], capture_output=True, check=True).stdout


@ends("[1, 4, 9]")
def a_pool_of_processes():
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(squared, [1, 2, 3])


def squared(x):
    return x * x


@ends("7")
def a_value_shared_by_processes():
    import multiprocessing

    context = multiprocessing.get_context("fork")
    value = context.Value("i", 3)
    process = context.Process(target=lambda: setattr(value, "value", 7))
    process.start()
    process.join()
    return value.value


@ends("[1, 4, 9]")
def a_pool_of_threads():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(squared, [1, 2, 3]))


@ends("b'hello'")
def a_server_of_its_own():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        client.sendall(b"hello")
        return server.accept()[0].recv(5)


@ends("0.5")
def scipy():
    import scipy.stats

    return float(scipy.stats.norm.cdf(0))


@ends("'Figure(640x480)'")
def a_picture():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot([1, 2])
    figure.savefig("/tmp/picture.png")
    return str(figure)


@ends("True")
def randomness():
    return len(os.urandom(8)) == 8 and sys.version_info >= (3, 11)
