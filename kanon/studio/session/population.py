"""The population that a release is judged by."""

from __future__ import annotations

import pandas as pd

from kanon.studio.session.work import Work


def population_used(work: Work) -> pd.DataFrame | None:
    """The population that counts: that of the page Privacy, if nobody knows who is in the table."""
    people = work.purpose.population
    if work.purpose.context.attacker == "prosecutor" or people is None:
        return None
    return people.table
