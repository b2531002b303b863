"""What the proportional representation tells: by hand, and person by person."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from kanon.errors import PlanError
from kanon.learning.disclosure import (
    CARDS,
    Guess,
    ShareDisclosure,
    count_revealed_cells,
    measure_share_disclosure,
)
from kanon.measures.linkage import measure_linkage
from kanon.recoding import Recoding
from kanon.run import prepare, run
from kanon.schema import Role
from kanon.sensitive import Sensitive
from kanon.studio.session.hierarchy_choices import set_role
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from oracles.plain_linkage import attacks, could_be, rows_of
from support.plans import make_plan
from support.random_tables import examples
from support.works import with_fields


# The worked table of Viton et al. 2021, with a diagnosis added.
@pytest.fixture(scope="module")
def animals():
    """M cat, F lion, F dog → [*, mammals]; M dolphin, M whale, F whale → [*, cetaceans].

    Diagnoses: cold, cold, gout; gout, gout, flu.
    """
    work = open_sample("animals-v21")
    source = prepare(build_plan(work), work.table.records).source
    gender, race = source.classes.hierarchies
    ill = ["cold", "cold", "gout", "gout", "gout", "flu"]
    values = ["cold", "flu", "gout"]
    sensitive = Sensitive.from_records(
        "ill", values, False, source.row_class, [values.index(x) for x in ill], 6
    )
    classes = replace(source.classes, sensitive=(sensitive,))
    targets = np.zeros((6, 2), dtype=np.int64)
    for record, row in enumerate(source.row_class.tolist()):
        raised = "mammals" if record < 3 else "cetaceans"
        targets[row] = gender.node_of["*"], race.node_of[raised]
    return source, classes, targets


def test_the_worked_table_by_hand(animals):
    """Three land animals match their class alone; a whale could be in both, until it has a share.

    In the release: the cat, the lion and the dog are looked for among 2 cold, 1 gout (2/3 sure, the
    cat and the lion guessed right); a dolphin and two whales among all 6: 2 cold, 3 gout, 1 flu
    (1/2 sure; the dolphin and one whale right). With the shares those three are looked for among
    gout, gout, flu (2/3 sure, the same two right).
    """
    _, classes, targets = animals
    found = measure_share_disclosure(Recoding.from_targets(classes, targets), "ill")
    assert (found.cells, found.exact, found.exact_share) == (12, 0, 0)
    assert found.release == Guess(pytest.approx(7 / 12), 0, pytest.approx(4 / 6))
    assert found.shares == Guess(pytest.approx(2 / 3), 0, pytest.approx(4 / 6))


def test_a_column_that_is_not_sensitive_is_refused(animals):
    _, classes, targets = animals
    with pytest.raises(PlanError, match="'race' is not sensitive"):
        measure_share_disclosure(Recoding.from_targets(classes, targets), "race")


def test_the_cards():
    assert list(CARDS) == ["exact_share", "alone_share", "sureness", "certain", "right"]
    for name, card in CARDS.items():
        assert hasattr(Guess(0, 0, 0), name) or hasattr(ShareDisclosure(0, 0, 0, None, None), name)
        assert card.arrow == "↓ better" and card.lowest and card.highest


# Any table, person by person
def plain_guess(persons, secrets, of_person) -> Guess:
    """Sureness, certainty and hits from the matching rows of each person."""
    sure, certain, right = Fraction(0), 0, Fraction(0)
    for person, secret in enumerate(secrets):
        tally = Counter(of_person(person))
        if not tally:
            continue
        most = max(tally.values())
        best = [value for value, n in tally.items() if n == most]
        sure += Fraction(most, sum(tally.values()))
        certain += len(tally) == 1
        right += Fraction(secret in best, len(best))
    n = len(persons)
    return Guess(
        *(pytest.approx(float(x / n), rel=1e-12) for x in (sure, Fraction(certain), right))
    )


@examples(120)
@given(attacks())
def test_disclosure_equals_looking_through_the_rows(drawn):
    problem, secrets, of_row, recoding, _ = drawn
    found = measure_share_disclosure(recoding, "secret")
    left = [p for p, c in enumerate(of_row) if recoding.assigned[c] >= 0]
    table = rows_of(problem, secrets, of_row, recoding)
    table.index = left
    members: dict[int, list[tuple[str, ...]]] = {}
    for p in left:
        members.setdefault(int(recoding.assigned[of_row[p]]), []).append(problem.rows[p])
    exact = sum(
        table.loc[p].iloc[j] != problem.rows[p][j]
        and len({row[j] for row in members[int(recoding.assigned[of_row[p]])]}) == 1
        for p in left
        for j in range(len(problem.trees))
    )
    assert found.exact == exact == count_revealed_cells(recoding)[0]
    assert found.alone == sum(
        table.loc[p].iloc[j] != problem.rows[p][j]
        and [row[j] for row in members[int(recoding.assigned[of_row[p]])]].count(problem.rows[p][j])
        == 1
        for p in left
        for j in range(len(problem.trees))
    )
    assert found.cells == len(left) * len(problem.trees)

    def matching(person: int):
        known = dict(zip(problem.columns, problem.rows[person], strict=True))
        return could_be(problem, table, known)

    def with_shares(person: int) -> list[str]:
        rows = matching(person)
        return [
            rows.loc[p, "secret"]
            for p in rows.index
            if all(
                any(
                    mine in tree.paths[row[j]] for row in members[int(recoding.assigned[of_row[p]])]
                )
                for j, (tree, mine) in enumerate(
                    zip(problem.trees, problem.rows[person], strict=True)
                )
            )
        ]

    assert found.release == plain_guess(problem.rows, secrets, lambda p: matching(p)["secret"])
    assert found.shares == plain_guess(problem.rows, secrets, with_shares)


@examples(80)
@given(attacks())
def test_laws_of_what_is_disclosed(drawn):
    problem, _, _, recoding, _ = drawn
    before = recoding.nodes.copy(), recoding.assigned.copy()
    found = measure_share_disclosure(recoding, "secret")
    columns = list(problem.columns)
    whole = measure_linkage(recoding.classes, recoding.released, columns, "secret")
    assert found.release is not None and found.shares is not None
    assert found.release.right == pytest.approx(whole.right, rel=1e-12), "the attack of linkage"
    assert 0 <= found.exact <= found.cells
    for guess in (found.release, found.shares):
        assert 0 <= guess.certain <= guess.sureness <= 1 + 1e-12
    # Of the table itself there is nothing to add.
    itself = Recoding.from_targets(recoding.classes, recoding.classes.nodes)
    same = measure_share_disclosure(itself, "secret")
    assert same.exact == 0
    if all(
        x < tree.n_leaves
        for nodes in recoding.classes.nodes
        for tree, x in zip(problem.hierarchies, nodes, strict=True)
    ):
        assert same.release == same.shares
    assert np.array_equal(before[0], recoding.nodes) and np.array_equal(
        before[1], recoding.assigned
    )


def test_ranges_of_mondrian_are_attacked_too():
    table = open_sample("hospital").table.records.frame
    quasi = {name: {"role": "quasi-identifier"} for name in ("age", "zip", "sex")}
    plan = make_plan({**quasi, "disease": {"role": "sensitive"}}, 4, "mondrian")
    recoding = run(plan, table[[*quasi, "disease"]]).recoding
    assert recoding.ranged
    column = recoding.classes.sensitive[0].name
    found = measure_share_disclosure(recoding, column)
    alone = measure_linkage(
        recoding.original, recoding.released, recoding.classes.attributes, column
    )
    assert found.release.right == pytest.approx(alone.right, rel=1e-12)
    assert found.shares.sureness >= found.release.sureness


@pytest.mark.nightly
@pytest.mark.adult
def test_of_a_merged_release_of_adult_no_cell_can_be_read_off(adult_path):
    """Nine quasi-identifiers, salary to be guessed, k = 5."""
    work = open_uploaded_table(adult_path.read_bytes(), adult_path.name, 1)
    for column in work.table.roles:
        work = set_role(work, column, Role.QUASI_IDENTIFIER)
    recoding = run(build_plan(with_fields(work, k=5)), work.table.records).recoding
    sensitive = Sensitive.from_records(  # any column will do for the time
        "ill", ["a", "b"], False,
        np.repeat(np.arange(recoding.classes.n_classes), recoding.classes.counts),
        np.arange(recoding.classes.n_records) % 2, recoding.classes.n_classes,
    )  # fmt: skip
    recoding = replace(recoding, classes=replace(recoding.classes, sensitive=(sensitive,)))
    found = measure_share_disclosure(recoding, "ill")
    assert (found.cells, found.exact) == (9 * 30_162, 0), "merging raises only what differs"
    assert found.shares.sureness > found.release.sureness
