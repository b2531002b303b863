"""The Adult census table, fetched from its own place only when somebody asks for it."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from kanon.errors import TableError
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile, read_table

ADULT_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data"
ADULT_SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
ADULT_NAME = "adult.data"
ADULT_LICENCE = "CC BY 4.0"
ADULT_ATTRIBUTION = (
    "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository."
    " https://doi.org/10.24432/C5XW20."
)

COLUMNS = (
    *("sex", "age", "race", "marital-status", "education", "native-country"),
    *("workclass", "occupation", "salary-class"),
)
"""The nine columns that the papers use, in their order."""

_STORED = (
    "age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship,"
    " race, sex, capital-gain, capital-loss, hours-per-week, native-country, salary-class\n"
)
_SECONDS = 20
_INSTEAD = "adult.data can be uploaded instead"


def fetch_adult(url: str = ADULT_URL, known_hash: str = ADULT_SHA256) -> TableFile:
    """Download the Adult table; nothing of it stays on the disk."""
    if url == ADULT_URL:
        url = os.environ.get("KANON_ADULT_URL") or url
    return parse_adult(
        _download(url, known_hash), "Fetched from the UCI Machine Learning Repository."
    )


def parse_adult(content: bytes, origin: str) -> TableFile:
    """The nine columns of the papers from UCI's ``adult.data``, which has no header."""
    file = read_table(_STORED.encode() + content, "adult.csv", ReadSettings(",", "utf-8", ("?",)))
    return replace(
        file,
        name=ADULT_NAME,
        table=file.table[list(COLUMNS)],
        found=(origin, *file.found[1:]),
        missing={name: count for name, count in file.missing.items() if name in COLUMNS},
    )


def _download(url: str, known_hash: str) -> bytes:
    import pooch
    import requests

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    # retrieve() checks the hash before the file gets its name.
    with tempfile.TemporaryDirectory(prefix="kanon-") as folder:
        try:
            path = pooch.retrieve(
                url,
                known_hash=f"sha256:{known_hash}",
                fname=ADULT_NAME,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=False, timeout=_SECONDS),
            )
            return Path(path).read_bytes()
        except requests.Timeout:
            reason = f"the server did not answer within {_SECONDS} seconds"
        except requests.HTTPError as error:
            status = "unknown" if error.response is None else error.response.status_code
            reason = f"the server answered with status {status}"
        except requests.RequestException:
            reason = "the server cannot be reached"
        except ValueError:
            raise TableError(
                "The Adult table that was fetched is not the expected file (its SHA-256 differs)"
                f" and was not used; {_INSTEAD}."
            ) from None
        except OSError:
            reason = "there is no room for it in the temporary folder"
        finally:
            logger.setLevel(level)
    raise TableError(f"The Adult table could not be fetched: {reason}; {_INSTEAD}.")
