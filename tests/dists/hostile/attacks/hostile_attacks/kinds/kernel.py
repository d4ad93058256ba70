"""Rights over the kernel. What could harm the machine is asked for in a way that cannot."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import tempfile
import time

from ..system_calls import AT_FDCWD, call, numbered, would_work
from ..table import WORD, NothingFound, attack

_NEW_USER, _NEW_MOUNTS, _NEW_NETWORK = 0x10000000, 0x20000, 0x40000000


@attack(WORD)
def user_namespace(scene):
    """Becomes root of a user namespace of its own, where much of the kernel is open."""
    call("unshare", _NEW_USER)
    return "it has one"


@attack(WORD)
def user_namespace_by_clone(scene):
    """Makes a process in a user namespace of its own."""
    return _child(lambda: call("clone", _NEW_USER | 17, 0, 0, 0, 0))


@attack(WORD)
def user_namespace_by_clone3(scene):
    """Makes a process in a user namespace of its own by clone3, whose flags a filter cannot see."""
    arguments = (ctypes.c_uint64 * 11)(_NEW_USER, 0, 0, 0, 17)
    return _child(lambda: call("clone3", arguments, ctypes.sizeof(arguments)))


@attack(WORD, root=True)
def mount_namespace(scene):
    """Leaves the mounts of all others for its own."""
    call("unshare", _NEW_MOUNTS)
    return "it has one"


@attack(WORD, root=True)
def network_namespace(scene):
    """Leaves the network of all others for its own."""
    call("unshare", _NEW_NETWORK)
    return "it has one"


@attack(WORD)
def namespace_of_a_neighbour(scene):
    """Enters the namespace of another process."""
    file = os.open(f"/proc/{scene['victim']}/ns/uts", os.O_RDONLY)
    call("setns", file, 0)
    return "entered"


@attack(WORD, root=True)
def file_system_mounted(scene):
    """Mounts a file system over a folder of the user's; its name is wrong, so none is."""
    return would_work(
        "mount", b"none", scene["home"].encode(), b"no-such-file-system", 0, 0, harmless=(errno.ENODEV,)
    )


@attack(WORD, root=True)
def file_system_opened(scene):
    """Opens a file system by the new calls."""
    return f"descriptor {call('fsopen', b'tmpfs', 1)}"


@attack(WORD, root=True)
def tree_opened(scene):
    """Makes a copy of a mount that it may change."""
    return f"descriptor {call('open_tree', AT_FDCWD, b'/', 1 | 0x8000)}"


@attack(WORD, root=True)
def mount_changed(scene):
    """Changes a mount's flags to what they are."""
    return would_work("mount_setattr", AT_FDCWD, b"/proc", 0, (ctypes.c_uint64 * 4)(), 32)


@attack(WORD, root=True)
def file_system_unmounted(scene):
    """Unmounts the user's home, which is no mount."""
    return would_work("umount2", scene["home"].encode(), 0, harmless=(errno.EINVAL,))


@attack(WORD, root=True)
def other_root(scene):
    """Makes another folder its root."""
    call("chroot", tempfile.mkdtemp().encode())
    return "changed"


@attack(WORD, root=True)
def other_root_for_all(scene):
    """Makes another folder the root of everybody; it is none that could be."""
    return would_work("pivot_root", b"/proc/self", b"/proc/self", harmless=(errno.EINVAL, errno.EBUSY, errno.ENOTDIR))


@attack(WORD, root=True)
def bpf(scene):
    """Loads a map for programs in the kernel."""
    attributes = (ctypes.c_uint32 * 32)(2, 4, 4, 1)
    return f"descriptor {call('bpf', 0, attributes, 72)}"


@attack(WORD)
def performance_counters(scene):
    """Counts what a processor does, by which other programs' secrets have been read."""
    attributes = (ctypes.c_uint32 * 32)(1, 128, 0)
    attributes[10] = 0x60  # exclude_kernel, exclude_hv
    return f"descriptor {call('perf_event_open', attributes, 0, -1, -1, 0)}"


@attack(WORD)
def performance_counters_of_a_neighbour(scene):
    """Counts what another process does."""
    attributes = (ctypes.c_uint32 * 32)(1, 128, 0)
    return f"descriptor {call('perf_event_open', attributes, scene['victim'], -1, -1, 0)}"


@attack(WORD)
def faults_of_memory(scene):
    """Handles page faults itself, by which holes of the kernel have been widened."""
    return f"descriptor {call('userfaultfd', 1)}"


@attack(WORD)
def queue_of_calls(scene):
    """Sets up a queue by which calls are made that no filter sees."""
    return f"descriptor {call('io_uring_setup', 4, (ctypes.c_uint32 * 30)())}"


@attack(WORD)
def secret_memory(scene):
    """Makes memory that not even the kernel maps, which a search for secrets does not find."""
    return f"descriptor {call('memfd_secret', 0)}"


@attack(WORD)
def key_added(scene):
    """Adds a key to the user's keyring, for a later call to find."""
    key = call("add_key", b"user", b"ferrule-attack", b"mine", 4, -4)
    call("keyctl", 9, key, -4)  # KEYCTL_UNLINK
    return f"key {key}"


@attack(WORD)
def session_keyring(scene):
    """Joins another session's keyring."""
    return f"keyring {call('keyctl', 1, 0)}"


@attack(WORD, root=True)
def module_loaded(scene):
    """Loads a module into the kernel; it is none."""
    return would_work("init_module", b"none", 4, b"", harmless=(errno.ENOEXEC,))


@attack(WORD, root=True)
def module_loaded_from_a_file(scene):
    """Loads a module into the kernel from a file, which is none."""
    file = os.memfd_create("module")
    return would_work("finit_module", file, b"", 0, harmless=(errno.ENOEXEC, errno.EINVAL, errno.EBADF))


@attack(WORD, root=True)
def module_removed(scene):
    """Removes a module that is not there from the kernel."""
    return would_work("delete_module", b"no_such_module_here", 0o4000, harmless=(errno.ENOENT,))


@attack(WORD, root=True)
def other_kernel(scene):
    """Has another kernel started; there is none."""
    return would_work("kexec_load", 0, 17, 0, 0, harmless=(errno.EINVAL,))


@attack(WORD, root=True)
def restart(scene):
    """Restarts the machine, with a magic number that is wrong."""
    return would_work("reboot", 1, 1, 1, 0, harmless=(errno.EINVAL,))


@attack(WORD, root=True)
def swap(scene):
    """Swaps to a file that is not there."""
    return would_work("swapon", b"/no/such/file", 0, harmless=(errno.ENOENT,))


@attack(WORD, root=True)
def accounting(scene):
    """Has every program that ends recorded in a file that is not there."""
    return would_work("acct", b"/no/such/file", harmless=(errno.ENOENT,))


@attack(WORD, root=True)
def quotas(scene):
    """Changes quotas of a disk that is not there."""
    return would_work("quotactl", 0x80000300 & 0x7FFFFFFF, b"/no/such/disk", 0, 0, harmless=(errno.ENOENT,))


@attack(WORD, root=True)
def name_of_the_machine(scene):
    """Gives the machine the name that it has."""
    name = platform.node().encode()
    return would_work("sethostname", name, len(name))


@attack(WORD, root=True)
def clock(scene):
    """Sets the machine's clock to a time that is none."""
    return would_work("clock_settime", 0, (ctypes.c_long * 2)(int(time.time()), -1), harmless=(errno.EINVAL,))


@attack(WORD, root=True)
def ports_of_devices(scene):
    """Talks to devices past the kernel."""
    return would_work("ioperm", 0x80, 1, 1)


@attack(WORD)
def personality(scene):
    """Has its memory laid out without chance, and readable memory executable."""
    before = call("personality", 0xFFFFFFFF)
    call("personality", before | 0x0040000)  # ADDR_NO_RANDOMIZE
    return "changed"


@attack(WORD, root=True)
def capabilities(scene):
    """Takes back all rights of root."""
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    everything = (ctypes.c_uint32 * 6)(*([0xFFFFFFFF, 0xFFFFFFFF, 0] + [0x1FF, 0x1FF, 0]))
    call("capset", head, everything)
    return "taken"


@attack(WORD, root=True)
def another_user(scene):
    """Becomes another user."""
    os.setresuid(12345, 12345, 0)
    os.setresuid(0, 0, 0)
    return "it was one"


@attack(WORD, fatal=True)
def calls_of_32_bits(scene):
    """Makes a system call by the numbers of 32-bit programs, which a filter of 64-bit ones reads as others."""
    if platform.machine() != "x86_64":
        raise NothingFound("this processor has none")
    code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"  # mov eax, 20 (getpid); int 0x80; ret
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    if function() != os.getpid():
        raise PermissionError(1, "the call gave nothing")
    return "made"


@attack(WORD, fatal=True)
def calls_of_the_other_kind(scene):
    """Makes a system call by the numbers of x32, which differ by one bit."""
    if platform.machine() != "x86_64":
        raise NothingFound("this processor has none")
    return f"getpid says {numbered(0x40000000 | 39, name='x32 getpid')}"


@attack(WORD, root=True)
def setting_of_the_kernel(scene):
    """Opens a setting of the kernel for writing."""
    with open("/proc/sys/kernel/core_pattern", "w"):
        return "it is open"


@attack(WORD, root=True)
def group_of_processes(scene):
    """Makes a control group, in which other limits hold."""
    path = f"/sys/fs/cgroup/{scene['mark']}"
    os.mkdir(path)
    os.rmdir(path)
    return "made"


@attack(WORD, root=True)
def message_to_the_log(scene):
    """Opens the kernel's log for writing."""
    with open("/dev/kmsg", "w"):
        return "it is open"


def _child(fork):
    child = fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "made"
