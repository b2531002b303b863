"""Print the tests of which a case took long, from what pytest has written: ``make slow``."""

import sys
from xml.etree import ElementTree

LONG = 0.1
"""Seconds; what is left of the tests takes `make quick` about a minute on two cores."""


def slow_tests(report: str) -> list[str]:
    """The slow ones of a report in the JUnit format, as pytest calls them, without their cases."""
    found = set()
    for case in ElementTree.parse(report).iter("testcase"):
        if float(case.attrib["time"]) > LONG:
            path = case.attrib["classname"].replace(".", "/")
            found.add(f"{path}.py::{case.attrib['name'].partition('[')[0]}")
    return sorted(found)


if __name__ == "__main__":
    print(*slow_tests(sys.argv[1]), sep="\n")
