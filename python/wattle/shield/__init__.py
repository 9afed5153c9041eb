"""Shields the cores of a study: its processes run on cores of their own, and others there are measured."""
