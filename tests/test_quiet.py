"""What Streamlit would ask others about this machine is not asked."""

from __future__ import annotations

from streamlit import config, net_util
from streamlit.web.server.server_util import is_url_from_allowed_origins

from kanon.studio.quiet import keep_quiet


def test_a_page_of_another_site_makes_nobody_ask_for_our_address(monkeypatch):
    asked = []
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("outside"))
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: None)
    assert config.get_option("server.enableCORS")
    assert not is_url_from_allowed_origins("http://other.example")
    assert asked == ["outside"], "so there is something to keep from"
    keep_quiet()
    assert not is_url_from_allowed_origins("http://other.example")
    assert asked == ["outside"]
    assert is_url_from_allowed_origins("http://localhost:8501")
