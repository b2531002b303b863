"""The documentation: every page is reached, nothing is fetched from elsewhere, figures are true."""

import ast
import importlib.util
import io
import json
import re
import shutil
import struct
import subprocess
import sys
import tokenize
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from kanon.cli.main import main
from kanon.experiments.sweep import sweep
from kanon.hierarchy.files import read_hierarchy
from kanon.hierarchy.intermediate_costs import INTERMEDIATES
from kanon.measures.linkage import find_matches, measure_linkage
from kanon.metrics import PUBLISHED, metric_named, multipliers, potentials
from kanon.plan import Plan
from kanon.plan_parts import MetricPlan, build_composed_metrics
from kanon.privacy.model import rounded
from kanon.run import Run, run
from kanon.sources.reading import read_table
from kanon.studio.jobs.stored_table import start_exposure
from kanon.studio.privacy import attacker
from kanon.studio.privacy.disclosure import describe_disclosure
from kanon.studio.session.table_loading import open_sample
from kanon.studio.widgets.numbers import (
    list_release_numbers,
    list_table_numbers,
    list_worst_numbers,
)
from support import browser as by
from support import rooms
from support.paths import ROOT

DOCS = ROOT / "docs"
BUILT = ROOT / "build" / "docs"
TEXTS = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
MEASURED = re.compile(r"utility-\w+-\w+\.png")  # drawn by benchmarks/learning/pictures.py
"""Pictures of docs/figures/utility.md, which its command draws."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(name: str) -> str:
    """A page in one line, without emphasis."""
    return " ".join((DOCS / name).read_text("utf-8").replace("**", "").split())


# --- pages, links, pictures -------------------------------------------------------------------
def listed(page: Path) -> list[Path]:
    """The pages that a page has in the navigation, in their order."""
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [page.parent / f"{line}.md" for line in lines if line and not line.startswith(":")]


def test_every_page_is_in_the_navigation_once():
    top = listed(DOCS / "index.md")
    reached = [DOCS / "index.md", *top, *(inner for page in top if page.exists()
                                          for inner in listed(page))]  # fmt: skip
    assert len(reached) == len(set(reached))
    assert set(reached) == set(DOCS.rglob("*.md"))


def links(text: str) -> list[str]:
    """The relative targets of links and pictures, code left out."""
    text = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in found if not re.match(r"[a-z]+:|#", target)]


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_what_a_page_links_to_exists(page):
    paths = [page.parent / target.split("#")[0] for target in links(page.read_text("utf-8"))]
    assert [path for path in paths if not path.exists()] == []


def test_pictures_are_those_that_the_browser_tests_make():
    used = {
        page.parent / target
        for page in TEXTS
        for target in links(page.read_text("utf-8"))
        if target.endswith(".png") and not MEASURED.fullmatch(Path(target).name)
    }
    made = {DOCS / "pictures" / f"{title.lower()}.png" for title in by.QUESTIONS}
    assert {path.resolve() for path in used} == made == set((DOCS / "pictures").glob("*.png"))
    for path in made:
        content = path.read_bytes()
        assert struct.unpack(">I", content[16:20])[0] == by.VIEWPORT["width"]
        assert len(content) < 200_000


@cache
def dashboard() -> str:
    """All code that the dashboard takes its words from."""
    files = [*(ROOT / "kanon").rglob("*.py"), *(ROOT / "kanon" / "studio").rglob("*.js")]
    return "\n".join(path.read_text("utf-8") for path in files)


# --- the site ---------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def site() -> Path:
    """The built site; ``make nightly`` has built it already, as this does where it is not there."""
    if not (BUILT / "index.html").exists():
        shutil.rmtree(BUILT, ignore_errors=True)
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", BUILT.parent / "doctrees"]
        subprocess.run([*command, DOCS, BUILT], cwd=ROOT, check=True)
    return BUILT


class Loaded(HTMLParser):
    """What a browser fetches when it opens a page, links that somebody has to follow left out."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        wanted = {"a": (), "link": ("href",)}.get(tag, ("src", "srcset", "data", "action", "href"))
        self.found += [value for name, value in attrs if name in wanted and value]


def from_elsewhere(text: str) -> list[str]:
    """What is fetched from another host."""
    fetched = [*Loaded(text).found, *re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s]+)", text)]
    return [each for each in fetched if re.match(r"(https?:)?//", each)]


@pytest.mark.nightly
def test_nothing_is_fetched_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    styles = sorted((site / "_static").rglob("*.css"))
    assert len(pages) > 50 and styles
    fetching = {
        path.name: found
        for path in [*pages, *styles]
        if (found := from_elsewhere(path.read_text("utf-8")))
    }
    assert fetching == {}
    scripts = "".join(path.read_text("utf-8") for path in (site / "_static").rglob("*.js"))
    assert re.findall(r"(?:fetch|import|sendBeacon)\(\s*[\"'`](?:https?:)?//", scripts) == []


# --- the library ------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def configuration() -> ModuleType:
    """docs/conf.py."""
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def asked(configuration) -> str:
    """The rooms and modules that the reference lists."""
    texts = [path.read_text("utf-8") for path in (DOCS / "reference" / "library").glob("*.md")]
    return " ".join(names for text in texts for names in configuration.LISTED.findall(text))


def test_the_reference_lists_modules_that_exist_each_once(configuration, asked):
    for name in asked.split():
        assert configuration.modules(name.removeprefix("-")), f"{name} is nowhere in kanon/"
    shown = configuration.listed(asked)
    assert len(shown) == len(set(shown)) > 80
    packages = {name.rpartition(".")[0] for name in shown}
    first = (DOCS / "reference" / "library" / "index.md").read_text("utf-8")
    recommended = set(re.findall(r"`(kanon\.[a-z_.]+)\.\w+`", first))
    assert len(recommended) > 4 and recommended <= packages | set(shown)


def test_everything_public_in_the_reference_has_a_docstring(configuration, asked):
    bare = []
    for name in configuration.listed(asked):
        module = importlib.import_module(name)
        for key, value in vars(module).items():
            if key.startswith("_") or getattr(value, "__module__", "") != name:
                continue
            members = vars(value).items() if isinstance(value, type) else ()
            public = [
                (f"{key}.{at}", member)
                for at, member in members
                if isinstance(member, FunctionType | property) and not at.startswith("_")
            ]
            bare += [f"{name}.{at}" for at, what in [(key, value), *public] if not what.__doc__]
    assert bare == []


@pytest.mark.nightly
def test_the_reference_shows_docstrings_and_examples(site):
    text = (site / "reference" / "library" / "runs.html").read_text("utf-8")
    assert 'id="kanon.run.execution.run"' in text and "&gt;&gt;&gt; " in text
    assert 'id="kanon.run.execution._' not in text


# --- names in docstrings and comments ---------------------------------------------------------
def split_prose(text: str) -> tuple[str, list[str]]:
    """The code of a module in one text, and its docstrings and comments."""
    bodies = [node.body for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Module
              | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]  # fmt: skip
    alone = [statement for body in bodies for statement in body if isinstance(statement, ast.Expr)]
    docstrings = {(statement.lineno, statement.col_offset) for statement in alone}
    code, prose = [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_string = token.type == tokenize.STRING and token.start in docstrings
        (prose if is_string or token.type == tokenize.COMMENT else code).append(token.string)
    return " ".join(code), prose


@pytest.mark.nightly
def test_docstrings_and_comments_name_only_what_exists():
    paths = sorted((ROOT / "kanon").rglob("*.py"))
    split = {path: split_prose(path.read_text("utf-8")) for path in paths}
    files = {path.name for path in ROOT.glob("[!.]*/**/*.*")} | {path.name for path in TEXTS}
    others = [path.read_text("utf-8") for path in (ROOT / "kanon").rglob("*.js")]
    known = set(re.findall(r"\w+", " ".join([*(code for code, _ in split.values()), *others])))
    dangling = []
    for path, (_, prose) in split.items():
        text = " ".join(prose)
        for name in re.findall(r"``([^`]+)``|:\w+:`~?([\w.]+)`", text):
            name = "".join(name)
            if re.fullmatch(r"[\w/-]+\.(py|js|md|toml|html)", name):
                dangling += [(path.name, name)] * (Path(name).name not in files)
            elif re.fullmatch(r"[A-Za-z_][\w.]*(\(\))?", name) and not name.endswith(
                (".json", ".csv")
            ):
                dangling += [(path.name, name)] * (not known.issuperset(re.findall(r"\w+", name)))
    assert dangling == []


# --- figures in the text ----------------------------------------------------------------------
class Census:
    """The sample's table, the tutorial's plan, and what comes of it."""

    def __init__(self) -> None:
        self.table = read_table(ROOT / "sample_data" / "census.csv").table
        self.plan = Plan.load(DOCS / "tutorial-plan.json")
        self.done = run(self.plan, self.table, DOCS)

    def also(self, model: dict) -> Run:
        """The release with one more model."""
        content = json.loads(self.plan.to_json())
        content["privacy"].append(model)
        return run(Plan.from_content(content), self.table, DOCS)


@pytest.fixture(scope="module")
def census() -> Census:
    return Census()


def shown(done) -> dict[str, str]:
    """The numbers of a release as the page Anonymise shows them, by their labels."""
    numbers = [*list_release_numbers(done), *list_worst_numbers(done, "health")]
    return {one.label.split(" ↑")[0].split(" ↓")[0]: plainly(one.value) for one in numbers}


def plainly(text: str) -> str:
    """A text of the dashboard as one writes it."""
    return text.replace("\u202f%", " %").replace("\u202f", ",").replace("\\", "").replace("**", "")


def test_the_plan_of_the_tutorial_is_what_the_dashboard_starts_with(census):
    plan, work = census.plan, open_sample("census", 1)
    assert {name: chosen.role for name, chosen in plan.columns.items()} == dict(work.table.roles)
    chosen, settings = plan.algorithm, work.settings
    assert (chosen.name, chosen.metric) == (settings.algorithm, settings.metric)
    assert plan.k == settings.k


def test_the_exposure_in_the_tutorial(census):
    text = prose("tutorial.md")
    seen = start_exposure(open_sample("census", 1))
    least, unique, classes = (plainly(one.value) for one in list_table_numbers(seen))
    records = f"{seen.exposure.unique:,}"
    assert f"k is {least}: {unique} of the records, {records} persons" in text
    assert f"There are {classes} classes" in text
    assert min(seen.unique_without, key=seen.unique_without.get) == "age"
    assert f"without age, only {seen.unique_without['age']} persons would be unique" in text


def test_the_release_in_the_tutorial(census):
    text, done = prose("tutorial.md"), census.done
    for label, value in shown(done).items():
        assert f"| {label} | {value}" in text, label
    found = done.measures
    for said in (
        f"distribution is {found['distribution_change']:.3f},",
        f"go together is {found['association_change']:.3f}.",
        f"two or three columns is {found['query_error_percent']:.1f} %.",
        plainly(describe_disclosure(done.recoding.released, "health")).split(" Anyone")[0],
        "it is “none”, the most frequent value in the table",
    ):
        assert said in text, said
    assert plainly(describe_disclosure(done.recoding.released, "health")).endswith(
        " for all of them."
    )


def test_the_slider_and_the_comparison_in_the_tutorial(census):
    text = prose("tutorial.md")
    ks = [2, 3, 5, 10, 20, 50, 100]
    curves = sweep(census.plan, census.table, ks, folder=DOCS)
    for row in curves[curves["metric"] == "nllm"].to_dict("records"):
        diverse, distance = row["entropy_l"], row["t_norm1"] / 2
        line = (
            f"| {row['k']} | {row['alteration_nllm']:.1f} % | {row['classes']:,} "
            f"| {rounded(diverse, up=False)} | {rounded(distance, up=True)} |"
        )
        assert line in text, line
    here = curves[curves["k"] == 5].set_index("metric")
    for name in PUBLISHED:
        row = here.loc[name]
        line = (
            f"| {metric_named(name).card.title} | {row[f'alteration_{name}']:.1f} % "
            f"| {row['mean_alteration']:.1f} % | {row['root_percent']:.1f} % |"
        )
        assert line in text, line
    best = here["mean_alteration"].sort_values()
    assert [*best.index[:2]] == ["ncp", "nllm"] and best.iloc[1] - best.iloc[0] < 0.05


def test_the_attack_in_the_tutorial(census):
    text, done = prose("tutorial.md"), census.done
    classes, released = done.prepared.classes, done.recoding.released
    known = classes.attributes[: attacker.FIRST_KNOWN]
    given = attacker.select_facts(attacker.choose_person_by(classes, known), known)
    assert f"You know a man of {given['age']} in {given['region']}" in text
    assert given["sex"] == "Male"
    whole = attacker.get_baseline(classes.sensitive_named("health"))
    before, after = (find_matches(one, given, "health") for one in (classes, released))
    for sentence in attacker.describe_attack(before, after, whole, 0)[:2]:
        for part in re.findall(r"[\d.,]+ (?:records? match|%)|“[a-z ]+”", plainly(sentence)):
            assert part in text, part
    everybody = [measure_linkage(classes, one, known, "health") for one in (classes, released)]
    told = plainly(attacker.describe_all_attacks(classes, known, *everybody, whole))
    before, after = re.findall(r"([\d.]+ %)", told)[:2]
    assert f"single out {before} of the persons before and {after} after" in text


def test_l_diversity_in_the_tutorial(census):
    text = prose("tutorial.md")
    diverse = {"model": "entropy-l-diversity", "l": 2, "column": "health"}
    assert json.dumps(diverse) in text
    plain, mended = census.done, census.also(diverse)
    for label in ("Alteration", "Classes", "Worst l, health", "Worst t, health"):
        both = [shown(done)[label].split(" of ")[0] for done in (plain, mended)]
        assert f"| {label} | {both[0]} | {both[1]} |" in text, label
    paid = mended.measures["alteration"]["nllm"] - plain.measures["alteration"]["nllm"]
    assert f"{paid:.1f} percentage points more alteration" in text


def test_the_commands_of_the_tutorial_say_what_stands_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    text = (DOCS / "tutorial.md").read_text("utf-8")
    commands = re.findall(r"^    python -m kanon (.*)$", text, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["measure", "run", "sweep"]
    for command in commands[:2]:
        words = [re.sub(r"^(?=\w+\.(?:csv|json)$)", f"{tmp_path}/", w) for w in command.split()]
        assert main(words) == 0
    told = capsys.readouterr()
    said = plainly(told.out).replace(",", " ")
    for line in ("min_k: 1", "unique_records: 7 196"):
        assert line in said and f"`{line}`" in text
    release = re.search(r"^    (30 000 records; .*)$", text, re.MULTILINE)[1]
    assert release.replace(",", " ") in (said + plainly(told.err).replace(",", " "))
    assert "173 classes" in told.err and "'household-size'" in told.err
    written = read_table(tmp_path / "released.csv").table
    assert len(written) == 30_000


RISES = [
    ("age", "23", "20-29"), ("age", "23", "20-39"), ("age", "23", "*"),
    ("zip", "47601", "4760*"), ("zip", "47601", "*"), ("sex", "F", "*"),
]  # fmt: skip


def test_the_costs_on_the_page_about_metrics():
    text = prose("explanation/metrics.md")
    folder = ROOT / "hierarchies" / "hospital"
    columns = dict.fromkeys(column for column, *_ in RISES)
    trees = {column: read_hierarchy(folder / f"{column}.csv").hierarchy for column in columns}
    others = build_composed_metrics({
        f"{INTERMEDIATES[name].title}, none": MetricPlan(intermediate=name, multiplier="none")
        for name in ("other-leaves", "other-leaves-normalised")
    })  # fmt: skip
    for metric in (*map(metric_named, PUBLISHED), *others.values()):
        depths = dict(zip(trees, potentials(metric, tuple(trees.values())), strict=True))
        costs = []
        for column, low, high in RISES:
            node, depth = trees[column].node_of, depths[column]
            costs.append(f"{abs(float(depth[node[high]] - depth[node[low]])):.3f}")
        assert f"| {metric.card.title} | {' | '.join(costs)} |" in text
    tall, _, flat = multipliers(metric_named("wnllm"), tuple(trees.values()))
    assert f"1 − 27/55 = {tall:.3f}" in text and f"1 − 1/55 = {flat:.3f}" in text


def test_the_metrics_of_the_page_are_made_as_it_says():
    text = prose("explanation/metrics.md")
    costs = {
        "harmonic-levels": "harmonic levels", "levels": "levels", "leaves": "lost leaves",
        "leaves-normalised": "lost leaves / all leaves",
    }  # fmt: skip
    for name in PUBLISHED:
        one = metric_named(name)
        assert f"| {one.card.title} | {costs[one.intermediate]} | {one.multiplier} |" in text


@pytest.mark.nightly
def test_the_picture_of_the_rooms_is_that_of_the_imports():
    assert rooms.PICTURE.read_text("utf-8") == rooms.picture(), "run make rooms"


def test_the_figures_of_a_published_one_stand_on_the_page_that_its_row_names():
    checked = 0
    for row in (DOCS / "explanation" / "published-figures.md").read_text("utf-8").splitlines():
        if not row.startswith("| ") or row.startswith("| published |"):
            continue
        _, where, near, verdict = (cell.strip() for cell in row.strip("|").split(" |"))
        assert verdict, row
        linked = re.findall(r"\(((?:\.\./\w+/)?[\w-]+\.md)\)", where)
        told = "".join(prose(f"explanation/{name}") for name in linked)
        for number in re.findall(r"\d[\d,]*(?:\.\d+)?(?<!,)", near) if told else []:
            wanted = "?".join(re.escape(part) for part in number.partition(",") if part)
            assert re.search(rf"(?<![\d.]){wanted}(?!\d)", told), (number, row)
            checked += 1
    assert checked > 80
