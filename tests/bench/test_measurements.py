"""Each measurement still works; what it finds with tiny sizes means nothing."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.bench.figures import Figure, percentile, table
from tests.bench.fuzz import fuzz
from tests.bench.run import NAMES
from tests.bench.soak import soak


@pytest.mark.parametrize("name", NAMES)
def test_a_measurement_gives_figures(name):
    figures = import_module(f"tests.bench.{name}").measure(quick=True)
    assert figures and all(one.values for one in figures)
    assert table(figures).count("\n") == len(figures)


def test_a_ratio_is_of_pairs_and_noise_is_that_of_the_ratios():
    figure = Figure("f", "ms", (2.0, 30.0, 4.0), (1.0, 10.0, 2.0))
    assert (figure.median, figure.ratio) == (4.0, 2.0)
    assert 0 < figure.noise < 0.5
    assert Figure("f", "ms", (1.0,)).noise == 0


def test_a_percentile_is_one_of_the_values():
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0, 2.0], 0.95) == 2.0


def test_bent_frames_neither_crash_nor_hang_a_connection():
    report = fuzz(20_000, seed=5)
    assert (report.frames, report.crashes, report.hangs) == (20_000, [], 0)
    assert report.counts["calls: answered"] > 200 and report.counts["noise"] > 2_000
    assert report.grown < 64


def test_shaky_servers_cost_no_call_leave_nothing_behind_and_are_shown_as_they_are():
    found = soak(10 / 60, servers=6, seed=4, every=0.5, rest=3.0)
    assert found.problems == [] and found.orphans == 0
    counts = found.counts
    assert counts["calls"] == sum(counts[f"calls {how}"] for how in ("ok", "failed", "refused", "cancelled"))
    assert counts["calls ok"] > 12 and counts["turns done"] > 5
    before, after = found.calm
    assert after.descriptors <= before.descriptors + 4
    assert after.threads <= before.threads + 3
    assert after.tasks <= before.tasks + 6
