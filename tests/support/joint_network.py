"""Real network namespaces, joined by a relay that delays and loses packets, or cuts a place off.

Every place has a namespace of its own with a TUN device, so real TCP stacks talk to each other.
The relay is a thread of the test: it needs no kernel module, and what it loses is drawn from a
seed. Needs root and /dev/net/tun.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time
from pathlib import Path

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def missing():
    """Return why there can be no namespaces here, or nothing."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    try:
        with Network(["probe"]):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespace can be made here: {error}"


def opens_connection(packet):
    """Say whether an IPv4 packet asks for a new TCP connection: SYN without ACK."""
    start = 4 * (packet[0] & 15)
    return packet[9] == 6 and packet[start + 13] & 0x12 == 0x02


class Network:
    """Places by name, with addresses 10.77.0.1, 10.77.0.2, ...

    Nobody outside can open a connection to a place in `guarded`, as behind NAT or a firewall.
    """

    def __init__(self, names, delay=0.0, loss=0.0, seed=1):
        self.names = list(names)
        self.address = {name: f"10.77.0.{i + 1}" for i, name in enumerate(self.names)}
        self.delay, self.loss = delay, loss
        self.cut = set()
        self.guarded = set()
        self.passed = self.lost = 0
        self._random = random.Random(seed)
        self._fds = {}
        self._runs = []
        self._ending = threading.Event()
        self._tag = f"unspoken{os.getpid()}"

    def place(self, name):
        return f"{self._tag}-{name}"

    def __enter__(self):
        try:
            for name in self.names:
                self._make(name)
        except BaseException:
            self._remove()
            raise
        self._relay = threading.Thread(target=self._pass_on, daemon=True)
        self._relay.start()
        return self

    def _make(self, name):
        subprocess.run(["ip", "netns", "add", self.place(name)], check=True, capture_output=True)
        maker = threading.Thread(target=self._open, args=(name,))
        maker.start()
        maker.join(60)
        if name not in self._fds:
            raise OSError("no TUN device could be opened")
        for words in (["addr", "add", f"{self.address[name]}/24", "dev", "tun0"],
                      ["link", "set", "tun0", "up"], ["link", "set", "lo", "up"]):
            subprocess.run(["ip", "-n", self.place(name), *words], check=True,
                           capture_output=True)

    def _open(self, name):
        """Open the device from inside the namespace; the thread that entered it then ends."""
        libc = ctypes.CDLL(None, use_errno=True)
        inside = os.open(f"/run/netns/{self.place(name)}", os.O_RDONLY)
        try:
            if libc.setns(inside, 0) == 0:
                fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
                fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH14x", b"tun0", IFF_TUN | IFF_NO_PI))
                self._fds[name] = fd
        finally:
            os.close(inside)

    def _pass_on(self):
        """Read packets, keep them for the delay, and write them where they go."""
        waiting, number = [], 0
        by_fd = {fd: name for name, fd in self._fds.items()}
        by_address = {address: name for name, address in self.address.items()}
        while not self._ending.is_set():
            pause = 0.2 if not waiting else max(0.0, waiting[0][0] - time.monotonic())
            ready, _, _ = select.select(list(by_fd), [], [], min(pause, 0.2))
            for fd in ready:
                packet = os.read(fd, 65536)
                to = by_address.get(".".join(map(str, packet[16:20])))
                if to is None or {to, by_fd[fd]} & self.cut or (
                        to in self.guarded and opens_connection(packet)):
                    continue
                if self._random.random() < self.loss:
                    self.lost += 1
                    continue
                number += 1
                heapq.heappush(waiting, (time.monotonic() + self.delay, number, to, packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, to, packet = heapq.heappop(waiting)
                self.passed += 1
                try:
                    os.write(self._fds[to], packet)
                except BlockingIOError:
                    self.lost += 1

    def spawn(self, name, words, **options):
        """Start a process in a place; it ends with the network at the latest."""
        self._runs.append(subprocess.Popen(["ip", "netns", "exec", self.place(name), *words],
                                           **options))
        return self._runs[-1]

    def __exit__(self, *_):
        for run in self._runs:
            run.kill()
            run.wait()
        self._ending.set()
        self._relay.join(60)
        self._remove()

    def _remove(self):
        for fd in self._fds.values():
            os.close(fd)
        for name in self.names:
            subprocess.run(["ip", "netns", "del", self.place(name)], check=False,
                           capture_output=True)
