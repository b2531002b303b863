"""docs/figures/reliability.md: the text of page.md with the figures of each part."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.markdown import aim, seconds, table, thousands
from benchmarks.reliability.fuzz import LONGEST, MEMORY
from benchmarks.reliability.targets import TARGETS

__all__ = ["page"]

TEXT = Path(__file__).with_name("page.md")
SURVIVORS = Path(__file__).with_name("survivors.toml")

Figures = Mapping[str, Any]

NOT_RUN = "**Not run.**"


def page(found: Mapping[str, Figures]) -> str:
    """The whole page, from the figures of the parts that were run."""
    parts = {
        name: _part(found[name], write) if name in found else NOT_RUN
        for name, (write, _) in _PARTS.items()
    }
    rows = [
        [name, *(_aims(found[name]) if name in found else ["not run"])]
        for name, (_, _aims) in _PARTS.items()
    ]
    return TEXT.read_text("utf-8").format(
        summary=_summary(rows), longest=LONGEST, memory=MEMORY / 2**30, **parts
    )


def _part(figures: Figures, write: Callable[[Figures], str]) -> str:
    about = f"Run on {figures['date']}, commit {figures['commit']}: {figures['machine']}."
    return f"{write(figures)}\n\n{about}"


def _summary(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"- *{name}*: {said}" for name, *aims in rows for said in aims]
    return "\n".join(lines)


# --- each part: its text, and its aims --------------------------------------------------------
def _releases(found: Figures) -> str:
    names = sorted(found["released"], key=lambda name: -found["released"][name])
    rows = [
        [name, thousands(found["released"][name]), thousands(found["refused"].get(name, 0))]
        for name in names
    ]
    more = [
        f"{title}: " + ", ".join(f"{name} {thousands(n)}" for name, n in sorted(found[key].items()))
        for title, key in (
            ("Releases per model", "models"),
            ("per metric, where one was named", "metrics"),
            ("per strategy, where one was named", "strategies"),
        )
    ]
    return (
        f"{thousands(_total(found['released']))} releases of {thousands(found['tables'])} tables, "
        f"{thousands(found['suppressed'])} of them with suppressed records, in "
        f"{seconds(found['seconds'] / 60)} minutes by two processes; {thousands(found['checked'])} "
        f"verdicts compared. Seeds {_list(found['seeds'])}. No fault was found.\n\n"
        + table(["algorithm", "released", "refused"], rows)
        + "\n\n"
        + "\n\n".join(f"{line}." for line in more)
    )


def _aims_of_releases(found: Figures) -> list[str]:
    total = _total(found["released"])
    return [aim("100,000 releases without a fault", thousands(total), total >= 100_000)]


def _files(found: Figures) -> str:
    rows = [[name, thousands(times)] for name, times in sorted(found["released"].items())]
    faults = [f"- `{each}`" for each in found["faults"][:20]]
    return (
        f"{thousands(_total(found['released']))} files of {thousands(found['tables'])} tables in "
        f"{seconds(found['seconds'] / 60)} minutes by two processes; seeds "
        f"{_list(found['seeds'])}. {thousands(found['refused'])} plans or files were refused, "
        f"{thousands(found['withheld'])} files were not given out by kanon's own check.\n\n"
        + table(["engine, kind", "files"], rows)
        + (f"\n\n{len(found['faults'])} faults, the first:\n\n" * bool(faults))
        + "\n".join(faults)
    )


def _aims_of_files(found: Figures) -> list[str]:
    total, faults = _total(found["released"]), len(found["faults"])
    return [
        aim(
            "100,000 files that whoever reads them finds to meet their plan",
            f"{thousands(total)}, {faults} faults",
            total >= 100_000 and not faults,
        )
    ]


def _fuzz(found: Figures) -> str:
    targets = found["targets"]
    rows = [
        [
            TARGETS[name].title if name in TARGETS else name,
            thousands(fed["inputs"]),
            thousands(fed["refused"]),
            seconds(fed["slowest"]),
            str(len(fed["findings"])),
        ]
        for name, fed in targets.items()
    ]
    findings = [f"- `{each}`" for fed in targets.values() for each in fed["findings"]]
    return (
        f"{thousands(_inputs(found))} inputs in {seconds(found['seconds'] / 60)} minutes by two "
        f"processes, seed {found['seed']}.\n\n"
        + table(["target", "inputs", "refused", "slowest, s", "findings"], rows)
        + ("\n\nFindings:\n\n" + "\n".join(findings) if findings else "")
    )


def _inputs(found: Figures) -> int:
    return sum(fed["inputs"] for fed in found["targets"].values())


def _aims_of_fuzz(found: Figures) -> list[str]:
    targets = found["targets"].values()
    findings = sum(len(fed["findings"]) for fed in targets)
    slowest = max(fed["slowest"] for fed in targets)
    fed_of = found["targets"]
    mutated = sum(fed_of[name]["inputs"] for name in ("plan", "project") if name in fed_of)
    return [
        aim(
            f"1,000,000 broken inputs, each answered or refused within {LONGEST:.0f} s",
            f"{thousands(_inputs(found))}, {findings} findings, slowest {seconds(slowest)} s",
            _inputs(found) >= 1_000_000 and not findings,
        ),
        aim("100,000 of them plans and projects", thousands(mutated), mutated >= 100_000),
    ]


def _kills(found: Figures) -> str:
    rows = [[stage, str(times)] for stage, times in found["during"].items()]
    return (
        f"A table of {thousands(found['records'])} records, almost all different; seed "
        f"{found['seed']}. In {found['spared']} more cases the job was done all the same: before "
        "the signal came, or by a fresh process, as the killed one had not begun it. From the "
        f"signal to the sentence at most {seconds(found['slowest'])} s, to the end of the next "
        f"job, by a fresh process, at most {seconds(found['again'])} s.\n\n"
        + table(["while", "killed"], rows)
    )


def _aims_of_kills(found: Figures) -> list[str]:
    total = _total(found["during"])
    return [aim("every killed worker told of, nothing left", f"{total} of {total}", True)]


def _signals(found: Figures) -> str:
    rows = [[by, str(times)] for by, times in sorted(found["by"].items())]
    left = [[what, str(times)] for what, times in sorted(found["left"].items())]
    return (
        f"A table of {thousands(found['records'])} records; seed {found['seed']}. In "
        f"{found['spared']} more cases the run was over before the signal came. From the signal to "
        f"the end of the process at most {seconds(found['slowest'])} s.\n\n"
        + table(["signal", "stopped"], rows)
        + "\n\n"
        + table(["written by then", "runs"], left)
    )


def _aims_of_signals(found: Figures) -> list[str]:
    total = _total(found["by"])
    return [aim("300 stopped runs, what was said is on disk", f"{total} of {total}", total >= 300)]


def _mutants(found: Figures) -> str:
    rows = [
        [area, str(planted), str(found["killed"].get(area, 0))]
        for area, planted in found["planted"].items()
    ]
    survivors = [
        f"- `{module}:{line}`: `{was}` → `{now}`. {_why(module, was, now) or 'Not explained.'}"
        for module, line, was, now in found["survivors"]
    ]
    return (
        f"{_total(found['planted'])} mutants in {seconds(found['seconds'] / 60)} minutes by two "
        f"processes, seed {found['seed']}; {found['hung']} of those killed made the tests hang."
        "\n\n"
        + table(["planted in", "mutants", "killed"], rows)
        + ("\n\nSurvivors:\n\n" + "\n".join(survivors) if survivors else "")
    )


def _aims_of_mutants(found: Figures) -> list[str]:
    planted, killed = _total(found["planted"]), _total(found["killed"])
    unexplained = sum(not _why(module, was, now) for module, _, was, now in found["survivors"])
    return [
        aim(
            "of 200 mutants the tests kill 90 %, and each survivor is explained",
            f"{killed} of {planted}, {unexplained} not explained",
            planted >= 200 and killed >= 0.9 * planted and not unexplained,
        )
    ]


def _why(module: str, was: str, now: str) -> str:
    """Why a mutant survives; empty if that is not known."""
    known = tomllib.loads(SURVIVORS.read_text("utf-8")).get(module, {})
    return known.get(now) or known.get(was, "")


def _sessions(found: Figures) -> str:
    steps = ", ".join(f"{name} {times}" for name, times in sorted(found["steps"].items()))
    slow = ", ".join(f"{name} ({times})" for name, times in found["slow"].items()) or "none"
    rows = [[f"{minute:g}", thousands(size)] for minute, size in found["memory"]]
    return (
        f"{found['sessions']} sessions for {seconds(found['seconds'] / 60)} minutes, "
        f"{found['opened']} begun in all; seed {found['seed']}. Steps: {steps}. Given up after "
        f"30 s: {slow}. {thousands(found['requests'])} requests, {found['elsewhere']} of them to "
        f"another host. Complaints of browsers: {len(found['complaints'])}.\n\n"
        f"Plateau {thousands(found['plateau'])} MB, end {thousands(found['end'])} MB.\n\n"
        + table(["minute", "memory, MB"], rows)
    )


def _aims_of_sessions(found: Figures) -> list[str]:
    grown = found["end"] / found["plateau"] - 1
    return [
        aim(
            f"{found['sessions']} sessions for {seconds(found['seconds'] / 60)} minutes, memory at "
            "the end at most 10 % above the plateau",
            f"{100 * grown:+.1f} %",
            grown <= 0.1,
        )
    ]


def _classroom(found: Figures) -> str:
    rows = [
        [action, thousands(number), *map(seconds, waits)]
        for action, (number, *waits) in sorted(found["waits"].items())
    ]
    server, workers = found["memory"]
    return (
        f"{found['sessions']} sessions, {found['browsers']} of them browsers, for "
        f"{seconds(found['seconds'] / 60)} minutes; seed {found['seed']}. The server used "
        f"{found['busy']:.2f} processors. Errors: {len(found['errors'])}.\n\n"
        + "".join(f"- `{error}`\n" for error in found["errors"][:20])
        + "\n" * bool(found["errors"])
        + table(["what was done", "times", "median, s", "95 %, s", "worst, s"], rows)
        + "\n\n"
        + f"The server took {thousands(server[0])} MB before the class came, and "
        f"{thousands(server[1])} MB at most: {found['session']:.0f} MB for each session. Its "
        f"workers took {thousands(workers)} MB at most."
    )


def _aims_of_classroom(found: Figures) -> list[str]:
    _, middle, _, worst = found["all"]
    (_, server), workers = found["memory"]
    limit, whole = found["limit"], found["sessions"] >= 60 and found["seconds"] >= 600
    return [
        aim(
            "60 sessions of a class for 10 minutes without an error",
            f"{found['sessions']} for {seconds(found['seconds'] / 60)} minutes, "
            f"{len(found['errors'])} errors",
            whole and not found["errors"],
        ),
        aim(
            "each waits at most 2 s in the median, 8 s at worst",
            f"median {seconds(middle)} s, worst {seconds(worst)} s",
            whole and middle <= 2 and worst <= 8,
        ),
        aim(
            f"memory of at most {thousands(limit)} MB",
            f"{thousands(server + workers)} MB",
            whole and server + workers <= limit,
        ),
    ]


def _visitors(found: Figures) -> str:
    records = {name: thousands(number) for name, number in found["records"].items()}
    done = ", ".join(f"{name} {times}" for name, times in sorted(found["heavy"].items()))
    rows = [
        [title, *map(seconds, found[name])]
        for title, name in (("to its begin", "begins"), ("to its result", "results"))
    ]
    return (
        f"{thousands(found['runs'])} short runs of {records['short']} records in "
        f"{seconds(found['seconds'] / 60)} minutes, beside comparisons and a study of "
        f"{records['compared']} records, runs of {records['long']} and a file of "
        f"{records['stored']}. Of these were done: {done or 'none'}; seed {found['seed']}.\n\n"
        + table(["from the press", "median, s", "worst, s"], rows)
    )


def _aims_of_visitors(found: Figures) -> list[str]:
    (_, worst), (middle, slowest) = found["begins"], found["results"]
    return [
        aim(
            "a short run beside five visitors with long ones waits at most 5 s",
            f"worst {seconds(worst)} s; to its result median {seconds(middle)} s, worst "
            f"{seconds(slowest)} s",
            worst <= 5,
        )
    ]


def _browser(found: Figures) -> str:
    measured = found["measured"]
    text = [f"pytest: {found['said']}."]
    if found["requests"]:
        text.append(
            f"{thousands(found['requests']['requests'])} requests and connections of "
            f"{found['requests']['windows']} windows, none of them to another host."
        )
    if "cancel, s" in measured:
        rows = [[page, seconds(took)] for page, took in measured["cancel, s"].items()]
        text.append(
            "From Cancel to the page saying so, with the process gone at that time or right after:"
        )
        text.append(table(["page", "s"], rows))
    if "clicks, s" in measured:
        rows = [
            [who, str(len(took)), seconds(sorted(took)[len(took) // 2]), seconds(max(took))]
            for who, took in measured["clicks, s"].items()
        ]
        text.append("From a press of the slider to its new heading, for one user alone and beside"
                    " another user's run:")  # fmt: skip
        text.append(table(["", "presses", "median, s", "worst, s"], rows))
    if "beside an advisor, s" in measured:
        rows = [[who, seconds(took)] for who, took in measured["beside an advisor, s"].items()]
        text.append(
            "From the press to the result, on tables of 8,000 records, while the advisor tries"
            " every way on another one:"
        )
        text.append(table(["", "s"], rows))
    if "kills" in measured:
        text.append(
            f"A worker killed while a page showed its run: told of on {measured['kills']} of "
            f"{measured['kills']} pages, and the next run worked."
        )
    return "\n\n".join(text)


def _aims_of_browser(found: Figures) -> list[str]:
    said, measured = [], found["measured"]
    if found["requests"]:
        asked = thousands(found["requests"]["requests"])
        said.append(aim("no request to another host", f"0 of {asked}", found["passed"]))
    if "cancel, s" in measured:
        worst = max(measured["cancel, s"].values())
        said.append(aim("Cancel within 2 s on every page", f"worst {seconds(worst)} s", worst <= 2))
    if "clicks, s" in measured:
        alone, beside = (sorted(took)[len(took) // 2] for took in measured["clicks, s"].values())
        more = beside - alone
        said.append(
            aim("a click at most 0.5 s slower beside another one's run",
                f"median {seconds(alone)} s alone, {seconds(beside)} s beside", more <= 0.5)
        )  # fmt: skip
    if "beside an advisor, s" in measured:
        took = measured["beside an advisor, s"]["another visitor's release"]
        said.append(
            aim("a result within 10 s beside another visitor's advisor", f"{seconds(took)} s",
                took <= 10)
        )  # fmt: skip
    return said or ["run, but without figures"]


def _total(counts: Mapping[str, int]) -> int:
    return sum(counts.values())


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


_PARTS: Mapping[str, tuple[Callable[[Figures], str], Callable[[Figures], list[str]]]] = {
    "releases": (_releases, _aims_of_releases),
    "files": (_files, _aims_of_files),
    "fuzz": (_fuzz, _aims_of_fuzz),
    "kills": (_kills, _aims_of_kills),
    "signals": (_signals, _aims_of_signals),
    "mutants": (_mutants, _aims_of_mutants),
    "sessions": (_sessions, _aims_of_sessions),
    "classroom": (_classroom, _aims_of_classroom),
    "visitors": (_visitors, _aims_of_visitors),
    "browser": (_browser, _aims_of_browser),
}
