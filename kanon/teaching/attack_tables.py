"""Small tables of invented people, one for each attack, with a release."""

import io
from collections.abc import Mapping

import pandas as pd

from kanon.hierarchy import build
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from kanon.teaching.case import Case, build_case, replace_release
from kanon.teaching.prevention import get_assumed_model
from kanon.teaching.small_tables import raise_to_levels

_ROLES = {
    "name": Role.IDENTIFIER,
    "age": Role.QUASI_IDENTIFIER,
    "zip": Role.QUASI_IDENTIFIER,
    "town": Role.QUASI_IDENTIFIER,
    "trade": Role.INSENSITIVE,
    "disease": Role.SENSITIVE,
    "test": Role.SENSITIVE,
}

_LINKAGE = """name;age;zip;trade;disease
Nora;31;47101;baker;asthma
Otto;34;47103;teacher;influenza
Pia;38;47102;nurse;diabetes
Quirin;42;47111;teacher;influenza
Rosa;45;47112;baker;hypertension
Sven;47;47113;carpenter;diabetes
Tara;52;47205;nurse;asthma
Udo;55;47202;baker;hypertension
Vera;58;47203;teacher;influenza
"""

_REGISTER = """name;age;zip;trade
Nora;31;47101;baker
Otto;34;47103;teacher
Pia;38;47102;nurse
Quirin;42;47111;teacher
Rosa;45;47112;baker
Sven;47;47113;carpenter
Tara;52;47205;nurse
Udo;55;47202;baker
Vera;58;47203;teacher
Walt;36;47102;baker
Xenia;44;47111;nurse
Yves;51;47201;carpenter
"""

_HOMOGENEITY = """name;age;zip;disease
Anton;23;47601;heart disease
Berta;27;47602;heart disease
Cesar;29;47605;heart disease
Dora;31;47611;influenza
Emil;34;47613;asthma
Frida;38;47613;diabetes
Gustav;41;47701;influenza
Hanna;44;47704;asthma
Igor;48;47706;heart disease
"""

_SKEWNESS = """name;age;zip;test
Janna;21;51001;positive
Karl;24;51002;positive
Lina;26;51003;positive
Malte;28;51004;negative
Nele;32;51001;negative
Oskar;35;51002;negative
Paula;37;51005;positive
Ralf;39;51003;negative
Selma;42;51104;negative
Till;45;51102;negative
Ulla;46;51101;negative
Viktor;49;51105;positive
"""

_BACKGROUND = """name;age;zip;disease
Wanda;22;61001;influenza
Xaver;25;61002;influenza
Yara;29;61004;tuberculosis
Zeno;33;61012;influenza
Alma;36;61013;asthma
Bodo;37;61011;diabetes
Clea;41;61102;diabetes
Dario;46;61104;asthma
Elsa;48;61101;influenza
"""

_MINIMALITY = """name;town;disease
Fritz;Ahlen;hepatitis
Gerda;Ahlen;hepatitis
Heiko;Beckum;influenza
Imke;Beckum;asthma
Jonas;Beckum;gout
Kira;Celle;influenza
Lutz;Celle;asthma
"""

_DOWNCODING = """name;age;disease
Maren;31;influenza
Nils;38;asthma
Okka;38;diabetes
Piet;45;asthma
Quint;45;gout
Ruth;45;influenza
"""

_CITIZENS = "name;age\nMaren;31\nNils;38\nOkka;38\nPiet;45\nQuint;45\nRuth;45\nSteen;38\n"

PRESETS: Mapping[str, str] = {
    "linkage": _LINKAGE,
    "homogeneity": _HOMOGENEITY,
    "skewness": _SKEWNESS,
    "background": _BACKGROUND,
    "minimality": _MINIMALITY,
    "downcoding": _DOWNCODING,
}
"""Per attack, a table that shows it, as CSV."""


def build_attack_case(kind: str) -> Case:
    """The table that comes with kanon for an attack, with a release where it succeeds."""
    frame = _read_csv_text(PRESETS[kind])
    registers = {"linkage": _REGISTER, "downcoding": _CITIZENS}
    register = _read_csv_text(registers[kind]) if kind in registers else None
    people = frame if register is None else register  # everyone in the table is in the register
    schema = Schema({name: role for name, role in _ROLES.items() if name in frame})
    if kind == "minimality":
        town = build.groups([{"North": ["Ahlen", "Beckum"]}, {"*": ["North", "Celle"]}])
        case = build_case(frame, schema, {"town": town}, k=2)
        return replace_release(case, 2, get_assumed_model(case))
    trees = {"age": build.intervals(sorted({*people["age"]}), [10])}
    if kind == "downcoding":
        return build_case(frame, schema, trees, register=register)
    trees["zip"] = build.mask(sorted({*people["zip"]}), [4, 3])
    recoding = raise_to_levels(MemorySource(frame, schema, trees).classes, {"age": 1, "zip": 2})
    return build_case(frame, schema, trees, recoding, register=register)


def _read_csv_text(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), sep=";", dtype="str")
