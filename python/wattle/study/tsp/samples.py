"""The samples of a mini-app, for `wattle compare`."""

from wattle.study.versions.samples import COMPARED as COMPARED
