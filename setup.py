"""What pyproject.toml cannot say: a package whose folder is the top level of the clone."""

from setuptools import find_packages, setup

DASHBOARD = "kanon.dashboard"  # app.py, and what package-data in pyproject.toml names beside it

setup(
    packages=[*find_packages(include=["kanon*"]), DASHBOARD],
    package_dir={DASHBOARD: "."},
    script_name="setup.py",  # so that it is no module of the dashboard itself
)
