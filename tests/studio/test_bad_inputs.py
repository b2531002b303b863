"""Every bad input along every route: one sentence, no traceback, nothing written, nothing lost."""

import os
import re
import shlex
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kanon.base.progress import ignore_progress
from kanon.cli.main import main
from kanon.errors import KanonError
from kanon.experiments.greatest_k import find_greatest_k
from kanon.experiments.simulated.files import create_study_inputs, read_study
from kanon.experiments.simulated.study import create_study
from kanon.experiments.sweep import sweep
from kanon.hierarchy.files import read_hierarchy
from kanon.plan import Plan
from kanon.release.context import Context
from kanon.run import prepare, run
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.memory import convert_to_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.sources.singling_out import singling_out
from kanon.studio.decide.purpose_panel import load_context
from kanon.studio.decide.simulated_panel import build_simulation, load_study
from kanon.studio.decide.state import DecideView, SimulatedView
from kanon.studio.hierarchies.files import add_imports
from kanon.studio.jobs.upload import open_upload
from kanon.studio.learn.state import LessonsView
from kanon.studio.metrics.composed_metrics import add_composed, set_attribute_weight
from kanon.studio.privacy.attacker import PrivacyView
from kanon.studio.session.hierarchy_choices import set_builder, set_role, undo_hierarchy
from kanon.studio.session.named_configurations import import_configuration
from kanon.studio.utility.state import LearningView, UtilityView
from kanon.studio.widgets.model_editor import get_model_key
from kanon.studio.widgets.requirements import KINDS
from kanon.teaching.exercises import read_exercises
from support import dashboard as ui
from support.bad_inputs import (
    PAGE,
    PEOPLE,
    PLAN,
    SECTIONS,
    At,
    Call,
    ContextFile,
    ExerciseFile,
    Find,
    Measure,
    Never,
    Output,
    PlanFile,
    Reversed,
    Screen,
    StudyFile,
    Sweep,
    TableFile,
    TreeFile,
    changed,
    page,
    plain,
)
from support.works import PART_OF, value_of, with_fields

pytestmark = pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")

DECIDED = ("decide", "plan.json", "--table", "people.csv", "--context")
DECIDE, LEARN = "pages/decide.py", "pages/learn.py"
PRIVACY, UTILITY = "pages/privacy.py", "pages/utility.py"
GOOD = changed()
SAMPLED = pytest.mark.sampled(1 if "KANON_WRITE" in os.environ else 3)
TABLES = Path(__file__).parents[1]
"""The folder for tables that stay where they are."""


def kind_of(case):
    """What is given and where; the gate has one case of each kind per route."""
    app = getattr(case.given, "app", None)
    return type(case.given), app and app.place


def is_first(case, route):
    """Whether a case is the first of its kind on a route, or all of them are to be written down."""
    alike = (
        one
        for section in SECTIONS
        for one in section.cases
        if kind_of(one) == kind_of(case) and not isinstance(one.words(route), Never)
    )
    return "KANON_WRITE" in os.environ or next(alike) is case


def along(route, every=False, takes=lambda given: True):
    """The cases that can occur on a route, with the section that each stands in."""
    cases = []
    for section in SECTIONS:
        for case in section.cases:
            if takes(case.given) and not isinstance(case.words(route), Never):
                heavy = not every and not is_first(case, route)
                marks = [pytest.mark.nightly] if heavy else []
                title = f"{section.title}: {case.name}"
                cases.append(pytest.param(section, case, marks=marks, id=title))
    return pytest.mark.parametrize(("section", "case"), cases)


@pytest.fixture(scope="module")
def page_of_docs():
    said = {}
    yield said
    if "KANON_WRITE" in os.environ:
        PAGE.write_text(page(said), "utf-8")


@pytest.fixture
def check(section, case, page_of_docs):
    """Checks a sentence: one readable line, it names what it has to, and it is in the docs."""

    def check_sentence(route, sentence):
        sentence = sentence.replace("\u202f", " ").replace(str(TABLES), "FOLDER")
        assert "\n" not in sentence and sentence.endswith(".") and len(sentence) < 420
        for internal in ("Traceback", "pydantic", "Error", "None", "object at", "<class"):
            assert internal not in sentence
        for word in case.words(route).split():
            assert re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", sentence)
        page_of_docs[section.title, case.name, route] = sentence
        if "KANON_WRITE" in os.environ:  # a new case has no row yet
            return
        rows = PAGE.read_text("utf-8").split(f"## {section.title}\n")[1].split("\n## ")[0]
        row = rows.split(f"| {plain(case.name)} |")[1].split("\n")[0]
        assert plain(sentence) in row, "run make bad-inputs"

    return check_sentence


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    Path("plan.json").write_text(GOOD.text, "utf-8")
    Path("sex.csv").write_text("F;*\nM;*\n", "utf-8")
    Path("men.csv").write_text("M;*\nX;*\n", "utf-8")
    Path("context.json").write_text('{"context": 1, "release": "public"}', "utf-8")
    Path("full").mkdir()
    Path("full/file").write_text("x", "utf-8")
    return tmp_path


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- the library -------------------------------------------------------------------------------
def in_library(given, folder):
    match given:
        case TableFile():
            source = Path(given.name) if given.content is None else given.content
            read_table(source, given.name, ReadSettings(**given.read))
        case TreeFile():
            source = Path(given.name) if given.content is None else given.content
            read_hierarchy(source, given.name)
        case PlanFile(text=None):
            Plan.load(Path("absent.json"))
        case PlanFile():
            run(Plan.from_json(given.text), PEOPLE if given.table is None else given.table, folder)
        case ExerciseFile(text=None):
            read_exercises(Path("absent.json"))
        case ExerciseFile():
            read_exercises(given.text.encode())
        case ContextFile(text=None):
            Context.load(Path("absent.json"))
        case ContextFile():
            Context.from_json(given.text)
        case StudyFile():
            made = create_study_inputs(
                create_study(prepare(Plan.from_json(GOOD.text), PEOPLE, folder))
            )
            read_study(given.text.encode(), made)
        case Reversed():
            find_greatest_k(Plan.from_json(given.text), PEOPLE)
        case Sweep():
            ks = [int(k) for k in given.ks.split(",") if k.strip()]
            sweep(Plan.from_json(GOOD.text), PEOPLE, ks)
        case Measure():
            names = [
                [name.strip() for name in listed.split(",") if name.strip()]
                for listed in (given.columns, given.sensitive)
            ]
            convert_to_table(PEOPLE).build_classes(*names)
        case Find():
            names = [name.strip() for name in given.columns.split(",") if name.strip()]
            share = float(given.share.rstrip("%")) / (100 if "%" in given.share else 1)
            singling_out(convert_to_table(PEOPLE), names, share, given.k, given.size)
        case Output():
            run(Plan.from_json(GOOD.text), PEOPLE).write(Address.parse(given.name))
        case _:
            raise AssertionError(f"the library knows no {given}")


@SAMPLED
@along("library", every=True)
def test_the_library_says_it(section, case, folder, check):
    before = files(folder)
    with pytest.raises(KanonError) as caught:
        in_library(case.given, folder)
    error = caught.value
    assert isinstance(error, section.errors)
    check("library", error.sentence)
    assert files(folder) == before
    if error.cells:
        assert "(value withheld)" in str(error)


# --- the command line --------------------------------------------------------------------------
def call_of(given, folder):
    """What is typed at the command line to do what a case does."""
    ran = ["run", "plan.json", "--table", "people.csv", "--out", "released.csv"]
    match given:
        case TableFile():
            if given.content is not None:
                (folder / given.name).write_bytes(given.content)
            plan = changed(*((f"read.{key}", value) for key, value in given.read.items()))
            (folder / "plan.json").write_text(plan.text, "utf-8")
            return [*ran[:3], given.name, *ran[4:]]
        case TreeFile():
            if given.content is not None:
                (folder / given.name).write_bytes(given.content)
            return ["hierarchy", "check", given.name]
        case PlanFile(text=None):
            return ["run", "absent.json", *ran[2:]]
        case PlanFile():
            (folder / "plan.json").write_text(given.text, "utf-8")
            if given.table is not None:
                given.table.to_csv(folder / "people.csv", index=False)
            return [*ran, "--measures", "m.json"]
        case ExerciseFile(text=None):
            return ["exercises", "score", "absent.json", "answers.json", "--out", "scores.csv"]
        case ExerciseFile():
            (folder / "set.json").write_text(given.text, "utf-8")
            return ["exercises", "score", "set.json", "answers.json", "--out", "scores.csv"]
        case ContextFile(text=None):
            return [*DECIDED, "absent.json"]
        case ContextFile():
            (folder / "context.json").write_text(given.text, "utf-8")
            return [*DECIDED, "context.json"]
        case StudyFile():
            (folder / "study.json").write_text(given.text, "utf-8")
            return [
                *("simulate", "plan.json", "--table", "people.csv"),
                *("--state", "study.json", "--out", "results.csv"),
            ]
        case Reversed():
            (folder / "plan.json").write_text(given.text, "utf-8")
            return ["reverse", "plan.json", "--table", "people.csv", "--out", "curve.csv"]
        case Sweep():
            return [
                *("sweep", "plan.json", "--table", "people.csv"),
                *("--k", given.ks, "--out", "curves.csv"),
            ]
        case Measure():
            named = ["--sensitive", given.sensitive] if given.sensitive else []
            return ["measure", "--table", "people.csv", "--qi", given.columns, *named]
        case Find():
            return [
                *("quasi-identifiers", "--table", "people.csv", "--columns", given.columns),
                *("--share", given.share, "--k", str(given.k), "--size", str(given.size)),
            ]
        case Output():
            return [*ran[:-1], given.name]
        case Call():
            return shlex.split(given.arguments)
    raise AssertionError(f"the command line knows no {given}")


@along("command")
def test_the_command_line_says_it_and_writes_nothing(case, folder, capsys, check):
    arguments = call_of(case.given, folder)
    before = files(folder)
    status = main(arguments)
    said = capsys.readouterr()
    assert said.out == "" or arguments[0] == "hierarchy"  # which describes the tree first
    lines = said.err.splitlines(keepends=True)
    err = "".join(line for line in lines if not line.startswith("kanon: note: "))
    assert err.startswith("kanon: ")
    check("command", err.removeprefix("kanon: ").removesuffix("\n"))
    assert status == case.status
    assert files(folder) == before


# --- the app -----------------------------------------------------------------------------------
class Session:
    """One session for all cases: a table, choices of one's own, a result, a comparison."""

    def __init__(self):
        self.at = ui.go(AppTest.from_file(str(ui.APP), default_timeout=60))
        self.page = ui.ANONYMISE
        at = ui.upload(self.on(ui.DATA), "people.csv", ui.as_bytes(PEOPLE, "csv"))
        for name, entry in PLAN["columns"].items():
            ui.give_role(at, name, entry["role"])
        ui.build(at, "age", "intervals", widths="10, 20")
        ui.build(at, "sex", "suppression")
        at = self.on(ui.METRICS_PAGE)
        at.text_input(key="compose-name-0").set_value("mine")
        ui.press(at, "Save metric")
        at = self.on(ui.ANONYMISE)
        at.number_input(key=ui.frame_k(at)).set_value(2)
        ui.settled(ui.press(ui.go(at), "Anonymise"))
        assert not ui.problems(at) and ui.work(at).findings.result is not None
        lessons = replace(ui.work(at).view(LessonsView), part="exercises")
        deciding = replace(ui.work(at).view(DecideView), part="study")
        self.kept = self.before = with_fields(with_fields(ui.work(at), view=lessons), view=deciding)

    @cached_property
    def compared(self):
        """A comparison, for what stands beside one."""
        self.begin()
        return ui.work(ui.settled(ui.press(self.on(ui.COMPARE), "Compare"))).findings.comparison

    def on(self, page):
        if page != self.page:
            ui.go(self.at, page)
            self.page = page
        return self.at

    def begin(self, **settings):
        """As after the first steps, with some settings changed; nothing was tried yet."""
        self.before = with_fields(self.kept, **settings)
        drawn = not self.lost
        self.at.session_state[ui.WORK] = self.before
        if settings or not drawn:  # widgets of the page show something else
            ui.go(self.at)

    @property
    def lost(self):
        """The fields of the work and the states of pages that are not what they were."""
        now, before = _but_for_bounds_found(ui.work(self.at), self.before), self.before
        pairs = {name: (value_of(now, name), value_of(before, name)) for name in PART_OF}
        kinds = {*now.views, *before.views}
        pairs |= {kind.__name__: (now.view(kind), before.view(kind)) for kind in kinds}
        differ = {name for name, (one, other) in pairs.items() if one is not other and one != other}
        return differ - {"problem", "problem_at", "notice"}


def _but_for_bounds_found(now, before):
    """The work without the lower bounds that were found behind the page meanwhile."""
    old, own = before.findings.bounds, now.findings.bounds
    if not old.items() <= own.items():
        return now
    made = {doing: then for doing, then in now.made_with.items() if doing != "bound"}
    if "bound" in before.made_with:
        made["bound"] = before.made_with["bound"]
    return replace(with_fields(now, bounds=old), made_with=made)


@pytest.fixture(scope="module")
def session(workers):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KANON_TABLES", str(TABLES))
        ui.limit_behind(patch)
        yield Session()


def loaded(session, name, content):
    ui.upload(session.on(ui.DATA), name, content)


def read_otherwise(session, name, content, **read):
    """A table that is read in a way of one's own, on the page Data."""
    at = ui.upload(session.on(ui.DATA), name, content)
    session.before = ui.work(at)
    for setting, text in read.items():
        key = f"{setting}-{ui.work(at).version}"
        box = at.text_input(key=key) if setting == "encoding" else at.selectbox(key=key)
        box.set_value(text)
    ui.go(at)
    return {"asked"}


def loaded_tree(session, column, name, content):
    """A hierarchy for a column, on the page Data; Undo brings back the one before."""
    at = ui.upload_tree(session.on(ui.DATA), column, name, content)
    first = undo_hierarchy(ui.work(at), column)
    undo = undo_hierarchy(first, column)  # the file, and that it comes from one
    assert undo.table.choices[column].tree == session.before.table.choices[column].tree
    return {"choices", "histories"}


def built(session, column, builder, typed):
    at = ui.build(session.on(ui.DATA), column, builder, **typed)
    for name, text in typed.items():
        assert at.text_input(key=ui.key_of(at, column, name)).value == text
    return {"choices", "histories"}


def roles(session, **given):
    at = session.on(ui.DATA)
    for column, role in given.items():
        ui.give_role(at, column, role)
    ui.press(session.on(ui.ANONYMISE), "Anonymise")
    return {"roles", "reasons", "choices", "histories"}


def settings(session, models=(), roles=(), **chosen):
    wanted = tuple(KINDS[name](**given) for name, given in models)
    session.begin(models=wanted, **chosen)
    for column, role in dict(roles).items():
        session.before = set_role(session.before, column, Role(role))
    session.at.session_state[ui.WORK] = session.before
    ui.settled(ui.press(ui.go(session.on(ui.ANONYMISE)), "Anonymise"))


def other_table(session, table, then=None, missing="drop-records"):
    """Another table on the page Data, all decided, and what is done with it."""
    at = ui.upload(session.on(ui.DATA), "other.csv", ui.as_bytes(table, "csv"))
    session.before = with_fields(
        ui.work(at), problem=ui.work(at).message.problem if then is None else None, missing=missing,
        undecided=frozenset(),
    )  # fmt: skip
    at.session_state[ui.WORK] = session.before
    return None if then is None else PLACES[then.place](session, **then.what)


def missing(session):
    at = session.on(ui.DATA)
    ui.enter(at, at.radio(key=f"missing-{ui.work(at).version}"), "as-value")
    return {"missing", "choices", "histories"}


def person(session, column):
    session.at.session_state[ui.WORK] = with_fields(ui.work(session.at), person=column)
    ui.settled(ui.press(ui.go(session.on(ui.ANONYMISE)), "Anonymise"))
    return {"person"}


def k_of(session, k):
    at = session.on(ui.DATA)
    ui.enter(at, at.number_input(key=ui.frame_k(at)), k)
    ui.press(session.on(ui.ANONYMISE), "Anonymise")
    return {"k"}


def parameter(session, model, name, value):
    """The field of a model, on the page Anonymise; it holds what was typed."""
    kind = {"l": 2, "c": 3.0, "t": 0.4, "alpha": 0.6, "k": 2, "delta": 2.0, "beta": 1.0}
    one = KINDS[model]
    given = {key: kind[key] for key in one.__dataclass_fields__ if key in kind}
    if model == "t-closeness":
        given["distance"] = "variational"
    made = one(column="disease", **given)
    session.begin(models=(made,))
    at = ui.go(session.on(ui.ANONYMISE))
    key = get_model_key(ui.work(at), made, name)
    ui.enter(at, at.number_input(key=key), value)
    assert at.number_input(key=key).value == value


def weight(session, text):
    at = session.on(ui.METRICS_PAGE)
    key = f"attribute-weight-{ui.work(at).version}-0-1"
    ui.enter(at, at.text_input(key=key), text)
    assert at.text_input(key=key).value == text


def metric(session, name):
    at = session.on(ui.METRICS_PAGE)
    at.text_input(key="compose-name-1").set_value(name)
    ui.press(at, "Save metric")
    assert at.text_input(key="compose-name-1").value == name


def plan(session, text):
    at = session.on(ui.COMPARE)
    box = at.file_uploader(key=f"kept-import-{ui.work(at).version}")
    ui.enter(at, box, ("plan.json", text.encode(), "application/json"))


def ks(session, text):
    learning = UtilityView(part="learning"), LearningView(ks=text)
    session.before = session.kept.replace_sections(*learning)
    session.at.session_state[ui.WORK] = session.before
    at = ui.go(session.on(UTILITY))
    assert at.text_input(key=f"learning-ks-{text}").value == text


def lines(session, text):
    """Lines that are pasted, on the page Hierarchies; they stay in their field."""
    at = session.on(ui.HIERARCHIES)
    key = f"tree-pasted-{ui.work(at).version}-age"
    at.text_area(key=key).set_value(text)
    ui.press(at, "Add these lines")
    assert at.text_area(key=key).value == text


def tree_files(session, name, content):
    """Hierarchy files, on the page Hierarchies; nothing is used before it is looked through."""
    at = session.on(ui.HIERARCHIES)
    key = f"tree-files-{ui.work(at).version}-{ui.work(at).shared.uploads}"
    ui.enter(at, at.file_uploader(key=key), [(name, content, "text/plain")])
    return {"imports", "uploads"}


def layout(session, content):
    session.begin(comparison=session.compared)
    at = session.on(ui.COMPARE)
    (box,) = [one for one in at.file_uploader if one.label == "Load a layout"]
    ui.enter(at, box, ("layout.json", content, "application/json"))


def playlist(session, content):
    at = session.on(LEARN)
    (box,) = [one for one in at.file_uploader if one.label == "Open a playlist"]
    ui.enter(at, box, ("playlist.json", content, "application/json"))


def interval(session, low, high):
    """From which k to which areas are taken, on the page Compare; the fields hold both."""
    session.begin(comparison=session.compared)
    at = session.on(ui.COMPARE)
    version = ui.work(at).version
    for name, k in (("from-k", low), ("to-k", high)):
        ui.enter(at, at.number_input(key=f"compare-{name}-{version}"), k)
    return {"interval"}


def population(session, name, content):
    at = session.on(PRIVACY)
    key = f"privacy-population-{ui.work(at).version}-{ui.work(at).view(PrivacyView).uploads}"
    ui.enter(at, at.file_uploader(key=key), (name, content, "text/plain"))
    return {"PrivacyView", "population", "population_origin", "made_with"}


def path(session, typed):
    at = session.on(ui.DATA)
    key = f"place-{ui.work(at).version}"
    at.text_input(key=key).set_value(typed)
    ui.settled(ui.press(ui.go(at), "Open the table"))
    assert at.text_input(key=key).value == typed
    return {"TablePlace", "job", "request"}


def text_of_report(session, name, text):
    at = session.on("pages/report.py")
    ui.enter(at, at.text_area(key=f"report-{name}"), text)
    assert at.text_area(key=f"report-{name}").value == text
    return {"texts"}


def context_file(session, text):
    """A context, on the page Decide; the one that holds stays."""
    session.begin(view=replace(session.before.view(DecideView), part="purpose"))
    at = ui.go(session.on(DECIDE))
    key = f"decide-upload-{ui.work(at).version}-{ui.work(at).view(DecideView).uploads}"
    ui.enter(at, at.file_uploader(key=key), ("context.json", text.encode(), "application/json"))


def exercise_set(session, text):
    """An exercise set, on the page Learn; the one that was open stays."""
    at = session.on(LEARN)
    key = f"exercise-set-{ui.work(at).view(LessonsView).exercises.uploads}"
    at.file_uploader(key=key).set_value(("set.json", text.encode(), "application/json"))
    ui.settled(ui.go(at))
    return {"job", "request"}


def study_file(session, text):
    """A file of a study, on the page Decide; what was found before stays."""
    at = session.on(DECIDE)
    key = f"study-upload-{ui.work(at).version}-{ui.work(at).view(SimulatedView).uploads}"
    ui.enter(at, at.file_uploader(key=key), ("study.json", text.encode(), "application/json"))


PLACES = {
    "builder": built,
    "ks": ks,
    "metric": metric,
    "parameter": parameter,
    "plan": plan,
    "roles": roles,
    "settings": settings,
    "text of a report": text_of_report,
    "interval": interval,
    "k": k_of,
    "layout": layout,
    "lines": lines,
    "missing": missing,
    "other table": other_table,
    "path": path,
    "person": person,
    "playlist": playlist,
    "population": population,
    "tree file": loaded_tree,
    "tree files": tree_files,
    "weight": weight,
}


def in_app(given, session):
    """Do in the app what a case does; returns what it was meant to change."""
    match given:
        case TableFile() if not given.read:
            return loaded(session, given.name, given.content)
        case TableFile():
            return read_otherwise(session, given.name, given.content, **given.read)
        case TreeFile():
            return tree_files(session, given.name, given.content)
        case PlanFile(app=None):
            return plan(session, given.text)
        case ContextFile():
            return context_file(session, given.text)
        case ExerciseFile():
            return exercise_set(session, given.text)
        case StudyFile():
            return study_file(session, given.text)
        case Sweep():
            return ks(session, given.ks)
        case PlanFile() | Screen():
            return PLACES[given.app.place](session, **given.app.what)
    raise AssertionError(f"the app knows no {given}")


def is_handed_on(given):
    """Whether all that a page does with what it is given is to call one function."""
    if isinstance(given, PlanFile | Screen):
        return given.app is None or given.app.place in ("builder", "metric", "weight")
    kinds = TreeFile | ContextFile | StudyFile
    return isinstance(given, kinds) or (isinstance(given, TableFile) and not given.read)


def said_below_the_page(given, work):
    """What is said by the function that a page calls."""
    try:
        match given:
            case PlanFile(app=At(place="builder", what=what)):
                made = set_builder(work, what["column"], what["builder"], what["typed"])
                return made.table.choices[what["column"]].problem
            case PlanFile(app=At(place="metric", what=what)) | Screen(At("metric", what)):
                add_composed(work, what["name"], "leaves", "none")
            case PlanFile(app=At(place="weight", what=what)) | Screen(At("weight", what)):
                set_attribute_weight(work, "age", what["text"])
            case TableFile():
                open_upload(ignore_progress, memoryview(given.content), given.name, ReadSettings())
            case TreeFile():
                (waiting,) = add_imports(work, [(given.name, given.content)]).table.imports
                return waiting.problem
            case PlanFile():
                import_configuration(work, given.text.encode(), "plan")
            case ContextFile():
                load_context(work, given.text.encode())
            case StudyFile():
                load_study(work, build_simulation(work), given.text.encode())
    except KanonError as error:
        return error.sentence
    raise AssertionError(f"{given} was taken")


@SAMPLED
@along("app", every=True, takes=is_handed_on)
def test_what_the_page_calls_says_it(case, session, check):
    check("app", said_below_the_page(case.given, session.kept))


@pytest.mark.sampled(3)
@SAMPLED
@along("app")
def test_the_app_says_it_and_loses_nothing(case, session, check):
    session.begin()
    meant = in_app(case.given, session) or set()
    (said,) = {problem.replace("\u2060", "") for problem in ui.problems(session.at)}
    check("app", said)
    assert session.lost <= meant


def test_every_case_has_a_name_and_a_way_in():
    for section in SECTIONS:
        names = [case.name for case in section.cases]
        assert len(set(names)) == len(names) > 0
        for case in section.cases:
            words = [case.words(route) for route in ("library", "command", "app")]
            assert not all(isinstance(word, Never) for word in words), case.name
