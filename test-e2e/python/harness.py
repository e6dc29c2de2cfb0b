"""Shared by the programs of this folder: the client as its users create it, and the connection to the test."""

import json
import os
import re
import sys
import time
from glob import glob
from inspect import signature
from urllib.parse import urlsplit

import agentmail
import httpx
from agentmail import AgentMail
from agentmail.environment import AgentMailEnvironment

requests = []

ENVIRONMENT = AgentMailEnvironment(http=os.environ["BASE"], websockets=os.environ["STREAMS"])


def client_with(key):
    """A client that records its requests, and repeats none."""
    recording = httpx.Client(timeout=30, event_hooks={"request": [lambda sent: requests.append(
        f"{sent.method} {urlsplit(str(sent.url)).path}")]})
    return AgentMail(api_key=key, environment=ENVIRONMENT, httpx_client=recording)


client = client_with(os.environ["AGENTMAIL_API_KEY"])


def ask(name, **given):
    """Asks the test for something external, such as a mail."""
    print(json.dumps({"ask": name, **given}))
    return json.loads(sys.stdin.readline())


def finish(result):
    print(json.dumps({"result": result}))


def with_none(operation, *path, **given):
    """Calls an operation with None for every optional argument that is not given, as many programs do."""
    left_out = {
        name: None
        for name, parameter in signature(operation).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
        and parameter.default is not parameter.empty
        and name not in ("request", "request_options")
        and name not in given
    }
    return operation(*path, **given, **left_out)


def until(find, timeout=60):
    """Waits until `find` returns a value, and returns it."""
    deadline = time.monotonic() + timeout
    while True:
        found = find()
        if found:
            return found
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.05)


def refused(kind, operation, *path, **given):
    """The error that an operation must raise."""
    try:
        operation(*path, **given)
    except kind as error:
        return error
    raise AssertionError(f"{operation.__qualname__} was not refused")


def offered():
    """Every operation that the installed client has, as method and path with {} for each name."""
    found = set()
    call = re.compile(r'httpx_client\.(?:request|stream)\(\s*f?"([^"]*)".*?method="(\w+)"', re.S)
    name = re.compile(r"\{[^{}]*\}")
    for file in glob(os.path.join(os.path.dirname(agentmail.__file__), "**/raw_client.py"), recursive=True):
        with open(file, encoding="utf-8") as source:
            for path, method in call.findall(source.read()):
                found.add(f"{method} /{name.sub('{}', path)}")
    return sorted(found)
