"""Downloads: their names, the choices before them, and those with original values.

Streamlit tells large downloads apart by length, samples, type and name, across all sessions: with
equal names one session could get another's file. So every name carries a fingerprint of this
session and of all that decides the content.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import streamlit as st

from kanon.base.fingerprint import compute_fingerprint
from kanon.errors import KanonError
from kanon.plan import Plan
from kanon.report.page_code import write_notebook, write_script
from kanon.report.words import PUBLISHABLE_FIGURES
from kanon.settings import get_settings
from kanon.sources.formats import FORMATS
from kanon.sources.separators import describe_separator
from kanon.sources.text_form import FOR_EXCEL, FORMS, PLAIN, TextForm
from kanon.studio.session import state
from kanon.studio.session.parts import RunSettings, StateSection
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.state import attach_widget
from kanon.studio.session.work import SessionState

OF_PLAN = "It can contain every value of the hierarchies and repairs, so it is not for publication."

_MIME = {
    **{kind: form.mime for kind, form in FORMATS.items()},
    "json": "application/json",
    "html": "text/html",
    "graphml": "application/xml",
    "ipynb": "application/x-ipynb+json",
    "py": "text/x-python",
    "zip": "application/zip",
}

Content = str | bytes | Callable[[], bytes]
"""What a file holds, or what makes it when it is downloaded."""


@dataclass(frozen=True)
class OriginalValuesWarning(StateSection):
    """Whether this session was warned about files with original values."""

    at: str = ""  # the key of the button at which it was; empty if it was not

    def keep_for_new_table(self) -> Self:
        return self


def get_file_name(base_name: str, ending: str, depends_on: str) -> str:
    """Name a download by what it is and a fingerprint of session and content."""
    work = state.get_session()
    content = "|".join(
        (
            state.get_download_secret(),
            work.table.digest,
            str(work.version),
            depends_on,
            base_name,
            ending,
        )
    )
    return f"{base_name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}.{ending}"


def _replace_failure(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """Wrap what makes a download, so that a failure logs no cell value."""

    def make_quietly() -> bytes:
        try:
            return make()
        except Exception as error:  # noqa: BLE001  it is raised again, without its text
            raise RuntimeError(f"a download failed ({type(error).__name__})") from None

    return make_quietly


def draw_save_button(
    label: str, data: Content, name: str, key: str, icon: str = "download", **how: Any
) -> None:
    """A button that downloads a file; ``how`` goes to ``st.download_button``."""
    st.download_button(
        label,
        data=_replace_failure(data) if callable(data) else data,
        file_name=name,
        mime=_MIME[name.rpartition(".")[2]],
        icon=f":material/{icon}:",
        on_click="ignore",
        key=key,
        **how,
    )


def draw_plan_button(
    plan: str, base_name: str, key: str, label: str = "Plan", **options: Any
) -> None:
    options = {"help": "Everything that you chose; python -m kanon run repeats it.", **options}
    options["help"] = f"{options['help']} {OF_PLAN}"
    draw_file_button(
        label, plan, base_name, "json", plan, key, **{"icon": "description", **options}
    )


def draw_code_buttons(
    page: str, make_plan: Callable[[], Plan], settings: Mapping[str, object] | None = None
) -> None:
    """Buttons that download what a page shows as Python; ``page`` is a section of page_code.md."""
    try:
        plan = make_plan()
    except KanonError:  # the page says why
        return
    title = state.get_session().table.title
    samples = {sample.title: f"{sample.name}.csv" for sample in SAMPLES.values()}
    arguments = (page, plan, samples.get(title, title), settings or {})
    about = compute_fingerprint(plan.to_json(), repr(arguments[2:]))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("The same in Python:", width="content")
        for label, write, ending in (
            ("Notebook", write_notebook, "ipynb"),
            ("Script", write_script, "py"),
        ):
            make = partial(_encode, write, *arguments)
            draw_file_button(
                label, make, page, ending, about, f"code-{page}-{ending}", icon="code",
                type="tertiary",
                help=f"Makes these figures and files from the table. The plan is in it. {OF_PLAN}",
            )  # fmt: skip


def _encode(write: Callable[..., str], *arguments: object) -> bytes:
    return write(*arguments).encode("utf-8")


def draw_file_button(
    label: str,
    data: Content,
    base_name: str,
    ending: str,
    depends_on: str,
    key: str,
    original: bool = False,
    **how: Any,
) -> None:
    if original:
        label, base_name = f"{label}, original values", mark_original_in_name(base_name, original)
        warned_at = state.get_session().view(OriginalValuesWarning).at
        if not get_settings().original_values_downloads:
            how["help"] = "Files with original values are switched off on this server."
            st.button(label, icon=":material/download:", key=f"{key}-off", disabled=True, **how)
            return
        if not warned_at:
            how = {"on_click": state.update_sections, "args": (OriginalValuesWarning(key),), **how}
            st.button(label, icon=":material/download:", key=f"{key}-ask", **how)
            return
        if warned_at == key:
            st.warning(
                "This file holds original values of your table, perhaps some that only one person "
                "has. It reveals more than a release, and its readers may recognise people. Keep "
                "it as safe as the table. You are not asked again in this session.",
                icon=":material/warning:",
            )
    draw_save_button(label, data, get_file_name(base_name, ending, depends_on), key, **how)


def mark_original_in_name(base_name: str, original: bool) -> str:
    return f"{base_name}-original-values" if original else base_name


def has_original_downloads() -> bool:
    """Whether files with original values are allowed here and this session was warned."""
    warned_at = state.get_session().view(OriginalValuesWarning).at
    return get_settings().original_values_downloads and bool(warned_at)


def draw_neutral_choice(name: str, kind: str = "csv") -> bool:
    if FORMATS[kind].cells != "text":
        return False
    return st.checkbox(
        "Neutralise formulas",
        key=f"{name}-neutral",
        help="A spreadsheet that opens a CSV runs cells that begin like a formula (= + - @ or a "
        "tab). This puts an apostrophe in front of them, which alters those cells; numbers stay "
        "as they are. In XLSX such cells are always marked as text, and none is altered.",
    )


def draw_order_choice(work: SessionState, name: str) -> str:
    order = work.settings.row_order
    st.checkbox(
        "Keep the table's order of rows",
        **attach_widget(
            f"{name}-order-{work.version}-{order}",
            order == "table",
            "row_order",
            into=RunSettings,
            read=lambda keep: "table" if keep else "released",
        ),
        help="Otherwise rows are sorted by what they show, so that their order says nothing. The "
        "table's order can reveal values: if it is sorted by age, every age lies between those of "
        "the rows above and below it.",
    )
    return order


def draw_form_choice(name: str, kind: str, upload: TextForm) -> TextForm:
    """Choose separator and encoding where there is a choice; by default as the upload."""
    table_format = FORMATS[kind]
    if table_format.cells != "text" or table_format.separator:
        plain = replace(PLAIN, labels=upload.labels)
        return table_format.set_separator(upload) if table_format.separator else plain
    forms = {"upload": upload, **FORMS}
    if upload == PLAIN:
        del forms["plain"]
    titles = {
        "upload": f"As the upload ({_describe_form(upload)})",
        "excel": f"For Excel ({_describe_form(FOR_EXCEL)})",
        "plain": f"Plain ({_describe_form(PLAIN)})",
    }
    name_chosen = st.selectbox(
        "Separator and encoding",
        list(forms),
        format_func=lambda form: titles[form],
        key=f"{name}-form",
        width=300,
        help="Cells keep their texts, so a decimal comma stays where a value was not generalised. "
        "Excel expects semicolons where the decimal mark of the system is a comma.",
    )
    return forms[name_chosen]


def draw_publish_choice(key: str, **how: Any) -> list[str]:
    """Choose figures of the table to publish although the release does not show them."""
    return st.multiselect(
        "Publish also",
        list(PUBLISHABLE_FIGURES),
        format_func=lambda name: PUBLISHABLE_FIGURES[name],
        key=key,
        help="Each of these reveals more about the original table than the release does, and "
        "several together reveal even more. Leave this empty to publish none.",
        **how,
    )


def _describe_form(form: TextForm) -> str:
    return f"{describe_separator(form.separator)}, {form.encoding.removesuffix('-sig').upper()}"
