"""Start, stop and collect a session's calculation: a run, a comparison, a lattice, a study."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from kanon.algorithms.solution import Solution, solve
from kanon.base.language import say
from kanon.errors import KanonError, PlanError
from kanon.experiments.advisor.advice import try_ways
from kanon.experiments.advisor.repeating import run_again
from kanon.experiments.exploration import Explored, explore
from kanon.experiments.greatest_k import Reverse
from kanon.experiments.searches import Searches, check_searches, measure_searches
from kanon.experiments.sweep import solve_sweep
from kanon.measures.along import Curves, Points
from kanon.metrics import Metric
from kanon.plan import Plan
from kanon.privacy.model import SensitiveModel
from kanon.release.common_classes import Release, needs_table
from kanon.release.composition import Combined
from kanon.report.gathering import Report
from kanon.report.origin import Origin
from kanon.run import Prepared, Run, measured_metrics, prepare
from kanon.settings import exceeded, settings
from kanon.sources.addresses import Address, check_address
from kanon.sources.reading import ReadSettings
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource, part_of, remove
from kanon.studio.compare.configurations import (
    Job,
    Wanted,
    as_compared,
    asks_for_some_k,
    fingerprint,
    lacking,
    made_of,
    outlook,
    planned,
    wanted_lines,
)
from kanon.studio.compare.searches import plan_of_searches, settings_of_searches
from kanon.studio.data.singling_out import (
    about_search,
    asked_columns,
    can_be_searched,
    found_in,
    k_used,
    with_sets,
)
from kanon.studio.decide.advice import asked_of, check_matters, limits_of, with_again, with_ways
from kanon.studio.decide.greatest_k import greatest_k, plan_of_reverse, settings_of_reverse
from kanon.studio.decide.simulated import simulation_of, with_results
from kanon.studio.jobs.partial_results import learn_fits, learn_releases, simulate_runs
from kanon.studio.jobs.stored_table import open_work, prepare_and_solve, write_release
from kanon.studio.lattice.state import FoundLattice
from kanon.studio.lattice.subject import Ready
from kanon.studio.learn.exercises import marked_files, opened_set, with_scores, with_set
from kanon.studio.report.report_request import (
    context_of_report,
    make_report,
    origin_of,
    people_of_report,
    plan_of_report,
)
from kanon.studio.session import state
from kanon.studio.session.earlier_releases import Handed, with_handed, worked_out
from kanon.studio.session.places import Destination, Written, checked_destination
from kanon.studio.session.server import jobs
from kanon.studio.session.table_loading import read_again
from kanon.studio.session.work import (
    Compared,
    Doing,
    Greatest,
    Result,
    Searched,
    Work,
    comparison_settings,
    plan_of,
    settings_of,
    usable_metrics,
    without_lost,
)
from kanon.studio.utility.learning import ground_of, lesson_of, with_outcomes
from kanon.studio.utility.prediction import trials_of, with_found
from kanon.teaching.exercises import ExerciseSet

__all__ = [
    "advise_again",
    "advise_ways",
    "cancel",
    "collect",
    "combine_releases",
    "compare",
    "comparison_outdated",
    "explore_lattice",
    "find_greatest_k",
    "find_sets",
    "first",
    "learn",
    "mark_answers",
    "measure_asked",
    "open_exercises",
    "open_place",
    "outdated",
    "predict_utility",
    "read_table_again",
    "report",
    "run_searches",
    "simulate",
    "start",
    "write",
]


def start() -> None:
    """Run the current settings in a worker; what cannot run is said and changes nothing."""
    work = state.work()
    if work.busy:
        return
    try:
        plan = plan_of(work)
        if isinstance(work.table, StoredTable):  # to count its classes may take long
            then = partial(_with_stored_result, plan, settings_of(work, plan))
            content = plan.model_dump(mode="json")
            _submit("run", then, prepare_and_solve, content, work.table, limit="engine_minutes")
            return
        prepared = prepare(plan, work.table)
        task = prepared.check()
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    then = partial(_with_result, prepared, settings_of(work, plan))
    metrics = measured_metrics(plan, [plan.metric.name])
    _submit("run", then, solve, plan.algorithm.name, task, metrics)


def _with_result(prepared: Prepared, settings: str, work: Work, solution: Solution) -> Work:
    return replace(work, result=Result(prepared, solution, settings))


def _with_stored_result(
    plan: Plan, settings: str, work: Work, found: tuple[StoredSource, int, Solution]
) -> Work:
    source, dropped, solution = found
    if isinstance(work.table, StoredTable):
        work.table.learn(source.table)
    return _with_result(Prepared(plan, source, dropped), settings, work, solution)


def open_place() -> None:
    """Open the table at the place that was typed, in a worker; what is not allowed is said."""
    place = state.work().place
    try:
        address = check_address(Address.parse(place.typed))
    except KanonError as error:
        state.change(place=replace(place, problem=error.sentence))
        return
    state.change(place=replace(place, problem=""))
    settings = ReadSettings()
    engine = place.engine or None
    _submit("opening", _opened, open_work, address, engine, settings, limit="engine_minutes")


def _opened(work: Work, found: Work) -> Work:
    return replace(found, version=work.version + 1, place=work.place)


def read_table_again() -> None:
    """Read a table that stays where it is as asked for now, in a worker."""
    work = state.work()
    table = work.table
    if isinstance(table, StoredTable):
        given = (table.address, table.engine, work.asked)
        _submit("reading", read_again, open_work, *given, limit="engine_minutes")


def write(done: Run, suggested: str, handed: Handed) -> None:
    """Have the engine write a release, in a worker; what is not allowed is said.

    Parameters
    ----------
    done
        The release, of a table that stays where it is.
    suggested
        Where it goes if nothing else was typed.
    handed
        What is kept of it once it is written.
    """
    work, source = state.work(), done.prepared.source
    if work.busy or not isinstance(source, StoredSource):
        return
    wanted = work.destination
    try:
        target = checked_destination(wanted.typed or suggested, source.table.address)
    except KanonError as error:
        state.change(destination=replace(wanted, problem=error.sentence, written=None))
        return
    state.change(destination=replace(wanted, problem="", written=None, target=target))
    part = part_of(target.path)
    gone = 0 if done.prepared.plan.suppressed == "keep" else done.recoding.suppressed_records
    left = source.classes.n_records - gone
    then = partial(_with_written, target.shown, done.prepared.plan.k, left, handed)
    content = done.prepared.plan.model_dump(mode="json")
    given = (source, done.recoding, content, target, part)
    _submit(
        "writing", then, write_release, *given, limit="engine_minutes", after=partial(remove, part)
    )


def _with_written(place: str, k: int, records: int, handed: Handed, work: Work, _: object) -> Work:
    seconds = work.job.seconds if work.job is not None else 0.0
    written = Written(place, k, records, seconds)
    return replace(
        work,
        destination=Destination(written=written),
        handed=with_handed(work.handed, handed),
    )


def combine_releases(releases: Sequence[Release], key: str) -> None:
    """Work out in a worker what several releases say together.

    Parameters
    ----------
    releases
        The releases.
    key
        The fingerprint that is kept with what is found.
    """
    work = state.work()
    if work.busy:
        return
    given = [(each.plan.model_dump(mode="json"), each.recoding, each.dropped) for each in releases]
    table = work.table if needs_table(releases) else None
    then = partial(_with_together, key)
    _submit("combining", then, worked_out, given, table, limit="engine_minutes")


def _with_together(key: str, work: Work, found: Combined) -> Work:
    return replace(work, together=(key, found))


def compare(what_if: bool = False) -> None:
    """Compare what is chosen, under several tie seeds if bands are wanted.

    A worker makes the runs that are lacking; those that an earlier comparison made are taken from
    there.

    Parameters
    ----------
    what_if
        Whether to keep the comparison that there is, as what was before an edit.
    """
    work = state.work()
    if work.busy:
        return
    try:
        lines = _lines_of_what_if(work) if what_if else wanted_lines(work)
        if not lines:
            raise PlanError(say("Choose at least one metric and one strategy to compare."))
        todo = lacking(work, lines, also=work.k, at_some=asks_for_some_k(work))
        plan = plan_of(without_lost(work))
        settings = comparison_settings(work, plan, [line.guide.name for line in lines])
        job = planned(work, lines, todo)
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    before = work.comparison if what_if else None
    then = partial(_with_comparison, lines, job, settings, before)
    if todo:
        given = (job.runs, job.ks, job.metrics, None, job.also_at)
        _submit("comparison", then, solve_sweep, *given)
    else:
        state.put(replace(then(work, []), problem=None, notice=None))


def measure_asked() -> None:
    """Measure what the board asks for now and nobody has measured yet, as bands are: at once."""
    work = state.work()
    if work.comparison is None or not asks_for_some_k(work):
        return
    lines = outlook(work).lines
    if lines and lacking(work, lines, at_some=True):
        compare()


def _lines_of_what_if(work: Work) -> tuple[Wanted, ...]:
    """What is compared before and after an edit: by drawn weights too, which were just edited.

    Each is measured by its own hierarchies: of all that those of its time could lose.
    """
    work = replace(work, yardstick=None)
    return wanted_lines(work, ["custom"] if "custom" in usable_metrics(work) else [])


def _with_comparison(
    lines: Sequence[Wanted],
    job: Job,
    settings: str,
    before: Compared | None,
    work: Work,
    found: Sequence[Curves | Points],
) -> Work:
    work = replace(work, runs=as_compared(work, lines, job, found))
    seconds = work.job.seconds if work.job is not None and found else 0.0
    comparison = made_of(work, lines)
    compared = Compared(comparison, settings, seconds, fingerprint(lines, comparison))
    both = None if before is None else (before, compared)
    return replace(work, comparison=compared, what_if=both)


def explore_lattice(ready: Ready) -> None:
    """Look at a lattice in a worker.

    Parameters
    ----------
    ready
        The lattice; see :func:`kanon.studio.lattice.subject.ready`.
    """
    if not state.work().busy:
        _submit("lattice", partial(_with_lattice, ready.settings), explore, ready.task)


def _with_lattice(settings: str, work: Work, found: Explored) -> Work:
    return replace(work, found_lattice=FoundLattice(found, settings))


def run_searches() -> None:
    """Measure the three searches of the lattice in a worker; what cannot run is said."""
    work = state.work()
    if work.busy:
        return
    try:
        plan = plan_of_searches(work)
        task = prepare(plan, work.table).task()
        check_searches(task.classes.hierarchies, task.classes.n_records)
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    then = partial(_with_searches, settings_of_searches(work))
    _submit("searches", then, measure_searches, task, plan.metric)


def _with_searches(settings: str, work: Work, found: Searches) -> Work:
    return replace(work, searched=Searched(found, settings))


def find_greatest_k(model: SensitiveModel) -> None:
    """Look in a worker for the greatest k that goes with a model; what cannot run is said."""
    work = state.work()
    if work.busy:
        return
    try:
        plan, about = plan_of_reverse(work, model), settings_of_reverse(work, model)
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    then = partial(_with_greatest_k, model, plan.metric, about)
    stays = isinstance(work.table, StoredTable)
    _submit(
        "reverse", then, greatest_k, plan.model_dump(mode="json"), work.table,
        limit="engine_minutes" if stays else "job_minutes",
    )  # fmt: skip


def _with_greatest_k(
    model: SensitiveModel, metric: Metric, about: str, work: Work, found: Reverse
) -> Work:
    return replace(work, greatest=Greatest(found, model, metric, about))


def advise_ways() -> None:
    """Try every metric, strategy and scope in a worker; what cannot be tried is said."""
    work = state.work()
    if work.busy:
        return
    view = work.deciding.advice
    try:
        asked = asked_of(work)
        check_matters(work)
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    then = partial(with_ways, asked.settings, asked.ks)
    given = (asked.runs, asked.wanted, asked.tried, asked.ks, view.weights, limits_of(work))
    _submit("advising", then, try_ways, *given, limit="study_minutes")


def advise_again(places: Sequence[int]) -> None:
    """Run some proposals again in a worker, in other orders of ties and on other records."""
    work = state.work()
    if work.busy:
        return
    try:
        asked = asked_of(work)
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    runs, then = [asked.runs[place] for place in places], partial(with_again, asked.ks, places)
    _submit("advising", then, run_again, runs, asked.ks, limit="study_minutes")


def report() -> None:
    """Make the report of the current settings in a worker; what cannot be made is said."""
    work = state.work()
    if work.busy:
        return
    try:
        content = plan_of_report(work).model_dump(mode="json")
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    context, people = context_of_report(work)
    given = (content, work.table, work.file.name, origin_of(work), datetime.date.today())
    purpose = None if context is None else context.content
    then = partial(_with_report, people_of_report(work))
    _submit("reporting", then, make_report, *given, purpose, people)


def _with_report(people: Origin | None, work: Work, found: Report) -> Work:
    return replace(work, reported=found, reported_people=people)


def learn() -> None:
    """Train the classifiers that the chosen experiment lacks; what cannot be run is said."""
    work = state.work()
    if work.busy:
        return
    try:
        lesson = lesson_of(work, ground_of(work))
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    then = partial(_with_parts, with_outcomes, lesson.key)
    state.change(studying=lesson.key)
    _submit("learning", then, learn_fits, lesson.experiment, lesson.lacking, limit="study_minutes")


def predict_utility() -> None:
    """Measure and learn from the releases that are lacking; what cannot be run is said."""
    work = state.work()
    if work.busy:
        return
    try:
        trials = trials_of(work, ground_of(work))
        trials.check()
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    then = partial(_with_parts, with_found, trials.keys)
    state.change(studying=str(trials.keys))
    _submit(
        "predicting", then, learn_releases, trials.prediction, trials.lacking, limit="study_minutes"
    )


def simulate() -> None:
    """Make the runs that the simulated study lacks; what cannot be run is said."""
    work = state.work()
    if work.busy:
        return
    try:
        simulation = simulation_of(work)
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    then = partial(_with_parts, with_results, simulation.key)
    state.change(studying=simulation.key)
    given = (simulation.study, simulation.lacking(work))
    _submit("simulating", then, simulate_runs, *given, limit="study_minutes")


def open_exercises(content: bytes) -> None:
    """Read and check an exercise set in a worker: its best answers may take seconds to find."""
    if not state.work().busy:
        _submit("exercises", with_set, opened_set, content)


def mark_answers(exercises: ExerciseSet, files: Sequence[tuple[str, bytes]]) -> None:
    """Mark the answers of a class in a worker."""
    if not state.work().busy:
        _submit("marking", with_scores, marked_files, exercises, files)


def find_sets() -> None:
    """Look in a worker for the smallest sets of columns that single people out."""
    work = state.work()
    if work.busy or not can_be_searched(work):
        return
    view = work.singling
    given = (work.table, asked_columns(work), view.share, k_used(work), view.size)
    then = partial(with_sets, about_search(work))
    stays = isinstance(work.table, StoredTable)
    limit: Literal["engine_minutes", "job_minutes"] = "engine_minutes" if stays else "job_minutes"
    _submit("singling", then, found_in, *given, limit=limit)


def _with_parts(
    keep: Callable[[Work, Any, Sequence[object]], Work], key: object, work: Work, _: object
) -> Work:
    return keep(work, key, work.job.parts if work.job is not None else ())


def _submit(
    doing: Doing,
    then: Callable[[Work, Any], Work],
    function: Callable[..., object],
    *arguments: object,
    limit: Literal["job_minutes", "study_minutes", "engine_minutes"] = "job_minutes",
    after: Callable[[], object] = lambda: None,
) -> None:
    deadline = 60 * getattr(settings(), limit)
    late = exceeded(limit, "The calculation was stopped: it took too many minutes")
    job = jobs().submit(function, *arguments, deadline=deadline, after=after, late=late)
    state.change(job=job, doing=doing, then=then)


def first() -> None:
    """At the first start, run the sample, so that a result is on screen."""
    work = state.work()
    if work.version == 0 and not work.started:
        state.change(started=True)
        start()


def cancel() -> None:
    """Stop the calculation; what an earlier one found stays."""
    work = state.work()
    if work.job is not None:
        work.job.cancel()


def collect() -> None:
    """Take what a calculation that has ended found, or say why there is nothing."""
    work = state.work()
    job, then = work.job, work.then
    if job is None or then is None or not job.finished:
        return
    idle: dict[str, Any] = {"job": None, "doing": "", "then": None}
    if job.state == "done":
        try:
            found = then(work, job.result)
        except KanonError as error:  # the table has changed meanwhile
            state.change(**idle, **_failed(work, error.sentence))
            return
        state.put(replace(found, **idle))  # with what was said while it ran
    elif job.parts:  # of a study, what was found so far stays
        ended = job.error or say("The study was cancelled.")
        kept = ended + " " + say("What was found so far is kept.")
        problem, notice = (kept, None) if job.error else (work.problem, kept)
        state.put(replace(then(work, None), **idle, problem=problem, notice=notice))
    elif job.state == "cancelled" and work.doing == "writing" and _complete(work):
        late = say("The release was complete before it could be cancelled.")
        state.put(replace(then(work, None), **idle, notice=late))
    elif job.state == "cancelled":
        compared = work.comparison
        bands = work.bands and compared is not None and compared.comparison.has_bands
        said = {"problem": work.problem, "problem_at": work.problem_at}
        state.change(**idle, bands=bands, notice=_cancelled(work.doing), **said)
    else:
        state.change(**idle, **_failed(work, job.error or ""))


def _cancelled(doing: Doing) -> str:
    opening = say("Opening was cancelled; nothing was changed.")
    known = {
        "opening": opening,
        "reading": say("Reading was cancelled; nothing was changed."),
        "writing": say("Writing was cancelled; nothing was changed."),
        "reporting": say("The report was cancelled; nothing was changed."),
        "exercises": opening,
        "marking": say("Marking was cancelled; nothing was changed."),
    }
    return known.get(doing) or say("The run was cancelled; nothing was changed.")


def _complete(work: Work) -> bool:
    """Whether a release stands where nothing was, or an empty folder, when its writing began."""
    target = work.destination.target
    if target is None or target.table is not None:
        return False
    path = target.path
    return any(path.iterdir()) if path.is_dir() else path.exists()


def _failed(work: Work, sentence: str) -> dict[str, Any]:
    """Where it is said that a calculation has failed: beside the field that it began from."""
    if work.doing == "opening":
        return {"place": replace(work.place, problem=sentence)}
    if work.doing == "writing":
        return {"destination": replace(work.destination, problem=sentence)}
    return {"problem": " ".join(filter(None, [work.problem, sentence]))}


def outdated(work: Work) -> bool:
    """Whether the result on screen was made with other settings than those chosen now."""
    result = work.result
    if result is None:
        return False
    most = min(work.k, result.prepared.classes.n_records)
    return result.k_for(most) != most or _differ(work, settings_of, result.settings)


def comparison_outdated(work: Work) -> bool:
    """Whether the comparison on screen lacks something of what is chosen now."""
    if work.comparison is None:
        return False
    guides = [line.guide.name for line in work.comparison.comparison.lines]
    settings = partial(comparison_settings, metrics=guides)
    if _differ(without_lost(work), settings, work.comparison.settings):
        return True
    found = outlook(work)
    return bool(found.lacking or found.problem)


def _differ(work: Work, settings: Callable[[Work, Plan], str], made_with: str) -> bool:
    try:
        return settings(work, plan_of(work)) != made_with
    except KanonError:
        return True
