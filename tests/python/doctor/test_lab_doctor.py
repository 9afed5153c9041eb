"""`wattle doctor` reports available features and reasons, and never advises to open energy counters to all users."""

import csv
import errno
import json
import os
import pwd
import re
from pathlib import Path

import fakes
import pytest
from wattle.doctor import clocks, counters, machine, meters, show, software
from wattle.doctor.finding import Roots, Section, State, is_virtual
from wattle.machine.info import Info
from wattle.machine.paths import Home
from wattle.text import console

NOT_READABLE = {
    "meters": [
        {"name": "powercap", "usable": False, "why": "energy_uj: permission denied", "grant": "", "domains": []}
    ],
    "machine": {"name": "unknown", "matched": None},
}


@pytest.fixture
def roots(tmp_path):
    (tmp_path / "sys").mkdir()
    (tmp_path / "proc").mkdir()
    return Roots(tmp_path / "sys", tmp_path / "proc")


def put(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def finding(section: Section, name):
    return next(f for f in section.findings if f.name == name)


def test_an_unreadable_counter_comes_with_a_safe_grant_and_its_risk(roots):
    put(roots.sys, {"class/powercap/intel-rapl:0/energy_uj": "1"})
    (roots.sys / "class/powercap/intel-rapl:0/energy_uj").chmod(0o400)
    found = finding(meters.examine(Info(NOT_READABLE), roots), "powercap")
    assert found.state is State.NO
    assert found.why == "energy_uj: permission denied"
    assert any("chgrp energy" in line for line in found.grant)
    assert "PLATYPUS" in found.risk
    assert not opens_to_everybody(found.grant)


def test_the_runtimes_own_grant_is_shown_with_the_risk(roots):
    put(roots.sys, {"class/powercap/intel-rapl:0/energy_uj": "1"})
    meter = NOT_READABLE["meters"][0] | {"grant": "sudo setcap cap_perfmon+ep ./program"}
    found = finding(meters.examine(Info(NOT_READABLE | {"meters": [meter]}), roots), "powercap")
    assert found.grant == ("sudo setcap cap_perfmon+ep ./program",)
    assert "PLATYPUS" in found.risk


def test_counters_that_everybody_can_read_are_a_finding(roots):
    put(roots.sys, {"class/powercap/intel-rapl:0/energy_uj": "1"})
    (roots.sys / "class/powercap/intel-rapl:0/energy_uj").chmod(0o444)
    found = finding(meters.examine(Info(NOT_READABLE), roots), "exposure")
    assert found.state is State.PARTLY
    assert "chmod o-r" in found.grant[0]


def test_without_a_sensor_there_is_nothing_to_grant(roots):
    put(roots.proc, {"cpuinfo": "flags\t: fpu hypervisor sse\n"})
    none = {"meters": [{"name": "powercap", "usable": False, "why": "", "grant": "", "domains": []}]}
    found = finding(meters.examine(Info(none), roots), "powercap")
    assert (found.says, found.grant, found.risk) == ("no sensor", (), "")
    assert "virtual machine" in found.why


def domain(name, available=True):
    return {"name": name, "scope": "package", "nested": False, "available": available}


def test_a_meter_that_reads_one_package_of_two_is_only_partly_usable(roots):
    meter = {"name": "powercap", "usable": True, "why": "", "grant": "sudo x"}
    both = [domain("package-0"), domain("package-1")]
    found = finding(meters.examine(Info({"meters": [meter | {"domains": both}], "machine": {}}), roots), "powercap")
    assert (found.state, found.says) == (State.YES, "usable: measured (package-0, package-1)")
    one = [domain("package-0"), domain("package-1", available=False)]
    found = finding(meters.examine(Info({"meters": [meter | {"domains": one}], "machine": {}}), roots), "powercap")
    assert found.state is State.PARTLY
    assert found.says == "usable in part: measured (package-0); not readable: package-1"
    assert found.grant == ("sudo x",)
    assert "PLATYPUS" in found.risk
    missing = meter | {"why": "only 1 of 2 packages can be read", "domains": both[:1]}
    found = finding(meters.examine(Info({"meters": [missing], "machine": {}}), roots), "powercap")
    assert (found.state, found.why) == (State.PARTLY, "only 1 of 2 packages can be read")


def test_a_meter_that_may_not_be_read_says_so_with_the_grant(roots):
    refused = "cannot read /sys/class/hwmon/hwmon2/energy1_label: Permission denied"
    meter = {"name": "hwmon", "usable": False, "why": refused, "grant": "sudo x\n# never to all users", "domains": []}
    found = finding(meters.examine(Info({"meters": [meter], "machine": {}}), roots), "hwmon")
    assert (found.state, found.why, found.grant) == (State.NO, refused, ("sudo x", "# never to all users"))
    assert "PLATYPUS" in found.risk


def test_zones_that_a_container_hides_come_with_its_remedy(roots):
    (roots.sys / "class/powercap").mkdir(parents=True)
    (roots.sys / "class/powercap/intel-rapl:0").symlink_to("../../devices/virtual/powercap/gone")
    put(roots.proc, {"cpuinfo": "flags\t: fpu hypervisor sse\n"})
    why = "the zones are links to hidden folders (a container)"
    meter = {"name": "powercap", "usable": False, "why": why, "grant": "# docker run ...", "domains": []}
    found = finding(meters.examine(Info({"meters": [meter], "machine": {}}), roots), "powercap")
    assert (found.says, found.why, found.grant) == ("no sensor", why, ("# docker run ...",))


def opens_to_everybody(lines):
    pattern = r"chmod [ao]*[ao]\+r|chmod -?R? ?[0-7]*[4567]\b|perf_event_paranoid=(-1|0|1)|chmod \+r"
    return any(re.search(pattern, line) and "440" not in line for line in lines)


def test_no_advice_anywhere_opens_counters_to_everybody(roots):
    put(roots.sys, {"class/powercap/intel-rapl:0/energy_uj": "1"})
    put(roots.sys, {"devices/system/cpu/cpufreq/policy0/scaling_max_freq": "1"})
    sections = [meters.examine(Info(NOT_READABLE), roots), clocks.examine(roots)]
    sections += [counters.examine(roots, error) for error in (0, errno.EACCES, errno.ENOENT)]
    grants = [line for section in sections for f in section.findings for line in f.grant]
    assert grants
    assert not opens_to_everybody(grants)


def test_the_pattern_above_would_find_bad_advice():
    for bad in (
        "sudo chmod a+r /sys/x/energy_uj",
        "chmod o+r x",
        "chmod 444 x",
        "sysctl kernel.perf_event_paranoid=-1",
    ):
        assert opens_to_everybody([bad])


def test_clock_domains_that_are_shared_are_named(roots):
    for policy, cpus in (("policy0", "0 1"), ("policy2", "2 3")):
        put(
            roots.sys / "devices/system/cpu/cpufreq" / policy,
            {
                "related_cpus": cpus,
                "scaling_driver": "acpi-cpufreq",
                "scaling_governor": "powersave",
                "scaling_max_freq": "2600000",
                "cpuinfo_min_freq": "1200000",
                "cpuinfo_max_freq": "2600000",
            },
        )
    section = clocks.examine(roots)
    assert finding(section, "cpufreq").says == "driver acpi-cpufreq, 1.20 GHz to 2.60 GHz"
    assert finding(section, "governor").says == "powersave"
    assert finding(section, "clock domains").says == "2, shared: CPUs 0 1 | 2 3"


def test_one_clock_for_each_cpu_is_no_limit(roots):
    put(roots.sys, {f"devices/system/cpu/cpufreq/policy{i}/related_cpus": str(i) for i in range(4)})
    assert finding(clocks.examine(roots), "clock domains").state is State.YES


def test_clocks_that_hardware_ties_together_are_named_too(roots):
    """CPUs 0 and 1 by their driver's word, 2 and 3 as threads of a core; each has a policy of its own."""
    for i in range(5):
        put(roots.sys, {f"devices/system/cpu/cpufreq/policy{i}/related_cpus": str(i)})
    put(roots.sys, {f"devices/system/cpu/cpufreq/policy{i}/freqdomain_cpus": "0 1" for i in (0, 1)})
    put(roots.sys, {f"devices/system/cpu/cpu{i}/topology/thread_siblings_list": "2-3" for i in (2, 3)})
    assert finding(clocks.examine(roots), "clock domains").says == "3, shared: CPUs 0 1 | 2 3"


def policies(roots, **files):
    for i in range(2):
        put(roots.sys / f"devices/system/cpu/cpufreq/policy{i}", files)


def writable(names):
    """In the place of os.access: only files of these names."""
    return lambda path, mode: path.name in names


@pytest.mark.parametrize(
    ("governor", "names", "state", "says"),
    [
        ("schedutil", {"scaling_max_freq", "scaling_min_freq"}, State.YES, "permitted, by scaling_max_freq and"),
        ("schedutil", {"scaling_max_freq"}, State.NO, "not permitted"),
        ("userspace", {"scaling_setspeed"}, State.YES, "permitted, by scaling_setspeed"),
        ("userspace", {"scaling_max_freq", "scaling_min_freq"}, State.NO, "not permitted"),
        ("powersave", {"energy_performance_preference"}, State.PARTLY, "only as a hint"),
    ],
)
def test_setting_clocks_is_what_the_knob_needs(roots, monkeypatch, governor, names, state, says):
    policies(roots, scaling_governor=governor)
    monkeypatch.setattr(clocks.os, "access", writable(names))
    found = finding(clocks.examine(roots), "setting clocks")
    assert (found.state, found.says.startswith(says)) == (state, True), found
    wanted = "scaling_setspeed" if governor == "userspace" else "scaling_min_freq"
    assert state is State.YES or any(wanted in line for line in found.grant)


@pytest.fixture
def state(roots, tmp_path, monkeypatch):
    put(roots.sys, {"devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave"})
    put(roots.proc, {"sys/kernel/random/boot_id": "this-boot"})
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("WATTLE_CLOCK_STATE", str(folder))
    return folder


def test_what_jobs_keep_is_named_with_its_owner(roots, state):
    assert finding(clocks.examine(roots), "state folder").says == f"{state}, not shared"
    put(state, {"clocks-this-boot-1": "", "clocks-another-boot-1": "", ".claims-this-boot": ""})
    os.mkfifo(state / "clocks-this-boot-2")  # no job's
    owner = pwd.getpwuid(os.geteuid()).pw_name
    says = finding(clocks.examine(roots), "state folder").says
    assert says.endswith(f"; jobs that run, or were killed, keep clocks-this-boot-1 ({owner})")


def test_a_state_folder_that_jobs_do_not_use_is_named(roots, state):
    state.chmod(0o777)
    found = finding(clocks.examine(roots), "state folder")
    assert (found.state, found.why) == (State.NO, "every user may write to it")
    state.rmdir()
    assert finding(clocks.examine(roots), "state folder").says.endswith("made by the first job that sets clocks")
    os.mkfifo(state)
    assert finding(clocks.examine(roots), "state folder").state is State.NO


def test_the_folder_of_power_limits_is_the_users_alone(roots, state):
    def says_of_limits():
        return [(f.state, f.says, f.why) for f in clocks.examine(roots).findings if f.name == "state of limits"]

    assert says_of_limits() == []
    folder = state.with_name("state-limits")
    folder.mkdir(mode=0o700)
    put(folder, {"limits-this-boot-1": "", "clocks-this-boot-1": ""})
    owner = pwd.getpwuid(os.geteuid()).pw_name
    keeps = f"{folder}; jobs that run, or were killed, keep limits-this-boot-1 ({owner})"
    assert says_of_limits() == [(State.YES, keeps, "")]
    folder.parent.chmod(0o770)
    assert says_of_limits()[0][2] == "others may rename it, because they may write to a folder above it"
    folder.chmod(0o770)
    assert says_of_limits()[0][2] == "others may write to it"


def test_no_cpufreq_says_why(roots):
    found = clocks.examine(roots).findings
    assert {f.state for f in found} == {State.NO}
    assert found[0].why == "no cpufreq driver"


@pytest.mark.parametrize(
    ("error", "state", "why"),
    [
        (0, State.YES, ""),
        (errno.EACCES, State.NO, "perf_event_paranoid is 3"),
        (errno.ENOENT, State.NO, "no hardware counters"),
        (errno.ENOSYS, State.NO, "not implemented"),
    ],
)
def test_counters_are_tried_out(roots, error, state, why):
    put(roots.proc, {"sys/kernel/perf_event_paranoid": "3\n"})
    found = finding(counters.examine(roots, error), "instructions, cycles, last-level cache misses")
    assert found.state is state
    assert why in found.why


def test_trying_the_counters_gives_an_errno_and_no_crash():
    assert all(counters.count(event) in {0, *errno.errorcode} for event in counters.EVENTS.values())


def test_a_counter_that_is_missing_beside_others_is_named(roots, monkeypatch):
    monkeypatch.setattr(counters, "count", lambda event: errno.ENOENT if event == 3 else 0)
    section = counters.examine(roots)
    assert finding(section, "instructions, cycles").state is State.YES
    assert finding(section, "last-level cache misses").state is State.NO


def test_what_the_cpu_offers_to_wait_with_is_read_from_its_flags(roots):
    put(roots.proc, {"cpuinfo": "processor: 0\nflags\t\t: fpu waitpkg sse\n"})
    section = machine.waiting(roots)
    states = {f.name: f.state for f in section.findings}
    assert states.get("UMWAIT, TPAUSE", State.YES) is State.YES
    assert states.get("MWAITX", State.NO) is State.NO


@pytest.mark.parametrize(
    ("there", "state", "says", "lacks"),
    [
        (("openmpi", "mpich"), State.YES, "Open MPI and MPICH", ()),
        (("mpich",), State.PARTLY, "MPICH", ("Open MPI (Debian: libopenmpi-dev)",)),
        ((), State.NO, "without a profile", ("libopenmpi-dev", "libmpich-dev")),
    ],
)
def test_the_mpis_whose_programs_can_be_run_are_named(tmp_path, there, state, says, lacks):
    (tmp_path / "lib").mkdir()
    for kind in there:
        (tmp_path / f"lib/libwattle-mpi-{kind}.so").touch()
    found = software.mpi_programs(Home(tmp_path, "by hand"))
    assert found.state is state
    assert says in found.says
    assert all(word in found.why for word in lacks)
    assert bool(found.why) == bool(lacks)


def test_limits_of_the_control_group_count(roots):
    put(roots.proc, {"self/cgroup": "0::/job/step\n", "meminfo": "MemAvailable: 8388608 kB\n"})
    put(roots.sys, {"fs/cgroup/job/cpu.max": "150000 100000\n", "fs/cgroup/job/step/memory.max": "1073741824\n"})
    put(roots.sys, {"fs/cgroup/job/step/cpu.max": "max 100000\n"})
    section = machine.examine(roots)
    assert finding(section, "CPU quota").says == "1.5 cores' worth of time"
    assert finding(section, "memory").says == "1.00 GiB"


def test_without_limits_there_is_no_finding_about_them(roots):
    put(roots.proc, {"meminfo": "MemAvailable: 8388608 kB\n"})
    section = machine.examine(roots)
    assert finding(section, "memory").says == "8.00 GiB available"
    assert not [f for f in section.findings if f.name == "CPU quota"]


def test_all_settings_are_listed_where_they_are_asked_for(wattle):
    result = wattle("doctor", "--settings")
    assert result.returncode == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    for row in fakes.INFO["settings"]:
        assert row["name"] in result.stdout
    assert "Energy" not in result.stdout


def test_the_line_that_chooses_a_profile_for_this_cpu_is_shown(tmp_path):
    cpuinfo = "processor: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9354\n"
    (tmp_path / "cpuinfo").write_text(cpuinfo)
    (tmp_path / "arm").mkdir()
    (tmp_path / "arm/cpuinfo").write_text("processor: 0\nCPU implementer\t: 0x41\n")
    (found,) = meters._match(Roots(tmp_path, tmp_path))
    assert found.says == "match: [{vendor: AuthenticAMD, family: 25, model: 17}]"
    assert meters._match(Roots(tmp_path, tmp_path / "arm")) == []
    with (tmp_path / "arm/cpuinfo").open("a") as file:
        file.write("CPU architecture: 8\nCPU part\t: 0xd0c\n")
    (found,) = meters._match(Roots(tmp_path, tmp_path / "arm"))
    assert found.says == 'match: [{vendor: "0x41", family: 8, model: 3340}]'


ARM_MACHINES = Path(__file__).parents[2] / "power" / "arm_machines.csv"


def test_arm_guests_are_told_as_the_runtime_tells_them(tmp_path):
    """The C test reads the same cases."""
    rows = list(csv.DictReader(ARM_MACHINES.read_text().splitlines(), delimiter="|"))
    assert len(rows) > 30
    for i, row in enumerate(rows):
        sys, proc = tmp_path / str(i) / "sys", tmp_path / str(i) / "proc"
        dmi = {name: row[name] + "\n" for name in ("sys_vendor", "product_name") if row[name]}
        put(sys / "class/dmi/id", dmi)
        put(proc, {"cpuinfo": f"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {row['part']}\n"})
        if row["devicetree"]:
            file, _, value = row["devicetree"].partition("=")
            put(sys / "firmware/devicetree/base", {file: value + "\0"})
        assert is_virtual(Roots(sys, proc)) == (row["is_virtual"] == "1"), row


def test_the_report_names_only_the_settings_that_were_changed(capsys):
    rows = [{"name": "A", "value": "1", "default": "1"}, {"name": "B", "value": "2", "default": "1"}]
    show.show([], Info({"settings": rows}), console.Console())
    said = capsys.readouterr().out
    assert re.search(r"^B +2 \*", said, re.MULTILINE)
    assert not re.search(r"^A ", said, re.MULTILINE)
    assert "1 setting has its default; `wattle doctor --settings` lists all" in said


def test_the_report_fits_80_columns(wattle):
    result = wattle("doctor", env={"WATTLE_WAIT": "spin"})
    assert result.returncode == 0
    assert result.stderr == ""
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "`wattle doctor --settings` lists all" in result.stdout
    for title in ("Energy", "Clocks", "Counters", "Waiting", "Machine", "Network", "Software", "Settings"):
        assert title in result.stdout


def test_json_says_the_same(wattle):
    document = json.loads(wattle("doctor", "--json").stdout)
    assert document["kind"] == "doctor"
    findings = [f for section in document["sections"] for f in section["findings"]]
    assert all(set(f) == {"name", "state", "says", "why", "grant", "risk"} for f in findings)
    assert {row["name"] for row in document["settings"]} == {row["name"] for row in fakes.INFO["settings"]}


def test_a_wrong_setting_is_the_error(wattle):
    result = wattle("doctor", env={"WATTLE_WAIT": "dream"})
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("wattle: WATTLE_WAIT=dream: expected one of")


def test_bounds_of_settings_are_shown_in_their_unit():
    settings = [
        {"name": "A", "kind": "size", "lo": 65536, "hi": 2**44, "value": "1M", "default": "1M", "help": "x"},
        {"name": "B", "kind": "seconds", "lo": 0.0001, "hi": 1, "value": "auto", "default": "auto", "help": "y"},
    ]
    table = show.settings_table(Info({"settings": settings}))
    texts = [str(cell) for cell in table.columns[2].cells]
    assert texts == ["x [64.0 KiB to 16.0 TiB]", "y [100 µs to 1.00 s]"]


def test_without_simgrid_the_doctor_and_the_commands_say_how_to_get_it(home, wattle):
    section = next(s for s in json.loads(wattle("doctor", "--json").stdout)["sections"] if s["title"] == "Software")
    found = next(f for f in section["findings"] if f["name"] == "simulation")
    assert (found["state"], found["grant"]) == ("no", ["sudo apt-get install libsimgrid-dev"])
    for command in (["sim", "-n", "2", "--", "true"], ["study", "slack", "--on", "sim"]):
        done = wattle(*command)
        assert done.returncode == 2
        assert "sudo apt-get install libsimgrid-dev, then `make install` or `pip install" in done.stderr
        assert done.stderr.count("\n") == 1
