"""A download that is pressed while its page is drawn anew still comes."""

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from kanon.studio.shell import serving

SESSION = "dontcare"  # what Streamlit calls the session of a plain script


@pytest.fixture
def manager(monkeypatch):
    for name in (
        "_remove_orphaned_deferred_callables", "_get_inactive_file_ids", "clear_session_refs"
    ):  # fmt: skip
        monkeypatch.setattr(MediaFileManager, name, getattr(MediaFileManager, name))
    serving.keep_old_addresses()
    return MediaFileManager(MemoryMediaFileStorage("/media"))


def drawn(manager, content):
    """The address of a button on a page that is drawn anew."""
    manager.clear_session_refs()
    manager.remove_orphaned_files()  # an earlier run, which this one has interrupted, ends
    address = manager.add_deferred(lambda: content, "text/csv", "1.1", "released.csv")
    manager.remove_orphaned_files()
    return address


def made(manager, address):
    return manager.read_file(manager.execute_deferred(address).split("/")[-1]).content


def test_the_file_of_a_button_is_made_after_the_page_was_drawn_anew(manager):
    addresses = [drawn(manager, f"k = {k}".encode()) for k in range(20)]
    assert [made(manager, address) for address in addresses] == [
        f"k = {k}".encode() for k in range(20)
    ]


def test_an_old_address_goes_in_time(manager, monkeypatch):
    old = drawn(manager, b"old")
    now = drawn(manager, b"new")
    later = serving.time.monotonic() + serving.GRACE + 1
    monkeypatch.setattr(serving.time, "monotonic", lambda: later)
    manager.remove_orphaned_files()
    with pytest.raises(MediaFileStorageError):
        manager.execute_deferred(old)
    assert made(manager, now) == b"new"


def test_nothing_outlives_its_page(manager):
    addresses = [drawn(manager, b"old"), drawn(manager, b"new")]
    manager.clear_session_refs(SESSION)
    manager.remove_orphaned_files()
    for address in addresses:
        with pytest.raises(MediaFileStorageError):
            manager.execute_deferred(address)


def drawn_file(manager, content):
    """The address of a file on a page that is drawn anew, while others' pages are drawn too."""
    manager.clear_session_refs()
    manager.remove_orphaned_files()
    manager.remove_orphaned_files()
    address = manager.add(content, "text/csv", "1.2", "released.csv", is_for_static_download=True)
    manager.remove_orphaned_files()
    return address.split("/")[-1]


def test_a_file_stays_while_its_page_waits_to_be_drawn_anew(manager, monkeypatch):
    old, new = drawn_file(manager, b"old"), drawn_file(manager, b"new")
    manager.clear_session_refs()
    manager.remove_orphaned_files()
    assert [manager.read_file(name).content for name in (old, new)] == [b"old", b"new"]
    assert drawn_file(manager, b"new") == new
    later = serving.time.monotonic() + serving.GRACE + 1
    monkeypatch.setattr(serving.time, "monotonic", lambda: later)
    for _ in range(2):
        manager.remove_orphaned_files()
    assert manager.read_file(new).content == b"new", "it is on the page"
    assert manager.read_file(old) is None


def test_no_file_outlives_its_session(manager):
    names = [drawn_file(manager, b"old"), drawn_file(manager, b"new")]
    manager.clear_session_refs(SESSION)
    assert [manager.read_file(name) for name in names] == [None, None]
