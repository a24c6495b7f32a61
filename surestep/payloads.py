"""How values become payloads: as pydantic does it, by converters that are made once.

The SDK makes a converter for each workflow that it loads, and pydantic's begins each time with no
type adapters. That was a thirtieth of a worker's Python time.
"""

from dataclasses import replace
from typing import Final

from temporalio.contrib.pydantic import PydanticJSONPlainPayloadConverter, pydantic_data_converter
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    JSONPlainPayloadConverter,
)

# Types that a sandbox has loaded for one workflow stay in memory as long as their adapters.
_JSON: Final = PydanticJSONPlainPayloadConverter(max_cached_type_adapters=64)
_ENCODINGS: Final = tuple(
    _JSON if isinstance(one, JSONPlainPayloadConverter) else one
    for one in DefaultPayloadConverter.default_encoding_payload_converters
)


class Payloads(CompositePayloadConverter):
    """Reads and writes the same payloads as `temporalio.contrib.pydantic`."""

    def __init__(self) -> None:
        super().__init__(*_ENCODINGS)


PLAIN: Final[DataConverter] = replace(pydantic_data_converter, payload_converter_class=Payloads)
