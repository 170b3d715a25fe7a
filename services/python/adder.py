# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Adds two numbers over HTTP/1.1, with FastAPI: `GET /add/1/2` is answered by `1 + 2 = 3`."""

from __future__ import annotations

import re
import sys
from typing import Annotated

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from pydantic import BeforeValidator, Field
from starlette.convertors import StringConvertor, register_url_convertor

import program
import server

LEAST, MOST = -(2**63), 2**63 - 1
NO_NUMBER = "This is no number: give /add/A/B, such as /add/1/-2.\n"
TOO_LARGE = "A number or the sum does not fit into 64 bits.\n"
NO_SUCH_PAGE = "There is no such page: ask for /add/A/B.\n"


class Word(StringConvertor):
    """What is between two slashes, even if that is nothing."""

    regex = "[^/]*"


def digits(text: str) -> str:
    """Digits, and a minus before them for a negative number.

    Raises `ValueError`.
    """
    if not re.fullmatch("-?[0-9]+", text):
        raise ValueError(NO_NUMBER)
    return text


Number = Annotated[int, Field(ge=LEAST, le=MOST), BeforeValidator(digits)]

register_url_convertor("word", Word())
app = FastAPI(openapi_url=None, redirect_slashes=False)


@app.get("/add/{a:word}/{b:word}")
async def add(request: Request, a: Number, b: Number) -> PlainTextResponse:
    """The sum."""
    # FastAPI has decoded %31 to 1.
    if request.scope["query_string"] or b"%" in request.scope["raw_path"]:
        raise HTTPException(400, NO_NUMBER)
    if not LEAST <= a + b <= MOST:
        raise HTTPException(400, TOO_LARGE)
    return PlainTextResponse(f"{a} + {b} = {a + b}\n")


@app.exception_handler(HTTPException)
async def refuse(_: Request, error: HTTPException) -> PlainTextResponse:
    """Without the default's JSON."""
    return PlainTextResponse(error.detail, error.status_code)


@app.exception_handler(RequestValidationError)
async def refuse_number(_: Request, error: RequestValidationError) -> PlainTextResponse:
    """What `digits` lets pass can only be too large."""
    is_number = error.errors()[0]["type"] != "value_error"
    return PlainTextResponse(TOO_LARGE if is_number else NO_NUMBER, 400)


@app.exception_handler(404)
async def refuse_page(_request: Request, _error: HTTPException) -> PlainTextResponse:
    """Any other path."""
    return PlainTextResponse(NO_SUCH_PAGE, 404)


if __name__ == "__main__":
    sys.exit(program.main("adder", lambda options: server.serve("adder", app, options)))
