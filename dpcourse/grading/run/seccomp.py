"""What a student's process may ask of the kernel: a seccomp filter, compiled by libseccomp.

Allowed is what libseccomp knows and DENIED does not name. For all else, new calls and those of another architecture
among it, the kernel answers as if it lacked them (ENOSYS), which programs expect of an older kernel.
"""

import ctypes
import errno
import functools
import os

from dpcourse.base.languages import say

_NAMES = """
    setns unshare clone3 pivot_root chroot
    mount umount umount2 fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr mount_setattr statmount
    listmount
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp
    keyctl add_key request_key
    memfd_create memfd_secret vmsplice splice tee
    shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl ipc
    mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    io_uring_setup io_uring_enter io_uring_register io_setup io_submit io_destroy io_cancel io_getevents io_pgetevents
    bpf perf_event_open userfaultfd fanotify_init fanotify_mark name_to_handle_at open_by_handle_at
    quotactl quotactl_fd acct swapon swapoff reboot kexec_load kexec_file_load syslog vhangup
    init_module finit_module delete_module create_module query_module get_kernel_syms
    settimeofday clock_settime clock_adjtime clock_adjtime64 clock_settime64 adjtimex stime sethostname setdomainname
    iopl ioperm modify_ldt personality lookup_dcookie nfsservctl uselib ustat sysfs _sysctl vm86 vm86old
    move_pages migrate_pages
"""
DENIED = frozenset(_NAMES.split())
NEW_NAMESPACES = 0x7E020000  # the flags of clone that make one
SHARED, ANONYMOUS, GROWING = 0x01, 0x20, 0x100
COUNTED = SHARED | ANONYMOUS | GROWING  # shared memory of no file, and what grows as a stack, are no data to the kernel
UNIX, INTERNET, INTERNET_6 = 1, 2, 10  # families of sockets

# call -> (number of its argument, mask, allowed values): allowed where the argument, masked, is one of the values
ONLY_WITH = {
    "clone": (0, NEW_NAMESPACES, (0,)),
    "mmap": (3, COUNTED, (0, SHARED, ANONYMOUS)),
    "socket": (0, 0xFFFFFFFF, (UNIX, INTERNET, INTERNET_6)),
}

ALLOW, LACKING = 0x7FFF0000, 0x00050000 | errno.ENOSYS  # libseccomp's
MASKED_EQUAL, FOR_OTHER_ARCHITECTURES, NATIVE = 7, 2, 0
SET_SECCOMP, BY_FILTER = 22, 2  # prctl's
MOST_CALLS = 1024


class _Comparison(ctypes.Structure):
    _fields_ = (("argument", ctypes.c_uint), ("how", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64))  # fmt: skip


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


@functools.cache
def _library():
    """Raises OSError where libseccomp is not installed."""
    found = ctypes.CDLL("libseccomp.so.2")
    found.seccomp_init.restype = ctypes.c_void_p
    found.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
    return found


def missing() -> str | None:
    """Why there can be no filter on this machine, in one line; None where there can."""
    try:
        program()
    except OSError as error:
        return say(
            "libseccomp is not installed, or too old (Debian and Ubuntu: `apt-get install libseccomp2`): {error}",
            error=str(error),
        )
    return None


@functools.cache
def program() -> bytes:
    """The filter, as the kernel takes it. Raises OSError."""
    library = _library()
    rules = ctypes.c_void_p(_done(library.seccomp_init(ctypes.c_uint32(LACKING))))
    try:
        _done(library.seccomp_attr_set(rules, FOR_OTHER_ARCHITECTURES, ctypes.c_uint32(LACKING)) == 0)
        for number, name in _calls().items():
            if name not in DENIED:
                _allow(rules, number, ONLY_WITH.get(name))
        read, write = os.pipe()
        with open(read, "rb") as compiled:
            with open(write, "wb") as end:
                _done(library.seccomp_export_bpf(rules, end.fileno()) == 0)
            return compiled.read()
    finally:
        library.seccomp_release(rules)


def _allow(rules, number, only):
    argument, mask, values = only or (0, 0, (0,))
    for value in values:
        comparison = _Comparison(argument, MASKED_EQUAL, mask, value)
        count = 1 if only else 0
        added = _library().seccomp_rule_add_array(rules, ctypes.c_uint32(ALLOW), number, count, ctypes.byref(comparison))  # fmt: skip
        _done(added == 0)


def _done(result):
    if not result:
        raise OSError("it cannot compile the filter")
    return result


def _calls():
    """number -> name of each call that libseccomp knows on this architecture."""
    found = {}
    for number in range(MOST_CALLS):
        name = _library().seccomp_syscall_resolve_num_arch(NATIVE, number)
        if name:
            found[number] = ctypes.string_at(name).decode()
            ctypes.CDLL(None).free(ctypes.c_void_p(name))
    return found


def number(name: str) -> int:
    """The number of a call on this architecture; below 0 where there is none. Raises OSError."""
    return _library().seccomp_syscall_resolve_name(name.encode())


def install(instructions: bytes) -> None:
    """Put this thread, and all that comes from it, under the filter for good; it can gain no privileges any more.

    Raises OSError.
    """
    each = ctypes.c_ulong
    filtered = _Program(len(instructions) // 8, instructions)
    if ctypes.CDLL(None, use_errno=True).prctl(SET_SECCOMP, each(BY_FILTER), ctypes.byref(filtered), each(0), each(0)):
        raise OSError(ctypes.get_errno(), "the kernel takes no filter")
