"""Call sites resolve to file:line offline, and never to a line of another build."""

import shutil
import subprocess

import fakes
import pytest
from wattle.figures import sites
from wattle.machine import elf, symbols
from wattle.record import profile

needs_compiler = pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("nm"), reason="needs gcc and nm")
needs_elfutils = pytest.mark.skipif(not shutil.which(symbols.TOOL), reason="needs elfutils")

SOURCE = """
void callee(void);
static inline __attribute__((always_inline)) void inner(void)
{
  callee(); /* line 5 */
}
void outer(void)
{
  inner();
  callee(); /* line 10 */
}
__attribute__((noinline)) void callee(void) { __asm__(""); }
int main(void) { outer(); return 0; }
"""


@pytest.fixture(scope="module")
def binaries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elf")
    (folder / "prog.c").write_text(SOURCE)
    for name, options in (("debug", ["-g"]), ("plain", ["-s"]), ("named", []), ("bare", ["-g", "-Wl,--build-id=none"])):
        subprocess.run(
            ["gcc", "-O1", "-fno-ipa-icf", *options, "-o", str(folder / name), str(folder / "prog.c")], check=True
        )
    return folder


def calls_in_outer(binary):
    """Offsets within the two call instructions: return address - 1."""
    text = subprocess.run(["objdump", "-d", str(binary)], capture_output=True, text=True, check=True).stdout
    body = text.partition("<outer>:")[2].partition("\n\n")[0]
    lines = body.strip().splitlines()
    offsets = [int(line.split(":")[0], 16) for line in lines if line.strip() and ":" in line]
    return [after - 1 for line, after in zip(lines, offsets[1:], strict=False) if "callee" in line.partition("<")[2]]


def resolve(path, offset, build_id=None):
    key = (str(path), elf.build_id(str(path)) or "" if build_id is None else build_id, offset)
    return symbols.resolve([key])[key]


@needs_compiler
@needs_elfutils
def test_a_call_site_is_a_file_a_line_and_a_function(binaries):
    inlined, plain = (resolve(binaries / "debug", offset) for offset in calls_in_outer(binaries / "debug")[:2])
    assert (inlined.label, inlined.function) == ("prog.c:5", "inner")
    assert (plain.label, plain.function) == ("prog.c:10", "outer")
    assert plain.why == ""


def test_an_overload_of_the_header_is_the_line_that_calls_it():
    frames = "0x10\nshmem_put inlined at /p/prog.cc:7 in main\n/opt/include/shmem.h:2000:3\nmain\n/p/prog.cc:7:5\n"
    (place,) = symbols.parse("/p/prog", frames).values()
    assert (place.label, place.function) == ("prog.cc:7", "main")


@needs_compiler
@needs_elfutils
def test_without_debug_information_it_is_module_and_offset_and_says_so(binaries):
    offset = calls_in_outer(binaries / "named")[0]
    named, plain = resolve(binaries / "named", offset), resolve(binaries / "plain", offset)
    assert named.label == f"named+{offset:#x}"
    assert named.function == "outer"
    assert "no debug information" in named.why
    assert plain.label == f"plain+{offset:#x}"
    assert plain.why


@needs_compiler
@needs_elfutils
def test_a_binary_that_changed_since_the_run_names_no_line(binaries):
    found = resolve(binaries / "debug", calls_in_outer(binaries / "debug")[0], build_id="00" * 20)
    assert found.file == ""
    assert found.why == "binary changed since the run"


@needs_compiler
@needs_elfutils
def test_a_binary_without_build_id_names_no_line(binaries):
    assert "no build-id" in resolve(binaries / "bare", 0x1139).why


@needs_elfutils
def test_a_binary_that_is_gone_or_is_none_says_so(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("no program")
    assert resolve(tmp_path / "gone", 1, "ab").why == "the binary no longer exists"
    assert resolve(tmp_path / "ha\ufffdlo", 1, "ab").why == "the binary's name is not UTF-8"
    assert resolve(text, 1, "ab").why == "not an ELF file"


@needs_compiler
@needs_elfutils
def test_an_offset_outside_leaves_the_others_alone(binaries):
    path = str(binaries / "debug")
    key = (path, elf.build_id(path), calls_in_outer(path)[0])
    far = (path, key[1], 0x99999999)
    found = symbols.resolve([far, key])
    assert found[key].line == 5
    assert found[far].why == "no symbol at that offset"


def test_without_elfutils_there_are_offsets_and_a_word_about_it(monkeypatch, tmp_path):
    program = tmp_path / "prog"
    program.write_bytes(b"\x7fELF")
    monkeypatch.setattr(elf, "build_id", lambda path: "ab")
    monkeypatch.setattr(symbols, "TOOL", "no-such-tool-anywhere")
    found = resolve(program, 0x10, "ab")
    assert found.label == "prog+0x10"
    assert "package elfutils" in found.why


def test_the_same_site_is_one_over_all_pes_even_if_loaded_elsewhere(tmp_path):
    far = fakes.pe_profile(1)
    for entry in far["sites"]:
        entry["addr"] = hex(int(entry["addr"], 16) + 0x10000)
    merged = sites.merge(profile.load(fakes.make_run(tmp_path / "r", [fakes.pe_profile(0), far])))
    assert [(s.call, s.calls, s.pes) for s in merged] == [("shmem_double_put", 2000, 2), ("shmem_barrier_all", 200, 2)]


def test_the_costliest_comes_first_by_joules_and_by_time_where_there_are_none(tmp_path):
    cheap = fakes.site(0x10, "shmem_get", time_s=9.0, joules={"cpu": 0.1, "dram": 0.1})
    dear = fakes.site(0x20, "shmem_put", time_s=1.0, joules={"cpu": 5.0, "dram": 0.1})
    by_joules = fakes.make_run(tmp_path / "a", [fakes.pe_profile(0, 1, sites=[cheap, dear])])
    assert [s.call for s in sites.merge(profile.load(by_joules))] == ["shmem_put", "shmem_get"]
    none = [fakes.figure("cpu", None), fakes.figure("dram", None)]
    by_time = fakes.make_run(tmp_path / "b", [fakes.pe_profile(0, 1, sites=[cheap, dear], joules=none)])
    assert [s.call for s in sites.merge(profile.load(by_time))] == ["shmem_get", "shmem_put"]


def test_a_sites_joules_are_modelled_even_where_the_pes_were_measured(tmp_path):
    pe = fakes.pe_profile(0, 1, joules=[fakes.figure("cpu", 10.0, "measured"), fakes.figure("dram", 2.0, "measured")])
    merged = sites.merge(profile.load(fakes.make_run(tmp_path / "r", [pe])))
    assert {str(j.provenance) for s in merged for j in s.joules} == {"modelled"}


def test_an_unknown_time_of_one_pe_makes_the_sites_time_unknown(tmp_path):
    profiles = [fakes.pe_profile(0), fakes.pe_profile(1, sites=[fakes.site(time_s=None)])]
    merged = sites.merge(profile.load(fakes.make_run(tmp_path / "r", profiles)))
    assert next(s for s in merged if s.call == "shmem_double_put").time_s is None


def test_a_share_of_nothing_is_nothing_and_no_gap(tmp_path):
    none = fakes.site(joules={"cpu": 1.0, "dram": None})
    pe = fakes.pe_profile(0, 1, sites=[none], joules=[fakes.figure("cpu", 2.0), fakes.figure("dram", 0.0)])
    joules = sites.merge(profile.load(fakes.make_run(tmp_path / "r", [pe])))[0].joules
    assert [j.joules for j in joules] == [1.0, 0.0]
    assert all(j.uncertainty is not None for j in joules)


def test_a_sites_share_is_of_all_the_sensors_domains_of_its_kind(tmp_path):
    fine = [fakes.figure(d, 10.0, uncertainty=1.0) for d in ("package-0", "package-1", "dram-0", "dram-1")]
    pe = fakes.pe_profile(0, 1, sites=[fakes.site(joules={"cpu": 4.0, "dram": 1.0})], joules=fine)
    cpu, dram = sites.merge(profile.load(fakes.make_run(tmp_path / "r", [pe])))[0].joules
    assert (cpu.domain, cpu.joules, cpu.uncertainty) == ("cpu", 4.0, pytest.approx(0.4))
    assert (dram.domain, dram.joules, dram.uncertainty) == ("dram", 1.0, pytest.approx(0.1))
