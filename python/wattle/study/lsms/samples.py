"""The columns of this study's samples, which are those of every study of waiting and clocks."""

from wattle.study.sweep.samples import COMPARED as COMPARED
