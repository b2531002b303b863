"""How the names in kanon/ read: ``make static`` fails where they leave plain words.

A function that does something begins with a verb, no participle is a name by itself, a variable
says what it holds, and a name is found by searching for it. Not counted are properties, and
mathematical functions of measures, privacy and metrics, which are nouns.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERBS = """
add allow answer apply ask assert attach begin build cancel check choose clear close collect
combine compare compute contains convert copy count create decode delete describe detach detect
download draw drop encode end ensure escape estimate execute expand explain export extract fill
find finish fold format generate get give handle has hash highlight import includes init insert
is iterate join keep list load lock log mark match matches measure merge move must name needs
next normalise number open order parse pick place plan play plot prepare print project propose
put quote raise rank read receive record redo refuse register remove rename render repeat
replace require reset resolve restore retry return round run sample save scale search select
send set should show sort split start step stop store strip suggest sum take trim try undo
unfold update upload validate visit wait walk warn weigh write yield can does
"""
PARTICIPLE = re.compile(
    r"(?<!spe)(?<!ne)(?<!se)(?<!fe)(?<!b)(?<!sh)(?<!inde)(?<!_r)ed$|(^|_)(told|shown|known|given|found"
    r"|chosen|said|undone|kept|taken|written|begun|built|drawn|made|done|gone|lost|left|seen)$"
)
FILLERS = {"found", "each", "one", "done", "some"}
NOUNS = {"measures", "privacy", "metrics"}  # rooms whose public functions are mathematical
# Every part of a kind has these: they are what the kind is, and found by the name of the part.
CONTRACTS = """
add_arguments anonymise at check check_classes check_rows compute_level describe_axis
describe_solution describe_task draw
drop each execute explain_lack fetch head holds_each keep levels levels_of losses make mark
measures of_sum page recount refusal released release run_by_part solution table take to_json
value write
"""
LEAST_VERBS, MOST_PARTICIPLES, MOST_FILLERS, MOST_DEFINITIONS = 0.80, 0.02, 30, 4


def main() -> int:
    known_verbs, contracts = {*VERBS.split()}, {*CONTRACTS.split()}
    functions, fillers = defaultdict(list), Counter()
    verbs = counted = 0
    for path in sorted((ROOT / "kanon").rglob("*.py")):
        room = path.relative_to(ROOT / "kanon").parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
                if node.name.startswith("__") or any("property" in text for text in decorators):
                    continue
                functions[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
                begins = node.name.lstrip("_").split("_")[0] in known_verbs
                if begins or room not in NOUNS or node.name.startswith("_"):
                    counted, verbs = counted + 1, verbs + begins
            elif isinstance(node, ast.Name) and node.id in FILLERS:
                is_assigned = isinstance(node.ctx, ast.Store)
                fillers[f"{path.relative_to(ROOT)}: {node.id}"] += is_assigned
    total = sum(map(len, functions.values()))
    participles = {name: at for name, at in functions.items() if PARTICIPLE.search(name.strip("_"))}
    n_participles = sum(map(len, participles.values()))
    often = {
        name: at
        for name, at in functions.items()
        if len(at) > MOST_DEFINITIONS and name not in contracts
    }
    print(
        f"names: {verbs / counted:.0%} of functions begin with a verb, {n_participles / total:.1%} "
        f"are participles, {fillers.total()} variables say nothing"
    )
    problems = []
    if verbs < LEAST_VERBS * counted:
        problems.append(f"at least {LEAST_VERBS:.0%} of functions have to begin with a verb")
    if n_participles > MOST_PARTICIPLES * total:
        problems += [f"a participle: {name}, {', '.join(at)}" for name, at in participles.items()]
    if fillers.total() > MOST_FILLERS:
        problems += [f"says nothing: {where}, {times}" for where, times in fillers.items() if times]
    problems += [f"defined {len(at)} times: {name}, {', '.join(at)}" for name, at in often.items()]
    print(*problems, sep="\n", end="\n" if problems else "")
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main())
