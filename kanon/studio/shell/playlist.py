"""The playlist that is open: its bar on every page, and the menu that opens and saves one."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from kanon.base.formatting import count_noun
from kanon.errors import KanonError, PlanError
from kanon.studio.session import state
from kanon.studio.session.parts import SharedView
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.shell.link import build_link, open_link, read_link
from kanon.studio.widgets.controls import draw_upload_field, listen_to_keys, open_closing_popover
from kanon.studio.widgets.files import draw_file_button
from kanon.teaching.playlist import (
    Link,
    Playlist,
    create_playlist,
    load_built_in_playlists,
    read_playlist,
)

_FILE = "playlist-file"


def draw_playlist() -> None:
    """Draw the bar of the open playlist, which a presenter's remote moves on every page."""
    shared = state.get_session().shared
    if shared.playlist is None:
        return
    slides, at = shared.playlist.slides, shared.slide
    last = len(slides)
    now = f"{at} of {last}: {slides[at - 1].title}" if 0 < at <= last else f"{last} steps"
    with st.sidebar, st.container(border=True, key="playlist"):
        st.markdown(f"**{escape_markdown(shared.playlist.title)}**  \n{escape_markdown(now)}")
        with st.container(horizontal=True, gap="xsmall"):
            if st.button("Back", key="playlist-back", disabled=at <= 1):
                _show_slide(min(at, last + 1) - 1)
            label = "Next" if at else "Start"
            if st.button(label, key="playlist-next", type="primary", disabled=at >= last):
                _show_slide(at + 1)
            close = {"playlist": None, "slide": 0, "on_projector": False}
            st.button(
                "Close", key="playlist-close", type="tertiary", on_click=state.update_fields,
                args=(SharedView,), kwargs=close,
            )  # fmt: skip
        listen_to_keys(
            "playlist-keys", {"PageUp": ["playlist-back"], "PageDown": ["playlist-next"]}
        )


def _show_slide(at: int) -> None:
    """Open what a link names; a sample that is open with these settings stays as it is."""
    playlist = state.get_session().shared.playlist
    if playlist is None:
        return
    state.set_session(state.get_session_without_message())  # it was about what was on screen
    link = playlist.slides[at - 1]
    parts = link.address_parts
    if link.page != "learn":
        here = urlsplit(build_link(state.get_session(), f"/{link.page}"))
        if not parts.items() <= dict(parse_qsl(here.query)).items():
            open_link(urlencode(parts), parts)
        parts = {}
    work = state.get_session()
    shared = replace(work.shared, slide=at, on_projector=link.projector)
    state.set_session(work.replace_sections(shared))
    st.switch_page(f"pages/{link.page}.py", query_params=parts)


def draw_playlist_menu(visible: Link | None, check_lesson: Callable[[Link], object]) -> None:
    """Open, extend and save playlists; ``visible`` names what the page *Learn* shows."""
    work = state.get_session()
    playlist, key = work.shared.playlist, f"{_FILE}-{work.shared.uploads}"

    def take_file() -> None:
        file = state.get_widget_value(key)
        if file:
            state.try_update(
                lambda: _open_playlist(_check_links(read_playlist(file.getvalue()), check_lesson)),
                problem_at=_FILE,
            )

    def put(new: Playlist | None) -> None:
        state.set_session(_open_playlist(new))

    def change_links(*links: Link) -> None:
        title = playlist.title if playlist else "My playlist"
        put(create_playlist(title, links) if links else None)

    with open_closing_popover(
        "Playlist", f"playlist-menu-{key}", icon=":material/playlist_play:", width="stretch"
    ):
        st.markdown(
            "A lesson plan as a list of links, each to a page with its table, algorithm, k and "
            "step. Page down and page up, the keys of a presenter remote, go on and back. A link "
            "to a sample replaces the table of this tab."
        )
        with st.container(horizontal=True):
            for built_in in load_built_in_playlists():
                st.button(built_in.title, on_click=put, args=(built_in,))
        draw_upload_field("Open a playlist", 1, type="json", key=key, on_change=take_file)
        state.show_message_at(_FILE)
        links = playlist.links if playlist else ()
        st.button(
            "Add what the page shows", icon=":material/playlist_add:", on_click=change_links,
            args=(*links, visible), disabled=visible is None, key="playlist-add",
            help="Not on your own table: no link has your data.",
        )  # fmt: skip
        if playlist is None:
            return
        st.caption(f"{playlist.title}: {count_noun(len(links), 'link')}")
        st.button("Remove the last link", on_click=change_links, args=links[:-1])
        text = playlist.to_json()
        draw_file_button("Save the playlist", text, "playlist", "json", text, "playlist-save")


def _open_playlist(playlist: Playlist | None) -> SessionState:
    work = state.get_session()
    return work.replace_sections(
        replace(work.shared, playlist=playlist, slide=0, uploads=work.shared.uploads + 1)
    )


def _check_links(playlist: Playlist, check_lesson: Callable[[Link], object]) -> Playlist:
    """Check that each link opens what it names."""
    for place, link in enumerate(playlist.links, 1):
        try:
            if link.page == "learn":
                check_lesson(link)
            elif link.address_parts:
                read_link(state.get_session(), link.address_parts)
        except KanonError as error:
            raise PlanError(f"Link {place}: {error.sentence}") from None
    return playlist
