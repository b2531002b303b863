"""What kanon suggests for a new table: roles by name and values, hierarchies by values."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.values import DistinctCounts
from kanon.hierarchy.suggest import suggest_builder
from kanon.schema import Role, suggest_person, suggest_roles
from kanon.sources.coverage import count_column
from kanon.sources.memory import MemoryTable
from kanon.studio.session.choices import suggest_first_choice
from support.random_tables import examples

NAMES = {
    Role.IDENTIFIER: [
        "Name", "e-mail", "customerId", "Vorname", "Patient", "PatientID", "patient number",
        "Kundennummer", "employee name",
    ],
    Role.QUASI_IDENTIFIER: [
        "date_of_birth", "YearOfBirth", "Postal code", "Gender", "marital-status", "Alter", "PLZ",
        "Geburtsdatum", "Code postal", "Patient Age", "Age of patients", "Patientenalter",
        "country name", "Sex2", "<b>age</b>",
    ],
    Role.SENSITIVE: [
        "Diagnosis", "Diagnose", "salary-class", "icd10", "icd9", "ICD-10 code", "ICD10Code",
        "diag_2", "Hauptdiagnose", "Customer Income", "nom de la maladie",
    ],
    Role.INSENSITIVE: [
        "Patient Weight", "number of patients", "pathology", "remark", "widget", "coverage", "",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "role"), [(name, role) for role, names in NAMES.items() for name in names]
)
def test_a_role_is_suggested_by_the_words_of_a_name(name, role):
    table = pd.DataFrame({name: ["x", "x", "y"]})
    suggestion = suggest_roles(MemoryTable(table).distinct())[name]
    assert suggestion.role is role
    assert suggestion.reason.endswith(".")


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("hospital name", 6, None),
        ("email", 2, None),
        ("mobile operator", 4, None),
        ("Patient", 2, None),
        ("email", 21, Role.IDENTIFIER),
        ("first name", 300, Role.IDENTIFIER),
        ("household id", 12, Role.QUASI_IDENTIFIER),
        ("household id", 3000, Role.IDENTIFIER),
        ("Patient Age", 6, Role.QUASI_IDENTIFIER),
    ],
)
def test_few_values_in_many_records_name_no_person(name, values, role):
    suggestion = suggest_roles({name: DistinctCounts(values, 5000)})[name]
    assert suggestion.decided == (role is not None)
    assert role is None or suggestion.role is role
    if role is None:
        assert f"5\u202f000 records share {values} values" in suggestion.reason


def suggested(table):
    distinct = MemoryTable(table).distinct()
    found = suggest_roles(distinct)
    roles = {name: one.role for name, one in found.items()}
    return found, suggest_person(distinct, roles, len(table))


@pytest.mark.parametrize(
    "name",
    [
        *("Pat.-Nr.", "PatNr", "id", "customerId", "Member no.", "Kundennummer", "case number"),
        *("N° dossier", "Nº", "№ de patient"),
    ],
)
def test_a_number_that_repeats_is_proposed_as_the_person(name):
    who = [n % 70 for n in range(100)]
    table = pd.DataFrame({name: who, "ward no.": [n % 3 for n in who], "name": [*map(str, who)]})
    found, person = suggested(table)
    assert person == name and found[name].role is Role.IDENTIFIER
    assert not found["ward no."].decided, "three wards are no persons"
    for other in (table.drop_duplicates(name), table.assign(**{name: [None, *who[1:]]})):
        assert suggested(other)[1] is None


def test_of_several_numbers_the_one_of_persons_is_proposed():
    table = pd.DataFrame({"case id": [n % 90 for n in range(100)],
                          "patient id": [n % 60 for n in range(100)]})  # fmt: skip
    assert suggested(table)[1] == "patient id"
    assert suggested(table.drop(columns="patient id"))[1] == "case id"


@pytest.mark.parametrize("name", ["number of children", "no of visits", "cano", "Ort"])
def test_a_count_is_no_number_of_persons(name):
    found, person = suggested(pd.DataFrame({name: [n % 30 for n in range(100)]}))
    assert person is None and found[name].role is not Role.IDENTIFIER


@pytest.mark.parametrize("name", ["Hausnummer", "room no.", "phone number"])
def test_a_number_of_a_place_is_no_person(name):
    assert suggested(pd.DataFrame({name: [n % 30 for n in range(100)]}))[1] is None


def test_what_nothing_speaks_for_is_not_decided():
    found, _ = suggested(pd.DataFrame({"widget": ["a", "b"] * 20, "age": ["1", "2"] * 20}))
    assert {name: one.decided for name, one in found.items()} == {"widget": False, "age": True}


def test_a_column_of_values_that_are_all_different_names_its_records():
    table = pd.DataFrame({"code": [f"v{i}" for i in range(50)], "half": ["a", "b"] * 25})
    roles = {
        name: suggestion.role
        for name, suggestion in suggest_roles(MemoryTable(table).distinct()).items()
    }
    assert roles == {"code": Role.IDENTIFIER, "half": Role.INSENSITIVE}


@pytest.mark.parametrize(
    ("values", "builder"),
    [
        (["F", "M"], "suppression"),
        ([str(age) for age in range(17, 91)], "intervals"),
        ([f"{x / 7:.3f}" for x in range(40)], "intervals"),
        ([str(x) for x in range(-30, 30)], "intervals"),
        ([f"{47000 + x}" for x in range(40)], "mask"),
        ([f"0{7000 + x}" for x in range(40)], "mask"),
        ([f"2021-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 20)], "dates"),
        ([f"occupation {chr(97 + x) * (x + 1)}" for x in range(20)], "suppression"),
    ],
)
def test_a_builder_is_suggested_by_the_values(values, builder):
    proposal = suggest_builder(values)
    assert proposal.builder == builder
    assert proposal.reason.endswith(".")


@examples(200)
@given(st.lists(st.text(min_size=1, max_size=8) | st.integers().map(str), min_size=1, max_size=40))
def test_what_is_suggested_for_a_new_column_can_be_used_at_once(cells):
    """Whatever the cells, the first hierarchy covers them or says in a sentence why not."""
    column = pd.Series(cells, dtype=object)
    choice = suggest_first_choice("column", count_column(column))
    assert (choice.tree is None) != (choice.problem is None)
    if choice.tree is not None:
        assert choice.plan is not None


def test_a_text_among_numbers_may_stand_for_missing():
    ages = pd.Series([*map(str, range(20, 80)), "k.A."])
    (note,) = suggest_first_choice("age", count_column(ages)).notes
    assert "'k.A.'" in note and "count as missing" in note
    codes = pd.Series([*map(str, range(10000, 10080)), "01234"])
    assert suggest_first_choice("zip", count_column(codes)).notes == ()
