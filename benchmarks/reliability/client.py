"""A visitor without a browser, who speaks Streamlit's protocol.

It sends what a browser would send, draws nothing, and keeps the page's elements. Unlike a browser
it keeps no messages of earlier runs, so the server sends every element in full.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Origin, Subprotocol

__all__ = ["Client", "ClientError", "fetch_files"]

PATIENCE = 60.0
"""Seconds without an answer after which a client gives up."""


class ClientError(Exception):
    """The server gave no answer, or not the page that was asked for."""


@dataclass
class Client:
    """A tab that is open at the server.

    Attributes
    ----------
    socket
        Its connection.
    pages
        The id of each page, by its path.
    page
        The id of the page that is open.
    elements
        The page's elements by their place, of the last run that drew the whole page.
    states
        What each widget shows, by its id.
    timers
        The timers that have parts of the page drawn again, by their id.
    errors
        Exceptions and problems that a page has shown.
    """

    socket: ClientConnection
    pages: dict[str, str] = field(default_factory=dict)
    page: str = ""
    elements: dict[tuple[int, ...], Element] = field(default_factory=dict)
    states: dict[str, WidgetState] = field(default_factory=dict)
    timers: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    begun: int = 0
    ended: int = 0
    part_only: bool = False
    being_drawn: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    reader: asyncio.Task[None] | None = None

    @classmethod
    async def open_page(cls, address: str, page: str) -> Client:
        """Connect as a browser does that was given the address of a page."""
        host = address.removeprefix("http://")
        try:
            socket = await connect(
                f"ws://{host}/_stcore/stream", subprotocols=[Subprotocol("streamlit")],
                origin=Origin(address), max_size=None, ping_interval=None, open_timeout=PATIENCE,
            )  # fmt: skip
        except (OSError, WebSocketException) as error:
            raise ClientError(f"No connection: {error}") from None
        client = cls(socket)
        client.reader = asyncio.create_task(client._read_messages())
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.context_info.url = f"{address}/{page}"
        await client._send_and_wait(message)
        await client._say_that_tab_is_new()
        return client

    async def close(self) -> None:
        """Close the tab."""
        self._stop_timers(self.timers)
        await self.socket.close()
        if self.reader is not None:
            await self.reader

    # --- what a visitor does --------------------------------------------------------------------
    async def go(self, page: str) -> None:
        """Choose a page in the navigation."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self.pages[page]
        self._stop_timers(self.timers)
        await self._send_and_wait(message)

    async def type_number(self, key: str, number: float) -> None:
        """Type a number in a field."""
        field = self.get_widget("number_input", key)
        whole = field.data_type == NumberInput.INT
        value = {"int_value": int(number)} if whole else {_NUMBER: number}
        await self._change(WidgetState(id=field.id, **value))

    async def press(self, key: str) -> None:
        """Press a button."""
        button = self.get_widget("button", key)
        if button.disabled:
            raise ClientError(f"The button {key} cannot be pressed.")
        await self._change(WidgetState(id=button.id, trigger_value=True))

    async def choose(self, key: str, option: str) -> None:
        """Choose an option, by its text, in a list."""
        box = self.get_widget("selectbox", key)
        if option not in box.options:
            raise ClientError(f"{key} has no {option}.")
        await self._change(WidgetState(id=box.id, string_value=option))

    async def slide(self, key: str, option: str) -> None:
        """Move a slider to one of its options."""
        state = WidgetState(id=self.get_widget("slider", key).id)
        state.string_array_value.data.append(option)
        await self._change(state)

    async def wait_for(self, condition: Callable[[], bool], problem: str) -> None:
        """Wait until the page is complete and the condition holds; otherwise say the problem."""
        await self._wait(lambda: self.begun == self.ended and condition(), problem)

    # --- what a visitor sees --------------------------------------------------------------------
    def get_widget(self, kind: str, key: str) -> Any:
        """The widget of that kind and key on the page."""
        for element in self.elements.values():
            if element.WhichOneof("type") == kind:
                widget = getattr(element, kind)
                if widget.id.endswith(f"-{key}"):
                    return widget
        raise ClientError(f"The page has no {kind} {key}.")

    def read_headings(self) -> list[str]:
        """The texts of the headings of the page, from top to bottom."""
        return [
            element.heading.body
            for _, element in sorted(self.elements.items())
            if element.WhichOneof("type") == "heading"
        ]

    def read_alerts(self) -> list[str]:
        """The texts of the notices of the page."""
        kinds = ((element.WhichOneof("type"), element) for element in self.elements.values())
        return [element.alert.body for kind, element in kinds if kind == "alert"]

    async def _say_that_tab_is_new(self) -> None:
        """Answer as tab.js does in a new tab while work of closed tabs waits on the server."""
        for element in self.elements.values():
            tab = element.bidi_component
            if tab.component_name == "kanon_tab" and json.loads(tab.json).get("waiting"):
                await self._change(_make_trigger(tab.id, "before", ""))
                return

    # --- what is sent ---------------------------------------------------------------------------
    async def _change(self, state: WidgetState) -> None:
        if "trigger" not in str(state.WhichOneof("value")):
            self.states[state.id] = state
        await self._send_and_wait(self._tell_of(state))

    def _tell_of(self, state: WidgetState, part: str = "") -> BackMsg:
        message = BackMsg()
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.fragment_id = part
        message.rerun_script.widget_states.widgets.extend(
            [*(known for known in self.states.values() if known.id != state.id), state]
        )
        return message

    async def _send_and_wait(self, message: BackMsg) -> None:
        before = self.begun
        try:
            await self._send(message)
        except ConnectionClosed:
            raise ClientError("The connection was dropped.") from None
        await self._wait(lambda: self.ended > before and self.ended == self.begun)

    async def _send(self, message: BackMsg) -> None:
        self.being_drawn = True
        await self.socket.send(message.SerializeToString())

    async def _draw_again_after(self, timer: str, seconds: float, part: str) -> None:
        """Ask for the page or a part of it after a while, as timer.js does."""
        await asyncio.sleep(seconds)
        async with self.changed:
            await self.changed.wait_for(lambda: not self.being_drawn)
        with suppress(ConnectionClosed):  # the reader says so
            await self._send(self._tell_of(_make_trigger(timer, "over", 0), part))

    def _stop_timers(self, parts: Iterable[str]) -> None:
        for part in list(parts):
            if (timer := self.timers.pop(part, None)) is not None:
                timer.cancel()

    async def _wait(self, condition: Callable[[], bool], problem: str = "No answer") -> None:
        def is_over() -> bool:
            return condition() or (self.reader is not None and self.reader.done())

        async with self.changed:
            try:
                await asyncio.wait_for(self.changed.wait_for(is_over), PATIENCE)
            except TimeoutError:
                raise ClientError(f"{problem} within {PATIENCE:.0f} s.") from None
        if not condition():
            raise ClientError("The connection was dropped.")

    # --- what is received -----------------------------------------------------------------------
    async def _read_messages(self) -> None:
        try:
            async for data in self.socket:
                self.take(ForwardMsg.FromString(data))
                async with self.changed:
                    self.changed.notify_all()
        except ConnectionClosed as error:
            self.errors.append(f"The connection was dropped: {error}")
        finally:
            async with self.changed:
                self.changed.notify_all()

    def take(self, message: ForwardMsg) -> None:
        """Take a message of the server as a browser does."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.part_only = bool(message.metadata.run.fragment_ids)
            if not self.part_only:
                self._stop_timers(self.timers)
                self.elements = {}
                self.begun += 1
        elif kind == "navigation":
            pages = message.navigation.app_pages
            self.pages = {page.url_pathname: page.page_script_hash for page in pages}
            self.page = message.navigation.page_script_hash
        elif kind == "delta":
            if message.delta.WhichOneof("type") == "new_element":
                self._take_element(tuple(message.metadata.delta_path), message.delta.new_element)
                self._take_timer(message.delta.new_element, message.delta.fragment_id)
        elif kind == "session_status_changed":
            self.being_drawn = message.session_status_changed.script_is_running
        elif kind == "script_finished":
            self._end_run(message.script_finished)
        elif kind in ("page_not_found", "session_event"):
            self.errors.append(f"The server sent {kind}.")

    def _end_run(self, status: int) -> None:
        if status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.errors.append("The page could not be read.")
        if status == ForwardMsg.FINISHED_SUCCESSFULLY:
            self.ended = self.begun
            ids = {state.id for state in map(read_state, self.elements.values()) if state}
            self.states = {id_: state for id_, state in self.states.items() if id_ in ids}

    def _take_timer(self, element: Element, part: str) -> None:
        timer = element.bidi_component
        if timer.component_name == "kanon_timer":
            self._stop_timers([timer.id])
            waiting = self._draw_again_after(timer.id, json.loads(timer.json)["seconds"], part)
            self.timers[timer.id] = asyncio.create_task(waiting)

    def _take_element(self, place: tuple[int, ...], element: Element) -> None:
        self.elements[place] = element
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"exception: {element.exception.type}: {element.exception.message}")
        elif kind == "alert" and element.alert.format == Alert.ERROR:
            self.errors.append(f"problem: {element.alert.body}")
        state = read_state(element)
        if state and (getattr(element, str(kind)).set_value or state.id not in self.states):
            self.states[state.id] = state


def _make_trigger(component: str, event: str, value: object) -> WidgetState:
    said = json.dumps([{"event": event, "value": value}])
    return WidgetState(id=_make_trigger_id(component, "events"), json_trigger_value=said)


_NUMBER, _TEXT, _FLAG = "double_value", "string_value", "bool_value"
_PLAIN = {"number_input": _NUMBER, "text_input": _TEXT, "text_area": _TEXT, "checkbox": _FLAG}
"""Widgets that hold one value, and where their state has it."""


def read_state(element: Element) -> WidgetState | None:
    """What a widget shows when it is drawn; None for kinds that a class does not use."""
    kind = element.WhichOneof("type") or ""
    if kind not in (*_PLAIN, "selectbox", "button_group", "slider"):
        return None
    widget = getattr(element, kind)
    state = WidgetState(id=widget.id)
    if kind in _PLAIN:
        field = "value" if widget.set_value else "default"
        if kind == "checkbox" or widget.HasField(field):
            whole = kind == "number_input" and widget.data_type == NumberInput.INT
            value = getattr(widget, field)
            setattr(state, "int_value" if whole else _PLAIN[kind], int(value) if whole else value)
    elif kind == "selectbox":
        if widget.set_value and widget.HasField("raw_value"):
            state.string_value = widget.raw_value
        elif not widget.set_value and widget.HasField("default"):
            state.string_value = widget.options[widget.default]
    elif kind == "slider" and not widget.options:
        state.double_array_value.data.extend(widget.value if widget.set_value else widget.default)
    else:
        texts = [option.content if kind == "button_group" else option for option in widget.options]
        chosen = [texts[int(place)] for place in widget.default]
        kept = widget.raw_values if kind == "button_group" else widget.raw_value
        state.string_array_value.data.extend(kept if widget.set_value else chosen)
    return state


async def fetch_files(addresses: Sequence[str]) -> None:
    """Fetch files of one server as a browser does that comes for the first time.

    As a browser's, its connection stays open from one file to the next.
    """
    await asyncio.to_thread(_fetch, addresses)


def _fetch(addresses: Sequence[str]) -> None:
    connection = HTTPConnection(urlsplit(addresses[0]).netloc, timeout=PATIENCE)
    with closing(connection):
        for address in addresses:
            try:
                connection.request(
                    "GET", urlsplit(address).path, headers={"Accept-Encoding": "gzip"}
                )
                answer = connection.getresponse()
                answer.read()
            except (OSError, HTTPException) as error:
                raise ClientError(f"{address} was not sent: {error}") from None
            if answer.status != 200:
                raise ClientError(f"{address} was not sent: {answer.status} {answer.reason}")
