"""The answer of a tab about its earlier work: a browser may send anything."""

import pytest

from kanon.studio.shell import reconnect


@pytest.mark.parametrize("said", [None, {}, {"before": ""}, {"before": 7}, {"before": None}])
def test_a_tab_without_earlier_work_begins_anew(monkeypatch, said):
    done = []
    monkeypatch.setattr(reconnect.state, "get_widget_value", lambda key: said)
    monkeypatch.setattr(reconnect.state, "mark_settled", lambda: done.append("settled"))
    monkeypatch.setattr(reconnect.state, "restore_session", lambda token: done.append(token))
    reconnect._receive_token()
    assert done == ["settled"]
