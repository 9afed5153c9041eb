"""The trials of the campaign: tables of kinds of jobs and of blows, and the choice of a seed from them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from signal import SIGCONT, SIGKILL, SIGSEGV, SIGSTOP, SIGTERM, Signals

# The signals of a blow; between two of them the process is held for a while.
BLOWS: dict[str, tuple[Signals, ...]] = {
    "kill": (SIGKILL,),
    "segv": (SIGSEGV,),
    "term": (SIGTERM,),
    "stop-kill": (SIGSTOP, SIGKILL),
    "stop-cont": (SIGSTOP, SIGCONT),
    "crash": (),  # the last PE dies of a SIGSEGV of its own
}
HARMLESS = "stop-cont"
TRAPS = ("on", "off", "off", "off", "off")  # of floating point, in the programs
MOMENTS = {"boot": 0.4, "work": 0.4, "end": 0.03}  # from its begin on: at most so many seconds later
OPEN_MPI = {"launcher": ("mpirun", "prterun"), "daemon": ("orted", "prted")}  # of Open MPI 4 and 5
HYDRA = {"launcher": ("mpiexec",), "daemon": ("hydra_pmi_proxy",)}
SHMEM_PLACES = ("rounds", "collect", "barrier", "wait", "lock", "compute")
MPI_PLACES = ("rounds", "barrier", "wait", "compute")
ARMCI_PLACES = ("rounds", "barrier", "wait", "lock", "compute")


@dataclass(frozen=True)
class Kind:
    """One kind of job."""

    name: str
    program: str  # of programs/
    places: tuple[str, ...]
    pes: tuple[int, ...]  # of a job, or on each node
    victims: tuple[str, ...]
    weight: int = 1
    launcher: str = "openmpi"
    nodes: int = 1
    mpi: str = ""  # whose compiler builds it
    governed: bool = False

    @property
    def commands(self) -> dict[str, tuple[str, ...]]:
        """Names of the launcher's programs."""
        return OPEN_MPI if self.launcher == "openmpi" else HYDRA


KINDS = (
    Kind("local", "shmem_work", SHMEM_PLACES, (1, 2, 3, 4), ("pe", "pe", "launcher", "oshrun"), 4),
    Kind("local-mpich", "shmem_work", SHMEM_PLACES, (2, 3), ("pe", "daemon", "launcher", "oshrun"), 1, "mpich"),
    Kind("plain", "shmem_work", SHMEM_PLACES, (2, 3), ("pe",), 1),
    Kind("2-nodes", "shmem_work", SHMEM_PLACES, (1, 2), ("pe", "daemon", "launcher", "oshrun", "nodes"), 3, nodes=2),
    Kind("3-nodes", "shmem_work", SHMEM_PLACES, (1,), ("pe", "daemon", "launcher", "oshrun"), 2, nodes=3),
    Kind("openmpi", "mpi_work", MPI_PLACES, (2, 3), ("pe", "launcher", "oshrun"), 2, mpi="openmpi"),
    Kind("mpich", "mpi_work", MPI_PLACES, (2, 3), ("pe", "daemon", "launcher", "oshrun"), 1, "mpich", mpi="mpich"),
    Kind("armci", "armci_work", ARMCI_PLACES, (2, 3), ("pe", "launcher", "oshrun"), 2, mpi="openmpi"),
    Kind("2-nodes-mpi", "mpi_work", MPI_PLACES, (1, 2), ("pe", "daemon", "launcher", "oshrun"), nodes=2, mpi="openmpi"),
    Kind("2-nodes-armci", "armci_work", ARMCI_PLACES, (1, 2), ("pe", "daemon", "oshrun"), nodes=2, mpi="openmpi"),
    Kind("governed", "shmem_work", SHMEM_PLACES, (2,), ("pe", "guard", "launcher", "oshrun"), 3, governed=True),
    Kind("governed-mpi", "mpi_work", MPI_PLACES, (2,), ("pe", "guard"), 1, mpi="openmpi", governed=True),
)


@dataclass(frozen=True)
class Trial:
    """One job and what is done to it."""

    seed: int
    number: int
    kind: Kind
    place: str
    pes: int
    victim: str
    which: int  # of several victims
    blow: str
    moment: str
    delay_s: float
    hold_s: float
    traps: str

    def __str__(self) -> str:
        when = f"{self.moment} + {self.delay_s:.3f} s"
        traps = ", with traps" if self.traps == "on" else ""
        return f"{self.kind.name} x{self.pes} {self.place}: {self.blow} of {self.victim}, {when}{traps}"

    @property
    def n(self) -> int:
        return self.pes * self.kind.nodes


@dataclass(frozen=True)
class Choice:
    """Allowed values of a trial. An empty tuple allows all of the table."""

    kinds: tuple[str, ...] = ()
    blows: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    moments: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()


def _among(words: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word in wanted) or words if wanted else words


def draw(seed: int, number: int, kinds: tuple[Kind, ...], choice: Choice) -> Trial:
    """The trial of this number: the same whichever others are run."""
    dice = random.Random(f"{seed}:{number}")
    kind = dice.choices(kinds, [kind.weight for kind in kinds])[0]
    blow = dice.choice(_among(tuple(BLOWS), choice.blows))
    moment = dice.choice(_among(tuple(MOMENTS), choice.moments))
    return Trial(
        seed,
        number,
        kind,
        place="crash" if blow == "crash" else dice.choice(_among(kind.places, choice.places)),
        pes=dice.choice(kind.pes),
        victim="pe" if blow == "crash" else dice.choice(_among(kind.victims, choice.victims)),
        which=dice.randrange(12),
        blow=blow,
        moment=moment,
        delay_s=dice.uniform(0, MOMENTS[moment]),
        hold_s=dice.uniform(0.1, 1.0),
        traps=dice.choice(_among(TRAPS, choice.traps)),
    )
