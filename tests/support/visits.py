"""A table of visits, several of a person."""

import pandas as pd

from kanon.studio.session.table_loading import open_uploaded_table
from support.dashboard import as_bytes
from support.works import with_fields

VISITS = pd.DataFrame(
    {
        "patient": ["Ana"] * 5 + ["Ben", "Cyd", "Dan", "Eve", "Fay"],
        "town": ["Ulm"] * 5 + ["Horb"] * 5,
        "disease": ["flu", "cold", "flu", "flu", "cold"] * 2,
    }
)


def known():
    return with_fields(
        open_uploaded_table(as_bytes(VISITS, "csv"), "visits.csv", 1), person="patient"
    )
