"""The page of the study of the minimum spanning tree."""

from functools import partial

from wattle.study.mst.study import STUDY
from wattle.study.versions import page

build = partial(page.build, STUDY)
