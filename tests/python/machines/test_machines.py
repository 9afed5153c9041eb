"""The table of CPUs: its fit holds for servers that it did not see, and `wattle machines` answers from it."""

from __future__ import annotations

import csv
import itertools
import json
import math
import shutil
import statistics
import sys
from dataclasses import replace

import pytest
from tree import ROOT
from wattle.base.errors import WattleError
from wattle.machines import predict, table
from wattle.machines.predict import Machine

sys.path.insert(0, str(ROOT / "tools"))
import check_processors as checked
import fit_classes
import fit_machines as fitted

TABLE = ROOT / "machines" / "cpus.toml"
GENOA = ("--cpu", "AMD EPYC 9654 96-Core Processor", "--family", "25", "--model", "17")


@pytest.fixture(scope="module")
def kinds():
    return fitted.read_kinds()


@pytest.fixture(scope="module")
def servers(kinds):
    return fitted.read_servers(kinds)


@pytest.fixture(scope="module")
def measured():
    return fitted.read_measured()


@pytest.fixture(scope="module")
def of_cpus():
    return table.read(TABLE)


@pytest.fixture
def machines(wattle, home):
    (home / "share" / "wattle" / "machines").mkdir(parents=True, exist_ok=True)
    (home / "share" / "wattle" / "machines" / "cpus.toml").write_text(TABLE.read_text())
    shutil.copy(TABLE.with_name("names.csv"), home / "share" / "wattle" / "machines")
    (home / "share" / "wattle" / "machines" / "mine.yaml").write_text("name: mine\ntitle: a machine\n")
    return lambda *arguments: wattle("machines", *arguments)


@pytest.fixture(scope="module")
def whole(kinds, servers, measured):
    return fitted.fit(kinds, servers, measured)


@pytest.fixture(scope="module")
def packages(whole, servers, measured):
    return fitted.predict_packages(whole, servers, measured)


@pytest.fixture(scope="module")
def misses(servers):
    return fitted.wall_misses(servers)


def test_the_table_and_the_page_are_what_the_measurements_give(kinds, servers, whole, packages, misses):
    assert fitted.toml(whole) == TABLE.read_text()
    assert fitted.page(kinds, servers, packages, misses, whole) == fitted.PAGE.read_text()


def test_package_watts_hold_for_servers_that_the_fit_did_not_see(packages):
    assert len(packages) == 98
    assert statistics.median(row.error for row in packages) <= 0.25
    assert sum(row.is_inside for row in packages) >= 0.85 * len(packages)
    assert statistics.median(row.width for row in packages) <= 0.45


def test_watts_of_busy_threads_hold_for_machines_that_are_no_clouds(whole):
    """The model's range must hold where the fit saw no machine of the kind. By load it does not: the page says so."""
    rows = [row for row in fitted.read_unseen() if row.kind == "threads"]
    found = [(row.watts, fitted.predict_unseen(whole, row)) for row in rows]
    assert len(rows) == 42
    assert sum(abs(p.watts - watts) <= p.plus_minus for watts, p in found) >= 0.85 * len(rows)


def test_the_clock_of_a_load_brings_machines_that_lower_it_into_the_range(whole):
    """The law has no number that was chosen by these machines."""
    clocks = fitted.clocks_of_unseen(fitted.read_unseen())
    assert len(clocks) == 44
    found = [(row.watts, fitted.predict_unseen(whole, row, clock)) for row, clock in clocks.items()]
    assert sum(abs(p.watts - watts) <= p.plus_minus for watts, p in found) >= 0.85 * len(found)


def test_watts_of_cores_follow_the_clock_between_its_first_and_third_power():
    full = predict.Watts(100, 10)
    assert full.at_clock(1, 0.8).watts == pytest.approx(100)
    half = full.at_clock(0.5, 1)
    assert half.least == pytest.approx(90 * 0.5**3)
    assert half.watts + half.plus_minus == pytest.approx(110 * 0.5)


@pytest.mark.parametrize(("load", "most"), [(10, 0.15), (20, 0.15), (30, 0.2), (50, 0.35), (100, 0.35)])
def test_package_watts_hold_at_each_load(packages, load, most):
    """The curve must be right, not only its end. At loads with two kinds of servers the error is that of their kind."""
    rows = [row for row in packages if row.load == load and row.workload == "CPUStress"]
    assert statistics.median(row.error for row in rows) <= most
    assert sum(row.is_inside for row in rows) >= len(rows) - 1


def test_the_range_of_packages_is_narrower_where_servers_differ_less(packages):
    width = {
        row.load: row.width for row in packages if row.workload == "CPUStress" and row.server is packages[0].server
    }
    assert width[10] < width[50] < width[100] < width[0]


@pytest.mark.parametrize("load", [0, 10, 50, 100])
def test_wall_watts_hold_at_each_load(misses, load):
    rows, spreads = [m for m in misses if m.load == load], fitted.wall_spreads(misses)
    inside, errors = 0, []
    for miss in rows:
        printed, true = predict.interval(1, float(spreads[miss.generation][load // 10])), math.exp(miss.error)
        inside += abs(printed.watts - true) <= printed.plus_minus
        errors.append(abs(printed.watts - true) / true)
    assert statistics.median(errors) <= 0.25
    assert inside >= 0.85 * len(rows)


def test_terms_are_found_again_in_a_curve_made_of_them():
    terms = [0.2, 0.6, 0.15]
    shares = [0.1, *fitted.curve_of(terms)]
    assert fitted.fit_terms(fitted.np.array(shares)) == pytest.approx(terms, rel=1e-6)


def test_a_single_busy_thread_wakes_the_package(of_cpus):
    packages = of_cpus.packages["turbo"]
    idle, one, two = (packages.share(100 * n / 96, 48, 96)[0] for n in (0, 1, 2))
    assert one - idle > 5 * (two - one) > 0


@pytest.fixture(scope="module")
def judged(of_cpus):
    return fit_classes.leave_one_out(of_cpus, fit_classes.read_readings())


def test_machines_that_the_classes_did_not_see_are_predicted(judged):
    error, inside, width = fit_classes.quality(judged)
    assert error <= 0.25
    assert inside >= 0.9
    assert width <= 0.75
    assert {j.machine_class for j in judged} == {*fit_classes.TITLES, "server"}


def test_the_classes_of_the_table_are_those_of_the_readings(of_cpus):
    core_w, by_class = fit_classes.fit_classes(fit_classes.read_readings())
    assert of_cpus.core_w == pytest.approx(core_w, rel=1e-3)
    for name, fresh in by_class.items():
        kept = of_cpus.classes[name]
        assert (kept.title, kept.machines) == (fresh.title, fresh.machines)
        assert kept.wall_idle == pytest.approx(fresh.wall_idle, rel=1e-3)
        assert kept.full == pytest.approx(fresh.full, rel=1e-3)


def test_the_readings_behind_a_desktop_are_counted(machines, of_cpus):
    words = f"desktop, readings of {of_cpus.classes['desktop'].machines} machines"
    for arguments in (("predict", "--cpu", "AMD Ryzen 7 5800X", "--load", "50"), ("show", "amd-zen3")):
        assert words in " ".join(machines(*arguments).stdout.split())


@pytest.mark.parametrize(
    ("cpu", "wanted"),
    [
        ("Intel(R) Core(TM) i7-7600U CPU @ 2.80GHz", "notebook"),
        ("12th Gen Intel(R) Core(TM) i7-1260P", "notebook"),
        ("13th Gen Intel(R) Core(TM) i9-13900HX", "notebook"),
        ("Intel(R) Core(TM) Ultra 7 265H", "notebook"),
        ("Intel(R) Core(TM) Ultra 5 299V", "notebook"),
        ("AMD Ryzen 7 7840HS w/ Radeon 780M Graphics", "notebook"),
        ("AMD Ryzen AI 5 340 w/ Radeon 840M", "notebook"),
        ("AMD Ryzen AI 9 HX 999", "notebook"),
        ("Intel(R) Core(TM) i5-7400T CPU @ 2.40GHz", "desktop"),
        ("Intel(R) Core(TM) Ultra 7 265K", "desktop"),
        ("AMD Ryzen 7 5800X3D 8-Core Processor", "desktop"),
        ("Intel(R) Pentium(R) Gold G6400 CPU @ 4.00GHz", "desktop"),
        ("Intel(R) N100", "small"),
        ("Intel(R) Celeron(R) J4125 CPU @ 2.00GHz", "small"),
        ("AMD Ryzen Threadripper PRO 5995WX 64-Cores", "workstation"),
        ("Intel(R) Xeon(R) w9-3495X", "workstation"),
        ("Intel(R) Xeon(R) Silver 4114 CPU @ 2.20GHz", "server"),
        ("AMD EPYC 9999 of next year", "server"),
        ("Raspberry Pi 5 Model B Rev 1.0", "board"),
        ("Cortex-A76", "board"),
        ("Rockchip RK3588S", "board"),
        ("StarFive JH7110", "risc-v"),
    ],
)
def test_a_name_tells_the_class_of_the_machine(of_cpus, cpu, wanted):
    assert table.find(of_cpus, cpu, None, None).machine == wanted


def test_an_arm_board_is_found_by_the_part_of_its_core(of_cpus):
    found = table.find(of_cpus, "", 8, 0xD0B)
    assert (found.named.name, found.machine) == ("Cortex-A76", "board")


def test_the_table_of_names_has_each_processor_once():
    rows = list(csv.DictReader(fit_classes.NAMES.open()))
    assert len(rows) >= 1500
    assert len({row["name"].casefold() for row in rows}) == len(rows)
    assert all(row["source"] and (row["tdp_w"] or row["parts"]) for row in rows)


def test_a_name_without_any_mark_never_has_the_watts_of_a_server(of_cpus):
    machine = Machine("a CPU of next year", None, None, None, 1, 8, 16, None)
    answer = predict.predict(of_cpus, machine, 100)
    known = predict.predict(of_cpus, replace(machine, cpu="AMD Ryzen 7 5800X"), 100)
    assert answer.machine_class == "any"
    assert answer.wall.watts < 150
    assert answer.wall.plus_minus / answer.wall.watts > known.wall.plus_minus / known.wall.watts
    assert predict.predict(of_cpus, replace(machine, cores=64), 100).machine_class == "server"


def test_the_shortest_range_holds_95_percent(of_cpus):
    for spread in (0.1, 0.3, 0.7, 1.2):
        found = predict.shortest(10, spread)
        ends = [math.log(max(end, 1e-300) / 10) / spread for end in (found.least, found.watts + found.plus_minus)]
        held = [statistics.NormalDist().cdf(end) for end in ends]
        assert held[1] - held[0] == pytest.approx(0.95, abs=1e-6)
        assert 2 * found.plus_minus < 10 * (math.exp(1.96 * spread) - math.exp(-1.96 * spread))


def test_a_processor_without_graphics_is_as_that_with(of_cpus):
    for name in ("13th Gen Intel(R) Core(TM) i9-13900KF", "Intel(R) Core(TM) Ultra 7 265KF"):
        assert table.find(of_cpus, name, None, None).processor.name == name.split("Core(TM) ")[1].rstrip("F")


def test_the_second_thread_of_a_core_adds_less_than_the_first(of_cpus):
    for packages in of_cpus.packages.values():
        assert packages.second[0] < 0.5 * packages.core[0]


def test_older_modules_draw_more_for_each_gigabyte(of_cpus):
    factors = [of_cpus.memory.modules[ddr].dram_factor[0] for ddr in (2, 3, 4)]
    assert factors == sorted(factors, reverse=True)
    assert of_cpus.memory.modules[4].dram_factor == (1, 0)


def test_a_server_left_out_changes_its_own_prediction(whole, measured, packages):
    """The errors would be too small if the fit saw the server that it predicts."""
    left_out = next(row for row in packages if row.server is measured[1] and row.load == 100)
    assert predict.predict(whole, measured[1].cpu, 100).package.watts > left_out.predicted.watts * 1.01


def test_wall_watts_hold_for_servers_that_the_fit_did_not_see(servers, misses):
    assert {m.generation for m in misses} == {s.generation for s in servers}
    inside, errors, spreads = 0, [], fitted.wall_spreads(misses)
    for miss in misses:
        spread = spreads[miss.generation][miss.load // 10]
        printed, true = predict.interval(1, float(spread)), math.exp(miss.error)
        inside += abs(printed.watts - true) <= printed.plus_minus
        errors.append(abs(printed.watts - true) / true)
    assert statistics.median(errors) <= 0.25
    assert inside >= 0.85 * len(misses)


@pytest.mark.parametrize(
    ("cpu", "numbers", "name"),
    [
        ("Intel(R) Xeon(R) CPU E5-2650 0 @ 2.00GHz", (6, 45, 7), "E5-2650"),
        ("Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz", (6, 62, 4), "E5-2650 v2"),
        ("Intel(R) Xeon(R) Platinum 8480+", (6, 143, 8), "8480+"),
        ("Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz", (6, 85, 7), "8275CL"),
        ("AMD EPYC 7702P 64-Core Processor", (23, 49, 0), "EPYC 7702P"),
        ("AMD EPYC 7702 64-Core Processor", (None, None, None), "EPYC 7702"),
        ("AMD EPYC", (25, 17, 1), None),
        ("AMD EPYC 7543P 32-Core Processor", (25, 1, 1), "EPYC 7543"),
        ("amd epyc 7763", (None, None, None), "EPYC 7763"),
        ("Intel Xeon E5-2690v4", (None, None, None), "E5-2690 v4"),
        ("AMD Ryzen 5 1600 Six-Core Processor", (23, 1, 1), "Ryzen 5 1600"),
        ("AMD Ryzen Threadripper 3970X 32-Core Processor", (23, 49, 0), "Threadripper 3970X"),
        ("Intel(R) Xeon(R) W-3275 CPU @ 2.50GHz", (6, 85, None), "W-3275"),
    ],
)
def test_a_processor_is_found_by_its_whole_name(of_cpus, cpu, numbers, name):
    found = table.find(of_cpus, cpu, *numbers)
    assert found
    assert (found.processor.name if found.processor else None) == name


def test_one_model_is_told_apart_by_its_stepping(of_cpus):
    names = [table.find(of_cpus, "Intel Xeon", 6, 85, stepping).generation.name for stepping in (4, 7, 11)]
    assert names == ["intel-skylake-sp", "intel-cascadelake-sp", "intel-cooperlake-sp"]


@pytest.mark.parametrize(
    ("cpu", "numbers", "name"),
    [
        ("Intel Xeon Processor (Cascadelake)", (6, 85), "intel-cascadelake-sp"),
        ("Intel Xeon Processor (Skylake, IBRS)", (6, 85), "intel-skylake-sp"),
        ("Intel Xeon Processor (Icelake)", (6, 134), "intel-icelake-sp"),
        ("AMD EPYC-Milan Processor", (None, None), "amd-epyc-milan"),
        ("AMD Ryzen 5 1500", (23, 1), "amd-zen"),
        ("AMD EPYC Processor", (23, 1), "amd-epyc-naples"),
        ("Neoverse-N1", (8, 0xD0C), "ampere-altra"),
        ("a CPU of next year", (25, 17), "amd-epyc-genoa"),
    ],
)
def test_a_generation_is_found_without_its_processor(of_cpus, cpu, numbers, name):
    assert table.find(of_cpus, cpu, *numbers).generation.name == name


def test_a_cpu_that_nothing_tells_is_unknown(of_cpus):
    assert table.find(of_cpus, "a CPU of next year", 99, 1) is None
    assert predict.predict(of_cpus, Machine("?", 99, 1, None, 1, 8, 16, None), 50).generation.name == "unknown"


def test_an_unknown_tdp_and_memory_widen_the_range(of_cpus):
    known = predict.predict(of_cpus, Machine("AMD EPYC 9654", 25, 17, 1, 2, 192, 384, 768), 50)
    guest = predict.predict(of_cpus, Machine("AMD EPYC", 25, 17, 1, 2, 192, 384, None), 50)
    for a, b in ((known.package, guest.package), (known.dram, guest.dram), (known.wall, guest.wall)):
        assert a.plus_minus / a.watts < b.plus_minus / b.watts


def test_each_processor_has_a_verified_tdp_or_a_wider_range(kinds, of_cpus):
    rows = list(fitted._rows("processors.csv"))
    assert {row["tag"] for row in rows} == {"verified", "assumed"}
    assert all(row["source"] for row in rows if row["tag"] == "verified")
    assert sum(row["tag"] == "verified" for row in rows) > 0.95 * len(rows)
    assumed = {row["name"] for row in rows if row["tag"] == "assumed"}
    shown = {p.name: p for g in of_cpus.generations if "assumed" not in g.basis for p in g.processors}
    assert all((p.tdp_spread > 0) is (name in assumed) for name, p in shown.items())
    largest = max(abs(math.log(float(r["tdp_w"]) / float(r["tdp_before_w"]))) for r in rows if r["tdp_before_w"])
    assert fitted.assumed_tdp_spread() * fitted.Z95 == pytest.approx(largest)
    of_a_cloud = predict.predict(of_cpus, Machine("AMD EPYC 9R14", 25, 17, 1, 1, 96, 192, 384), 50)
    sold = predict.predict(of_cpus, Machine("AMD EPYC 9654", 25, 17, 1, 1, 96, 192, 384), 50)
    assert (of_a_cloud.tdp_verified, sold.tdp_verified) == (False, True)
    assert of_a_cloud.package.plus_minus / of_a_cloud.package.watts > sold.package.plus_minus / sold.package.watts


def test_no_server_with_an_assumed_tdp_is_in_the_fit(kinds, servers):
    verified = {row["name"] for row in fitted._rows("processors.csv") if row["tag"] == "verified"}
    assert {s.processor for s in servers} <= verified


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        ({"intel": [110.0], "boavizta": [105.0]}, (110.0, "intel", True)),
        ({"amd": [35.0, 54.0]}, (45.0, "amd", True)),
        ({"cpu-world": [240.0], "boavizta": [240.0]}, (240.0, "cpu-world", True)),
        ({"boavizta": [240.0]}, (240.0, "boavizta", False)),
        ({"boavizta": [45.0], "open-db": [240.0]}, (45.0, "boavizta", True)),
        ({}, (45.0, "", False)),
    ],
)
def test_the_maker_counts_more_than_databases(found, kept):
    assert checked.judge(45, found) == kept


@pytest.mark.parametrize(
    ("name", "key", "brand"),
    [
        ("Intel® Xeon® Processor E5-2650 v2", "e52650v2", "xeon"),
        ("Intel® Xeon® Gold 6140 Processor", "6140", "xeon-metal"),
        ("AMD Ryzen™ 9 7950X", "97950x", "ryzen"),
        ("Intel Xeon E5 1650 V3 OEM/Tray 3.5 GHz 6-Core LGA2011-3", "e51650v3", "xeon"),
        ("Intel® Pentium® Processor D1519", "pentiumd1519", None),
    ],
)
def test_names_of_processors_are_compared_without_other_words(name, key, brand):
    assert (checked.key_of(name), checked.brand_of(name)) == (key, brand)


def test_medians_grow_with_load(of_cpus):
    packages = [[p.share(load, 48, 96)[0] for load in table.LOADS] for p in of_cpus.packages.values()]
    for curve in [*packages, *(g.wall.median for g in of_cpus.generations)]:
        assert all(before < after for before, after in itertools.pairwise(curve))


def test_predict_prints_one_json_document(machines):
    done = machines("predict", *GENOA, "--sockets", "2", "--cores", "192", "--threads", "384", "--load", "50", "--json")
    answer = json.loads(done.stdout)
    for part in ("package", "dram", "wall"):
        assert 0 < answer[part]["plus_minus"] < answer[part]["watts"] < 2000
    assert (answer["profile"], answer["provenance"], answer["tdp_w"]) == ("amd-epyc-genoa", "modelled", 360)
    assert (answer["servers"], answer["servers_by_rapl"]) == (17, 7)


@pytest.mark.parametrize(
    ("cpu", "name", "words"),
    [
        ("AMD EPYC 9654", "amd-epyc-genoa", "17 servers at the wall, 7 by RAPL"),
        ("NVIDIA Grace", "nvidia-grace", "assumed to be as ampere-altra, 6 servers at the wall, 7 by RAPL"),
    ],
)
def test_servers_are_counted_alike_and_others_are_named(machines, of_cpus, cpu, name, words):
    assert next(g for g in of_cpus.generations if g.name == name).is_assumed is words.startswith("assumed")
    for text in (machines("predict", "--cpu", cpu, "--load", "50").stdout, machines("show", name).stdout):
        assert words in " ".join(text.split())
    rows = {row["name"]: row for row in json.loads(machines("list", "--json").stdout)["generations"]}
    shown, answer = (
        json.loads(machines(*arguments, "--json").stdout)
        for arguments in (("show", name), ("predict", "--cpu", cpu, "--load", "50"))
    )
    for found in (rows[name], shown, answer):
        assert f"{found['servers']} server" in words
        assert found["servers_by_rapl"] == 7


def test_sockets_follow_from_the_cores_of_a_known_processor(machines):
    of = ("predict", "--cpu", "AMD EPYC 7763 64-Core Processor", "--load", "50", "--json")
    two, given = (json.loads(machines(*of, *more).stdout) for more in (("--cores", "128"), ("--sockets", "2")))
    assert (two["sockets"], two["threads"]) == (2, 256)
    assert two["package"] == given["package"]


def test_threads_of_a_processor_with_two_kinds_of_cores_are_its_own(machines):
    answer = json.loads(
        machines("predict", "--cpu", "12th Gen Intel(R) Core(TM) i5-12600K", "--load", "5", "--json").stdout
    )
    assert (answer["cores"], answer["threads"]) == (10, 16)


def test_numbers_of_cpuid_may_be_hexadecimal(machines):
    done = machines("predict", "--cpu", "Neoverse-N1", "--family", "8", "--model", "0xd0c", "--load", "5", "--json")
    assert json.loads(done.stdout)["profile"] == "ampere-altra"


@pytest.mark.parametrize("memory", [None, 16, 1024, 4096])
def test_some_machine_fits_all_three_ranges(of_cpus, memory):
    for g in of_cpus.generations:
        found = table.Found(g, table.Processor("", g.tdp_w, g.cores, g.threads))
        machine = Machine("", None, None, None, 2, 2 * g.cores, 2 * g.threads, memory)
        for load in table.LOADS:
            answer = predict.of_found(of_cpus, found, machine, load)
            assert answer.package.least + answer.dram.least <= (answer.wall.watts + answer.wall.plus_minus) * (1 + 1e-9)


@pytest.mark.parametrize(("memory", "exceeds"), [("64", False), ("4096", True)])
def test_predict_says_where_the_parts_are_above_the_wall(machines, memory, exceeds):
    options = ("predict", "--cpu", "Intel Xeon Gold 6348", "--load", "100", "--memory", memory)
    answer = json.loads(machines(*options, "--json").stdout)
    parts = answer["package"]["watts"] + answer["dram"]["watts"]
    assert answer["parts"]["watts"] == pytest.approx(parts)
    assert answer["parts_exceed_wall"] is (parts > answer["wall"]["watts"]) is exceeds
    assert ("more than the wall socket" in " ".join(machines(*options).stdout.split())) is exceeds


def test_list_and_show_name_generations_and_profiles(machines):
    listed = machines("list")
    assert "amd-epyc-genoa" in listed.stdout
    assert "mine" in listed.stdout
    assert "EPYC 9654 (360 W)" in machines("show", "amd-epyc-genoa").stdout
    idle = next(row for row in json.loads(machines("show", "amd-epyc-genoa", "--json").stdout)["loads"])["package"]
    median = math.sqrt(idle["watts"] ** 2 - idle["plus_minus"] ** 2)
    words = f"the middle ({idle['watts']:.0f} W) is above the median ({median:.0f} W)"
    assert words in " ".join(machines("show", "amd-epyc-genoa").stdout.split())
    assert "\n\nA socket of typical size" in machines("show", "amd-epyc-genoa").stdout
    assert machines("show", "mine").stdout == "name: mine\ntitle: a machine\n"
    assert json.loads(machines("list", "--json").stdout)["profiles"] == ["mine"]
    assert len(json.loads(machines("show", "amd-epyc-genoa", "--json").stdout)["loads"]) == 11


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("predict", *GENOA, "--load", "101"), "--load 101.0: allowed are 0 to 100 percent"),
        (("predict", *GENOA, "--load", "nan"), "--load nan"),
        (("predict", "--cpu", "x", "--model", "big", "--load", "5"), "such as 17 or 0xd0c"),
        (("predict", "--load", "5"), "--cpu"),
        (("predict", *GENOA), "--load"),
        (("predict", *GENOA, "--load", "5", "--memory", "-1"), "--memory -1.0: allowed are numbers above 0"),
        (("predict", *GENOA, "--load", "5", "--clock", "5"), "--clock 5: allowed are 10 to 100 percent"),
        (("predict", *GENOA, "--load", "5", "--sockets", "0"), "--sockets 0: allowed are numbers above 0"),
        (("predict", *GENOA, "--load", "5", "--cores", "8", "--threads", "4"), "a core a thread"),
        (("show", "no-such"), "`wattle machines list` has the names"),
    ],
)
def test_a_wrong_argument_is_one_line(machines, arguments, words):
    done = machines(*arguments)
    assert done.returncode != 0
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("text", ["", "[memory]\n", "cpu = 3\n", "not toml"])
def test_a_damaged_table_is_refused(tmp_path, text):
    (tmp_path / "cpus.toml").write_text(text)
    with pytest.raises(WattleError, match="is not a table of CPUs"):
        table.read(tmp_path / "cpus.toml")
