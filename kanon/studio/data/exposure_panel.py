"""How exposed the records of a table are, before anything is done."""

import streamlit as st

from kanon.charts.exposure import (
    class_size_chart,
    class_size_table,
    singling_out_chart,
    singling_out_table,
)
from kanon.sources.exposure import describe_suppressed
from kanon.studio.jobs.stored_table import exposed
from kanon.studio.session import state
from kanon.studio.session.engine_classes import classes_kept, said_kept, uncounted
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import counting
from kanon.studio.widgets.numbers import of_table
from kanon.studio.widgets.picture import PictureSettings, picture


def exposure(work: Work, incomplete: int) -> None:
    if not work.table.quasi_identifiers:
        st.subheader("How exposed it is")
        st.info("Choose at least one quasi-identifier below to see how exposed the records are.")
    elif incomplete == work.table.records.n_records and work.table.missing == "drop-records":
        st.subheader("How exposed it is")
        st.info(
            "Every record lacks a quasi-identifier, so dropping those records leaves none. "
            "Keep them with missing as a value, or choose other roles."
        )
    elif uncounted(work):
        st.subheader("How exposed it is")
        counting(work)
    else:
        table = work.table
        asked = (tuple(table.quasi_identifiers), table.missing, table.person)
        with st.spinner("Counting how exposed the records are"):
            key = (table.digest, work.version, *asked)
            seen = state.remembered("exposed", key, lambda: exposed(work))
        numbers = of_table(seen)
        widths = [len(number.label) + 6 for number in numbers]  # and the help beside it
        for place, number in zip(st.columns(widths), numbers, strict=True):
            place.metric(number.label, number.value, help=number.help)
        if seen.suppressed:
            st.caption(plain(describe_suppressed(seen.suppressed)))
        about = f"{work.table.quasi_identifiers}{work.table.missing}{work.table.person}"
        settings = PictureSettings.of_table(work)
        before, without = seen.exposure, seen.unique_without
        picture(
            class_size_chart(before),
            lambda: class_size_table(before),
            "class-sizes",
            about,
            settings,
        )
        kept = classes_kept(work)
        if kept is not None:
            st.caption(
                f"{said_kept(kept)} Which column singles people out most is not counted by "
                "itself; which columns do together can be looked for below."
            )
        if without:
            picture(
                singling_out_chart(without, before),
                lambda: singling_out_table(without, before),
                "singling-out",
                about,
                settings,
            )
