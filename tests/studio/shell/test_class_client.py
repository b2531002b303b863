"""The visitor without a browser of the load test, who speaks Streamlit's protocol."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.reliability.classroom import hold_class
from benchmarks.reliability.client import Client, ClientError


def draw(*elements, fragment="", status=ForwardMsg.FINISHED_SUCCESSFULLY):
    """The messages of a run that draws these elements, each given as its kind and its fields."""
    begin, end = ForwardMsg(), ForwardMsg()
    begin.new_session.name = "app"
    begin.metadata.run.fragment_ids.extend([fragment] if fragment else [])
    end.script_finished = status
    messages = [begin]
    for place, (kind, fields) in enumerate(elements):
        message = ForwardMsg()
        message.metadata.delta_path.extend([0, place])
        widget = getattr(message.delta.new_element, kind)
        for name, value in fields.items():
            if isinstance(value, list):
                getattr(widget, name).extend(value)
            else:
                setattr(widget, name, value)
        messages.append(message)
    return [*messages, end]


@pytest.fixture
def client():
    return Client(socket=None)


def take(client, *elements, **how):
    for message in draw(*elements, **how):
        client.take(message)


BOX = ("selectbox", {"id": "$$ID-1-box", "options": ["a", "b"], "default": 1})
STEP = ("slider", {"id": "$$ID-2-k", "options": ["2", "5"], "set_value": True, "raw_value": ["5"]})
K = ("number_input", {"id": "$$ID-3-n", "default": 4.0})


def test_a_run_gives_widgets_their_states(client):
    take(client, BOX, STEP, K, ("checkbox", {"id": "$$ID-4-flag", "default": True}))
    box, step, k, flag = client.states.values()
    assert (box.string_value, list(step.string_array_value.data)) == ("b", ["5"])
    assert (k.int_value, flag.bool_value) == (4, True)
    assert client.get_widget("slider", "k").options == ["2", "5"]
    with pytest.raises(ClientError, match="The page has no slider x"):
        client.get_widget("slider", "x")


def test_a_chosen_value_stays_until_the_server_sets_another(client):
    take(client, BOX)
    client.states["$$ID-1-box"].string_value = "a"
    take(client, BOX)
    assert client.states["$$ID-1-box"].string_value == "a"
    take(client, ("selectbox", {**BOX[1], "set_value": True, "raw_value": "b"}))
    assert client.states["$$ID-1-box"].string_value == "b"
    take(client, K)
    assert list(client.states) == ["$$ID-3-n"], "what is on the page no more has no state"


def test_a_part_that_is_drawn_again_ends_no_run_of_the_page(client):
    take(client, ("heading", {"body": "One"}), K)
    ended = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
    take(client, ("heading", {"body": "Two"}), fragment="f", status=ended)
    assert client.begun == client.ended == 1
    assert client.read_headings() == ["Two"] and client.get_widget("number_input", "n")
    take(client, BOX, status=ForwardMsg.FINISHED_EARLY_FOR_RERUN)
    assert (client.begun, client.ended) == (2, 1), "another run follows"


def test_a_timer_asks_once_for_its_part_and_not_while_the_page_is_drawn():
    sent = []

    class Socket:
        async def send(self, message):
            sent.append(BackMsg.FromString(message).rerun_script)

    async def wait():
        client = Client(Socket(), being_drawn=True)
        timer = {"id": "$$ID-5-t", "component_name": "kanon_timer", "json": '{"seconds": 0}'}
        for message in draw(K, ("bidi_component", timer)):
            if message.HasField("delta"):
                message.delta.fragment_id = "f"
            client.take(message)
        await asyncio.sleep(0.05)
        assert not sent and list(client.timers) == ["$$ID-5-t"]
        status = ForwardMsg()
        status.session_status_changed.script_is_running = False
        client.take(status)
        async with client.changed:
            client.changed.notify_all()
        await client.timers["$$ID-5-t"]
        take(client, K)
        assert not client.timers, "the page has no timer any more"

    with ThreadPoolExecutor() as threads:
        threads.submit(asyncio.run, wait()).result()
    (asked,) = sent
    number, trigger = asked.widget_states.widgets
    assert (asked.fragment_id, number.id) == ("f", "$$ID-3-n")
    assert json.loads(trigger.json_trigger_value) == [{"event": "over", "value": 0}]


def test_exceptions_and_problems_are_errors_and_notices_are_not(client):
    wrong, note = {"body": "no", "format": Alert.ERROR}, {"body": "so", "format": Alert.INFO}
    error = {"type": "ValueError", "message": "x"}
    take(client, ("alert", wrong), ("alert", note), ("exception", error))
    assert client.errors == ["problem: no", "exception: ValueError: x"]
    assert client.read_alerts() == ["no", "so"]


@pytest.mark.nightly
def test_a_small_class_has_no_errors():
    with ThreadPoolExecutor() as threads:  # a browser's event loop may run in this one
        figures = threads.submit(hold_class, sessions=2, seconds=60, seed=7, browsers=0).result()
    assert figures.errors == []
    assert {"come in", "choose a lesson", "take a step"} <= figures.waits.keys()
    assert all(0 < wait < 60 for waits in figures.waits.values() for wait in waits)
    assert max(server for _, (server, _) in figures.memory) > 50
