"""``simulate``: rank the strategies on simulated sensitive columns."""

import argparse
from pathlib import Path

from kanon.base.formatting import counted
from kanon.cli.inputs import check_files, read_plan, read_records
from kanon.cli.messages import progress_shown
from kanon.cli.options import add_plan, add_progress, add_seed, add_table
from kanon.errors import quoted
from kanon.experiments.simulated.columns import COLUMNS
from kanon.experiments.simulated.files import made_with, read_study, written_study
from kanon.experiments.simulated.ranks import OVERALL, mean_ranks, results
from kanon.experiments.simulated.study import STRATEGIES, RunResult, lacking, run_study, study_of
from kanon.run import prepare
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="RESULTS.csv")
    parser.add_argument(
        "--state", type=Path, metavar="STUDY.json",
        help="keep there what was found, and go on from there",
    )  # fmt: skip
    add_seed(parser)
    add_progress(parser)


def execute(given: argparse.Namespace) -> None:
    plan = read_plan(given)
    check_files(given, plan, given.out, given.state)
    study = study_of(prepare(plan, read_records(given, plan), given.plan.parent))
    made, state = made_with(study), given.state
    found = read_study(state, made) if state is not None and state.exists() else []

    def keep(one: RunResult) -> None:
        found.append(one)
        if state is not None:
            write_whole(written_study(made, found), state)

    try:
        run_study(progress_shown(given), study, lacking(found), keep)
    except KeyboardInterrupt as stop:
        if state is not None and state.exists():
            stop.add_note(f"The same command goes on from {quoted(state.name)}.")
        raise
    table = results(study, found)
    write_whole(table.to_csv(index=False, lineterminator="\n").encode("utf-8"), given.out)
    low, high = study.interval
    print(
        f"{counted(len(table), 'row')}: {counted(len(COLUMNS), 'column')}, "
        f"{counted(len(STRATEGIES), 'strategy', 'strategies')}, areas on k from {low} to {high}"
        + (", in persons" if study.task.classes.of == "persons" else "")
    )
    means = mean_ranks(found)[OVERALL].sort_values(kind="stable")
    ranked = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    print(f"Mean rank, 1 the best: {ranked}")
