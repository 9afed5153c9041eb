"""A virtual machine with an RDMA device: Debian's kernel in QEMU, whose module rdma_rxe makes RoCE of an interface.

Verbs, queue pairs, memory keys and completion channels are those of the kernel and of libibverbs. The wire alone is
imitated. The machine shows the host's files, read only, under a layer in its own memory. So it runs the host's programs
and this build, and leaves nothing behind.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("WATTLE_RDMA_CACHE", "/var/cache/wattle-rdma"))
QEMU = "qemu-system-x86_64"
PACKAGES = ("kmod", "rdma-core", "ibverbs-utils", "libibverbs1", "ibverbs-providers", "busybox-static")
EARLY = ("virtio_pci", "virtio_rng", "9pnet_virtio", "9p", "overlay")  # before the host's files are there
DRIVERS = ("net", "infiniband", "char", "virtio")  # of drivers/; other hardware is not in the machine
KEPT = ("WATTLE_", "UCX_", "FI_", "OMPI_", "SHMEM_")
OUT_OF_TIME = 124  # exit codes of a run
NOT_REACHED = 125


class Unavailable(Exception):
    """The machine cannot be made here. The text says why and what to do."""


def call(*words: str | Path, cwd: Path | None = None) -> str:
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True, cwd=cwd)
    except FileNotFoundError:
        raise Unavailable(f"{words[0]} not found") from None
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"{' '.join(map(str, words))}: {error.stderr.strip() or error.stdout.strip()}") from None
    return done.stdout


# --- what the machine needs ------------------------------------------------------------------------------------------


def prepare() -> None:
    """Unpacks the kernel and the RDMA tools into the cache, once, and makes the first file system."""
    if os.geteuid() != 0:
        raise Unavailable("root is needed, to show the host's files to the machine")
    if shutil.which(QEMU) is None:
        raise Unavailable(f"{QEMU} not found (Debian: apt-get install --no-install-recommends qemu-system-x86)")
    if not (CACHE / "version").exists():
        unpack()
    make_first_files()


def unpack() -> None:
    depends = call("apt-cache", "depends", "linux-image-amd64").split()
    kernel = next((word for word in depends if word.startswith("linux-image-") and word[12].isdigit()), None)
    if kernel is None:
        raise Unavailable("no package linux-image-amd64: is this Debian, and was apt-get update run?")
    shutil.rmtree(CACHE, ignore_errors=True)
    files, archives = CACHE / "files", CACHE / "archives"
    (archives / "partial").mkdir(parents=True)
    files.mkdir()
    call("apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", kernel, *PACKAGES, cwd=archives)
    for archive in sorted(archives.glob("*.deb")):
        call("dpkg-deb", "-x", archive, files)
    shutil.rmtree(archives)
    merge_usr(files)
    version = kernel.removeprefix("linux-image-")
    modules = files / "usr/lib/modules" / version
    for folder in (modules / "kernel/drivers").iterdir():
        if folder.name not in DRIVERS:
            shutil.rmtree(folder)
    kmod(files, "depmod", "-b", files / "usr", version)
    (CACHE / "version").write_text(version)


def merge_usr(files: Path) -> None:
    """Moves bin, lib, ... into usr, where the host's links point. As folders they would hide those links."""
    for name in ("bin", "sbin", "lib", "lib64"):
        if (files / name).is_dir():
            shutil.copytree(files / name, files / "usr" / name, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(files / name)


def kmod(files: Path, name: str, *words: str | Path) -> str:
    """A command of kmod, which is one program with several names, possibly not on the host."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).symlink_to(files / "usr/bin/kmod")
        return call(Path(folder) / name, *words)


def make_first_files() -> None:
    """The first file system: busybox, the modules that reach the host's files, and the script guest/init."""
    files, version = CACHE / "files", (CACHE / "version").read_text()
    modules = files / "usr/lib/modules" / version
    needs = dict(line.split(":", 1) for line in (modules / "modules.dep").read_text().splitlines())
    order: list[str] = []
    for early in EARLY:
        for path, others in needs.items():
            if Path(path).name.split(".ko")[0].replace("-", "_") == early:
                order += [p for p in [*reversed(others.split()), path] if p not in order]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("bin", "modules", "proc", "sys", "dev", "layer", "host", "extra", "new"):
            (root / name).mkdir()
        shutil.copy2(files / "usr/bin/busybox", root / "bin/busybox")
        shutil.copy2(HERE / "guest/init", root / "init")
        (root / "init").chmod(0o755)
        for i, path in enumerate(order):
            shutil.copy2(modules / path, root / "modules" / f"{i:03}-{Path(path).name}")
        names = "\0".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))
        archive = subprocess.run(
            [root / "bin/busybox", "cpio", "-0", "-o", "-H", "newc"],
            input=names.encode(),
            cwd=root,
            capture_output=True,
            check=True,
        ).stdout
        (CACHE / "first.gz").write_bytes(gzip.compress(archive, 1))


# --- a run -----------------------------------------------------------------------------------------------------------


def accelerator() -> list[str]:
    """KVM where the processor offers it. /dev/kvm alone says little."""
    flags = Path("/proc/cpuinfo").read_text().split()
    if ("vmx" in flags or "svm" in flags) and os.access("/dev/kvm", os.W_OK):
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max"]


def share(tag: str, folder: Path, options: str) -> list[str]:
    device = f"local,id={tag},path={folder},security_model=none,multidevs=remap{options}"
    return ["-fsdev", device, "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def run(command: list[str], seconds: float, cpus: int = 2, memory_mib: int = 4096) -> int:
    """Boots the machine and runs `command` in the current folder. Prints the output as it comes. Returns the exit
    code; OUT_OF_TIME, or NOT_REACHED: the machine did not come to the command.
    """
    with tempfile.TemporaryDirectory(prefix="wattle-rdma-") as folder:
        job = Path(folder)
        (job / "output").touch()
        shutil.copy2(HERE / "guest/setup", job / "setup")
        (job / "command").write_text("\0".join(command) + "\0")
        kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        kept |= {"WHERE": str(Path.cwd()), "LIMIT": str(int(max(seconds - 30, 30)))}
        (job / "environment").write_text("".join(f"{name}={value}\0" for name, value in kept.items()))
        version = (CACHE / "version").read_text()
        machine = [QEMU, "-M", "q35", *accelerator(), "-smp", str(cpus), "-m", str(memory_mib), "-nodefaults"]
        machine += ["-no-user-config", "-display", "none", "-no-reboot", "-serial", f"file:{job}/console"]
        machine += ["-kernel", str(CACHE / f"files/boot/vmlinuz-{version}"), "-initrd", str(CACHE / "first.gz")]
        # Without the last option a slow emulation ends in the kernel's panic "IO-APIC + timer doesn't work".
        options = "console=ttyS0 quiet panic=-1 mitigations=off audit=0 nowatchdog no_timer_check"
        machine += ["-append", options, "-device", "virtio-rng-pci"]
        machine += [
            *share("host", Path("/"), ",readonly=on"),
            *share("extra", CACHE / "files", ",readonly=on"),
            *share("job", job, ",writeout=immediate"),
        ]
        with subprocess.Popen(machine, stdin=subprocess.DEVNULL) as qemu:
            try:
                code = follow(job, qemu, time.monotonic() + seconds)
            finally:
                qemu.kill()
        if code == NOT_REACHED:
            print("the machine did not come to the command; its last words:")
            print("\n".join((job / "console").read_text(errors="replace").splitlines()[-60:]))
        return code


def follow(job: Path, qemu: subprocess.Popen[bytes], deadline: float) -> int:
    with (job / "output").open(errors="replace") as output:
        while time.monotonic() < deadline:
            ended = (job / "code").exists() or qemu.poll() is not None
            print(output.read(), end="", flush=True)
            if ended:
                return int((job / "code").read_text()) if (job / "code").exists() else NOT_REACHED
            time.sleep(0.2)
    return OUT_OF_TIME if (job / "output").stat().st_size else NOT_REACHED
