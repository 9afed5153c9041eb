"""The wall meter: joules by way of a management controller's watts, and what it does where there is none to be had."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HOME, clean_environment, oshrun
from redfish import CHASSIS, METRICS, POWER, WATTS, Controller, make_certificate, modern, old, serving

SECRET = "reader:hunter2-of-the-wall"
REGION = re.compile(r"node\b.*?([\d.]+) J.*?measured.*redfish (\S+) (\w+)", re.DOTALL)


def look(controller: Controller, **settings: str) -> dict:
    """The meter in the output of wattle-info."""
    done = subprocess.run(
        [HOME / "bin/wattle-info"],
        env={**clean_environment(), "WATTLE_REDFISH": controller.url, **settings},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert "hunter2" not in done.stdout + done.stderr
    return next(meter for meter in json.loads(done.stdout)["meters"] if meter["name"] == "redfish")


def login_file(folder: Path, mode: int = 0o600) -> str:
    path = folder / "login"
    path.write_text(SECRET + "\n")
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize(("pages", "path"), [(modern(), METRICS), (old(), POWER)], ids=["metrics", "power"])
def test_the_first_chassis_watts_are_found_from_the_controllers_address(pages: dict, path: str) -> None:
    with serving(Controller(pages)) as controller:
        found = look(controller)
        assert found["usable"] and [d["name"] for d in found["domains"]] == ["node"], found
        assert found["domains"][0]["scope"] == "node"
        assert controller.asked[:3] == [CHASSIS, f"{CHASSIS}/1", path]


def test_a_sensors_own_address_is_used_unchanged() -> None:
    pages = {
        "/redfish/v1/Sensors/7": {"Reading": WATTS, "ReadingUnits": "W"},
        "/t": {"Reading": 30, "ReadingUnits": "Cel"},
    }
    with serving(Controller(pages)) as controller:
        assert look(controller, WATTLE_REDFISH=f"{controller.url}/redfish/v1/Sensors/7")["usable"]
        degrees = look(controller, WATTLE_REDFISH=f"{controller.url}/t")
        assert not degrees["usable"] and "has no watts" in degrees["why"]


@pytest.mark.parametrize(
    "page",
    [
        {"PowerControl": [{"PowerConsumedWatts": 1300, "PowerCapacityWatts": 800}]},
        {"PowerWatts": {"Reading": 1300, "ReadingRangeMax": 800}},
        {"Reading": 1300, "ReadingUnits": "W", "ReadingRangeMax": 800},
        {"PowerWatts": {"Reading": 4294967.295}},
    ],
)
def test_watts_beyond_the_supplys_capacity_are_refused(page: dict) -> None:
    with serving(Controller({"/p": page})) as controller:
        found = look(controller, WATTLE_REDFISH=f"{controller.url}/p")
        assert not found["usable"] and "beyond the watts that it can draw" in found["why"], found


def test_joules_are_watts_times_seconds_and_say_where_they_are_from() -> None:
    with serving(Controller(modern())) as controller:
        done = subprocess.run(
            [HOME / "bin/examples/energy_region"],
            env={**clean_environment(), "WATTLE_REDFISH": controller.url, "WATTLE_METER": "redfish"},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
    joules, host, name = REGION.search(done.stdout).groups()
    assert float(joules) > 0, done.stdout
    assert f"http://{host}" == controller.url and name == "PowerWatts"


def test_a_login_reaches_the_controller_and_no_output(tmp_path: Path) -> None:
    with serving(Controller(modern(), login=SECRET)) as controller:
        refused = look(controller)
        assert not refused["usable"] and "401" in refused["why"] and "WATTLE_REDFISH_LOGIN" in refused["grant"]
        assert look(controller, WATTLE_REDFISH_LOGIN=login_file(tmp_path))["usable"]
        assert look(controller, REDFISH_LOGIN=SECRET)["usable"]


def test_a_login_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    with serving(Controller(modern(), login=SECRET)) as controller:
        found = look(controller, WATTLE_REDFISH_LOGIN=login_file(tmp_path, 0o644))
        assert not found["usable"] and "chmod 600" in found["why"]
        assert controller.asked == []


def test_a_login_in_the_address_is_refused() -> None:
    with serving(Controller(modern())) as controller:
        found = look(controller, WATTLE_REDFISH=controller.url.replace("://", "://reader:x@"))
        assert not found["usable"] and "must not contain a login" in found["why"]
        assert controller.asked == []


def test_a_login_is_not_sent_in_clear_over_a_network() -> None:
    found = look(Controller({}, url="http://192.0.2.1"), REDFISH_LOGIN=SECRET)
    assert not found["usable"] and "use https" in found["why"]


def test_https_is_checked(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    with serving(Controller(modern(), login=SECRET), certificate) as controller:
        stranger = look(controller, REDFISH_LOGIN=SECRET)
        assert not stranger["usable"] and "certificate" in stranger["why"].lower()
        assert controller.sent == []
        known = look(controller, REDFISH_LOGIN=SECRET, WATTLE_REDFISH_CA=str(certificate))
        assert known["usable"], known


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ({}, "status 404"),
        ({CHASSIS: {"Members": []}}, "has no chassis"),
        ({CHASSIS: {"Members": [{"@odata.id": "/c"}]}, "/c": {"Id": "1"}}, "has no link to a page about power"),
        ({CHASSIS: {"Members": [{"@odata.id": "/c"}]}, "/c": {"Power": {"@odata.id": "/p"}}, "/p": {}}, "has no watts"),
        (modern() | {METRICS: {"PowerWatts": {"Reading": -1}}, POWER: {}}, "has no watts"),
        ({CHASSIS: b"<html>"}, "is no JSON"),
        ({CHASSIS: b'{"Members": [' + b"1," * 200000 + b"1]}"}, ""),
        ({CHASSIS: {"Members": [{"@odata.id": "http://elsewhere/"}]}}, "has no chassis"),
    ],
    ids=["nothing", "no-chassis", "no-power", "no-watts", "below-0", "no-json", "too-long", "elsewhere"],
)
def test_a_controller_without_watts_is_distinguished(pages: dict, why: str) -> None:
    with serving(Controller(pages)) as controller:
        found = look(controller)
        assert not found["usable"] and found["why"] and why in found["why"], found


def test_all_pages_of_a_controller_that_trickles_share_one_deadline() -> None:
    """Each page comes within what one may take, and all of them take longer than all may."""
    pages = modern() | {METRICS: {"Id": "no watts"}}
    with serving(Controller(pages, page_s=1.8)) as controller:
        found = look(controller)
        assert not found["usable"], found


def test_a_controller_that_is_away_costs_a_run_nothing_but_its_joules() -> None:
    with serving(Controller(modern())) as controller:
        gone = controller.url
    done = subprocess.run(
        [HOME / "bin/examples/energy_region"],
        env={**clean_environment(), "WATTLE_REDFISH": gone, "WATTLE_METER": "redfish"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 and " measured" not in done.stdout, done


def test_a_job_searches_for_the_watts_once() -> None:
    """Not in the launcher as well: where a controller is silent each look costs seconds."""
    with serving(Controller(modern())) as controller:
        settings = {"WATTLE_REDFISH": controller.url, "WATTLE_METER": "redfish"}
        done = oshrun(2, HOME / "bin/shmem_life", env=settings)
        assert done.code == 0, done
        assert controller.asked.count(CHASSIS) == 1, controller.asked


OPEN_TWICE = """
import ctypes, sys
energy = ctypes.CDLL(sys.argv[1])
energy.wattle_energy_open.restype = ctypes.c_void_p
for _ in range(2):
    assert energy.wattle_energy_open(None)
"""


@pytest.mark.soak  # the first look takes five seconds
def test_a_process_asks_a_silent_controller_once() -> None:
    with serving(Controller(modern(), answers=0)) as controller:
        subprocess.run(
            [sys.executable, "-c", OPEN_TWICE, HOME / "lib/libwattle.so"],
            env={**clean_environment(), "WATTLE_REDFISH": controller.url, "WATTLE_METER": "redfish"},
            timeout=300,
            check=True,
        )
        assert controller.asked == [CHASSIS]


@pytest.mark.soak  # it takes seconds, and none of them may be lost to other work
def test_a_controller_that_answers_no_more_leaves_a_gap() -> None:
    with serving(Controller(modern(), answers=4)) as controller:  # three to find it, one a second later
        done = subprocess.run(
            [HOME / "bin/asleep_region", "4.8"],
            env={**clean_environment(), "WATTLE_REDFISH": controller.url, "WATTLE_METER": "redfish"},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
    covered, interval = map(
        float, re.search(r"^node measured ([\d.]+) of ([\d.]+)$", done.stdout, re.MULTILINE).groups()
    )
    assert covered < interval - 0.3, done.stdout


def test_the_hosts_name_stands_in_for_its_place() -> None:
    with serving(Controller({f"/{os.uname().nodename.split('.')[0]}": {"PowerWatts": {"Reading": 1}}})) as controller:
        assert look(controller, WATTLE_REDFISH=f"{controller.url}/%h")["usable"]
