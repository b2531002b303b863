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
        help="save results there, and continue from them",
    )  # fmt: skip
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    plan = read_plan(args)
    check_files(args, plan, args.out, args.state)
    study = study_of(prepare(plan, read_records(args, plan), args.plan.parent))
    settings, state = made_with(study), args.state
    run_results = read_study(state, settings) if state is not None and state.exists() else []

    def keep(result: RunResult) -> None:
        run_results.append(result)
        if state is not None:
            write_whole(written_study(settings, run_results), state)

    try:
        run_study(progress_shown(args), study, lacking(run_results), keep)
    except KeyboardInterrupt as stop:
        if state is not None and state.exists():
            stop.add_note(f"The same command continues from {quoted(state.name)}.")
        raise
    table = results(study, run_results)
    write_whole(table.to_csv(index=False, lineterminator="\n").encode("utf-8"), args.out)
    low, high = study.interval
    print(
        f"{counted(len(table), 'row')}: {counted(len(COLUMNS), 'column')}, "
        f"{counted(len(STRATEGIES), 'strategy', 'strategies')}, areas on k from {low} to {high}"
        + (", in persons" if study.task.classes.of == "persons" else "")
    )
    means = mean_ranks(run_results)[OVERALL].sort_values(kind="stable")
    ranked = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    print(f"Mean rank (1 is best): {ranked}")
