"""Everything that /openapi.json allows, and much that it does not: each answer is one that it names, and none is a fault.

Schemathesis makes the requests. `make test` asks each address a few hundred times; for more, set ASSAY_REQUESTS.
"""

from __future__ import annotations

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.generation import GenerationMode

from assay.measures import definitions
from web.servers import Server

REQUESTS = int(os.environ.get("ASSAY_REQUESTS", "40"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
MANY = settings(max_examples=REQUESTS, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


PATHS = ["/learn.json", "/evaluator.json", "/measures.json", *(f"/measures/{each.name}.json" for each in definitions())]
MODES = {"as described": GenerationMode.POSITIVE, "otherwise": GenerationMode.NEGATIVE}


@pytest.fixture(scope="module")
def described(workbench: Server):
    return schemathesis.openapi.from_url(f"{workbench.address}/openapi.json")


def test_every_page_is_described(described):
    assert set(PATHS) == {operation.ok().path for operation in described.get_all_operations()}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_every_answer_is_one_that_the_description_names(described, path, mode):
    operation = described[path]["GET"]
    if not operation.query:
        assert 200 == operation.Case().call_and_validate(checks=CHECKS).status_code
        return

    @MANY
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        case.call_and_validate(checks=CHECKS)

    ask()
