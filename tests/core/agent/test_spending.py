"""What requests took is counted in all, by turn and for summaries; a price is known or said not to be."""

from __future__ import annotations

from hel_tui.core.agent.budget import Budget
from hel_tui.core.agent.spending import MOST_TURNS, Accounts
from hel_tui.core.models.types import ModelInfo, Prices, Rate, Usage
from hel_tui.core.protocol import UsageChanged

PRICED = ModelInfo("a", "one", "http://x", prices=Prices((Rate(1.0, 0.1, 10.0, 1.25),)))
UNPRICED = ModelInfo("b", "two", "http://x")
USAGE = Usage(1_000_000, 100_000, cached_tokens=600_000, written_tokens=200_000, reasoning_tokens=50_000)
COST = 0.2 * 1.0 + 0.6 * 0.1 + 0.2 * 1.25 + 0.1 * 10.0


def test_cached_written_and_reasoning_tokens_are_counted_and_priced() -> None:
    accounts = Accounts()
    accounts.add(1, PRICED, USAGE)
    spent = accounts.told().session
    assert (spent.input_tokens, spent.cached_tokens, spent.written_tokens) == (1_000_000, 600_000, 200_000)
    assert (spent.output_tokens, spent.reasoning_tokens, spent.requests) == (100_000, 50_000, 1)
    assert spent.cost is not None and abs(spent.cost - COST) < 1e-9


def test_turns_and_summaries_are_told_apart_and_add_up() -> None:
    accounts = Accounts()
    accounts.add(1, PRICED, USAGE)
    accounts.add(1, PRICED, USAGE, summary=True)
    accounts.add(2, UNPRICED, USAGE)
    told = accounts.told()
    assert [(one.turn, one.model, one.spent.requests) for one in told.turns] == [
        (1, "a/one", 2),
        (2, "b/two", 1),
    ]
    assert (told.session.requests, told.summaries.requests) == (3, 1)
    assert told.session.input_tokens == sum(one.spent.input_tokens for one in told.turns)


def test_a_price_that_is_not_known_is_no_price_of_nothing() -> None:
    accounts = Accounts()
    accounts.add(1, UNPRICED, USAGE)
    assert (accounts.told().session.cost, accounts.told().session.unpriced) == (None, 1)
    accounts.add(2, PRICED, USAGE)
    session = accounts.told().session
    assert session.cost is not None and session.unpriced == 1


def test_a_request_whose_tokens_nobody_counted_is_counted_as_such() -> None:
    accounts = Accounts()
    accounts.add(1, PRICED, None)
    assert (accounts.told().session.uncounted, accounts.told().session.cost) == (1, None)


def test_an_estimate_stands_for_what_no_provider_counted_and_is_told_as_one() -> None:
    accounts = Accounts()
    accounts.add(1, PRICED, None, estimate=Usage(1_000_000, 100_000), cut_off=True)
    accounts.add(1, PRICED, USAGE, estimate=Usage(9, 9))
    spent = accounts.told().session
    assert (spent.requests, spent.uncounted, spent.input_tokens) == (2, 1, 2_000_000)
    assert spent.cost is not None and abs(spent.cost - 2.0 - COST) < 1e-9
    assert accounts.told().turns[0].spent == spent


def test_a_bound_on_cost_takes_the_estimate_of_what_was_cut_off_but_not_of_whole_answers() -> None:
    accounts, budget = Accounts(), Budget(3.0)
    assert budget.stop(accounts.totals, PRICED) is None
    accounts.add(1, PRICED, None, estimate=Usage(1_000_000, 100_000), cut_off=True)
    assert budget.stop(accounts.totals, PRICED) is None
    accounts.add(2, PRICED, None, estimate=Usage(1_000_000, 100_000), cut_off=True)
    stop = budget.stop(accounts.totals, PRICED)
    assert stop is not None and (stop.reason, "4.0000 dollars" in stop.sentence) == ("limit", True)
    whole, fresh = Accounts(), Budget(3.0)
    assert fresh.stop(whole.totals, PRICED) is None
    whole.add(1, PRICED, None, estimate=Usage(1, 1))
    stop = fresh.stop(whole.totals, PRICED)
    assert stop is not None and stop.reason == "failed"


def test_only_the_newest_turns_are_told_apart() -> None:
    accounts = Accounts()
    for turn in range(MOST_TURNS + 7):
        accounts.add(turn, PRICED, USAGE)
    told = accounts.told()
    assert (len(told.turns), told.turns[0].turn, told.dropped) == (MOST_TURNS, 7, 7)
    assert told.session.requests == MOST_TURNS + 7


def test_a_kept_session_is_counted_on() -> None:
    accounts = Accounts()
    accounts.add(9, PRICED, USAGE, summary=True)
    accounts.go_on(UsageChanged(0, 0, 0, 0, 500, 60, 400, 1.5, 30, 20, 1, 4, 2))
    assert accounts.told().turns == () and accounts.told().summaries.requests == 0
    accounts.add(10, UNPRICED, Usage(100, 10))
    spent = accounts.told().session
    assert (spent.requests, spent.input_tokens, spent.output_tokens, spent.cost) == (5, 600, 70, 1.5)
    assert spent.uncounted == 2
    assert (spent.cached_tokens, spent.written_tokens, spent.reasoning_tokens, spent.unpriced) == (
        400,
        30,
        20,
        2,
    )
