"""The generated protobuf messages by their full names.

Importing this module loads every generated module, so that a new area needs no list kept up by hand. Does not know what the
messages mean.
"""

import importlib
import pkgutil
from functools import cache

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

from services.wire import gen

for _module in pkgutil.walk_packages(gen.__path__, gen.__name__ + "."):
    if _module.name.endswith("_pb2"):
        importlib.import_module(_module.name)


@cache
def message_class(full_name: str) -> type[Message]:
    """The message class of that name, e.g. "holecard.shoe.v1.CardDrawn"; raises KeyError for an unknown name."""
    return message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(full_name))


def service_descriptor(full_name: str) -> ServiceDescriptor:
    """The service of that name, e.g. "holecard.shoe.v1.ShoeService"; raises KeyError for an unknown name."""
    return descriptor_pool.Default().FindServiceByName(full_name)
