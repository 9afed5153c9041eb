"""The page of the study of the travelling salesman."""

from functools import partial

from wattle.study.tsp.study import STUDY
from wattle.study.versions import page

build = partial(page.build, STUDY)
