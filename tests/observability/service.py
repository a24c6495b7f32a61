"""The service that the tools write to; it is told of questions, and collects the traces."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Service(ThreadingHTTPServer):
    """`requests`: path and headers of each; `spans`: what was exported."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = []
        self.spans = []
        self.asked, self.released = threading.Event(), threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def headers_of(self, path):
        return [headers for asked, headers in self.requests if asked == path]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        path, body = self._read()
        if path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    self.server.spans.extend(scope.spans)
            self._answer(200, b"", "application/x-protobuf")
        elif path != "/lost":
            self._answer(200, json.dumps({"id": "L-1"}).encode())

    def do_GET(self):
        path, _ = self._read()
        if path == "/held":
            self.server.asked.set()
            self.server.released.wait(60)
        self._answer(500 if path == "/broken" else 200, b"{}")

    def _read(self):
        path = urlsplit(self.path).path
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path != "/v1/traces":
            self.server.requests.append((path, dict(self.headers)))
        return path, body

    def _answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serving() -> Iterator[Service]:
    with Service() as service:
        threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.05}).start()
        try:
            yield service
        finally:
            service.released.set()
            service.shutdown()
