# The dashboard in a container. As everywhere it answers its own machine only, which here is the
# container: docs/operate/deployment.md says how others reach it.
FROM python:3.11-slim AS wheel
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.11-slim
WORKDIR /opt/kanon
COPY requirements.txt constraints.txt ./
# With what a login needs.
RUN pip install --no-cache-dir -c constraints.txt -r requirements.txt "authlib>=1.3.2,<2" httpx
COPY --from=wheel /wheel /opt/kanon
RUN pip install --no-cache-dir --no-deps ./*.whl \
    && useradd --system --uid 10001 kanon \
    && install --directory --owner kanon --mode 0700 /var/cache/kanon

# No paths and databases of the container in the browser.
ENV KANON_TABLES=off NUMBA_CACHE_DIR=/var/cache/kanon
USER 10001
RUN python -m kanon.warm
# Compiled code, nothing of any table: all that is written, so that the rest may be read-only.
VOLUME /var/cache/kanon
HEALTHCHECK --start-period=1m CMD ["python", "-c", \
    "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=5)"]
CMD ["kanon", "app"]
