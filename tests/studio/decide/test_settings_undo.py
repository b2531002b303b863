"""The undo of settings that a button of the page Decide has changed."""

import pytest

from kanon.experiments.sweep import Configuration
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.release.context import ChosenThreshold, Context, replace_threshold
from kanon.studio.decide.advice_panel import take_proposal
from kanon.studio.decide.greatest_k_panel import require_found_model
from kanon.studio.decide.purpose_panel import find_unreachable, require_thresholds, set_context
from kanon.studio.decide.settings_undo import can_undo_settings, undo_settings
from kanon.studio.decide.state import DecideView
from kanon.studio.session.table_loading import open_sample, reread_table
from kanon.studio.shell.project_file import export_project, open_project
from kanon.studio.widgets.requirements import build_table_class
from support import dashboard as ui
from support.visits import known
from support.works import value_of, with_fields

DECIDE, USE, BACK = "pages/decide.py", "Add as requirements", "Back to the previous settings"
MIXED = EntropyLDiversity(l=2.0, column="disease")
MODELS = (DistinctLDiversity(2, "disease"), EntropyLDiversity(l=1.5, column="disease"))
TAKEN = {
    "purpose": require_thresholds,
    "settings": lambda work: take_proposal(work, Configuration("ncp", "s3", scope="class"), 4),
    "reverse": lambda work: require_found_model(work, MIXED, 4),
}
SETTINGS = ("algorithm", "metric", "strategy", "scope", "sensitive", "k", "models")


def chosen(work):
    return {name: value_of(work, name) for name in SETTINGS}


@pytest.fixture
def begun():
    """The hospital sample with settings of its own, for a release that needs k = 5."""
    now = with_fields(
        open_sample("hospital"), k=3, models=MODELS, algorithm="datafly", metric="total"
    )
    return set_context(now, Context(release="research"))


@pytest.mark.parametrize("part", TAKEN)
def test_what_a_button_took_is_given_back(begun, part):
    assert not can_undo_settings(begun, part) and undo_settings(begun, part) is begun
    taken = TAKEN[part](begun)
    assert chosen(taken) != chosen(begun) and can_undo_settings(taken, part)
    back = undo_settings(taken, part)
    assert chosen(back) == chosen(begun)
    assert back.message.notice == "The previous settings are back."
    assert not can_undo_settings(back, part)


@pytest.mark.parametrize("part", TAKEN)
def test_what_was_chosen_since_is_not_overwritten(begun, part):
    taken = TAKEN[part](begun)
    name = {"purpose": "models", "settings": "strategy", "reverse": "k"}[part]
    other = {"models": (), "strategy": "s5", "k": 9}[name]
    since = with_fields(taken, **{name: other})
    assert not can_undo_settings(since, part) and undo_settings(since, part) is since


def test_what_a_button_did_not_change_may_be_chosen_meanwhile(begun):
    since = with_fields(TAKEN["purpose"](begun), metric="ncp")
    back = undo_settings(since, "purpose")
    assert (back.settings.metric, back.settings.k, back.settings.models) == (
        "ncp",
        begun.settings.k,
        begun.settings.models,
    )


def test_two_presses_in_a_row_are_given_back_at_once(begun):
    first = require_found_model(begun, MIXED, 4)
    assert chosen(undo_settings(require_found_model(first, MIXED, 6), "reverse")) == chosen(begun)
    between = with_fields(first, k=7)
    again = require_found_model(between, MIXED, 6)
    assert chosen(undo_settings(again, "reverse")) == chosen(between), "by hand is not lost"


def test_the_other_way_round_waits_for_what_was_taken_later(begun):
    first = TAKEN["reverse"](begun)
    second = TAKEN["purpose"](first)
    assert can_undo_settings(second, "purpose") and not can_undo_settings(second, "reverse")
    assert chosen(undo_settings(undo_settings(second, "purpose"), "reverse")) == chosen(begun)


@pytest.mark.parametrize("part", TAKEN)
def test_a_project_or_the_table_read_again_forgets_the_way(begun, part):
    taken = TAKEN[part](begun)
    opened = open_project(taken, export_project(taken).encode())
    changed = taken.view(DecideView).taken[part].changed
    assert all(
        getattr(opened.view(kind), name) == after for (kind, name), (_, after) in changed.items()
    )
    assert not can_undo_settings(opened, part) and not can_undo_settings(reread_table(taken), part)


@pytest.mark.parametrize(
    ("name", "wanted", "said"),
    [
        ("k", 11, "No release can reach k = 11: the table has 10 records."),
        ("highest_risk", 11, "No release can reach k = 11"),
        ("l", 50, "l = 50 for 'disease' cannot be reached"),
        ("mean_risk", 11, None),
    ],
)
def test_what_no_release_reaches_is_not_required(begun, name, wanted, said):
    table = build_table_class(begun)
    assert find_unreachable(begun, table) is None
    context = replace_threshold(begun.purpose.context, name, ChosenThreshold(wanted=wanted))
    found = find_unreachable(set_context(begun, context), table)
    assert found is None if said is None else said in found


def test_k_of_persons_is_at_most_their_number():
    work = set_context(known(), Context(release="research"))
    context = replace_threshold(work.purpose.context, "k", ChosenThreshold(wanted=7))
    assert find_unreachable(work, None) is None
    found = find_unreachable(set_context(work, context), None)
    assert found == "No release can reach k = 7: the table has 6 persons."


def test_use_as_models_has_a_way_back_and_says_what_is_out_of_reach(start):
    at = start(page=DECIDE)
    assert ui.button(at, USE).disabled, "11 of 10 records"
    assert "No release can reach k = 11: the table has 10 records." in ui.captions(at)
    ui.enter(at, at.button_group(key="decide-release"), "research")
    before = chosen(ui.work(at))
    ui.press(at, USE)
    assert ui.work(at).settings.k == 5 and len(ui.work(at).settings.models) == 2
    ui.press(at, BACK)
    assert chosen(ui.work(at)) == before and BACK not in ui.button_labels(at)
    ui.press(at, USE)
    ui.choose(at, "frame-sample", "voters")
    assert not ui.work(at).view(DecideView).taken, "another table has no way back"
