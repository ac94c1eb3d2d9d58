"""Whether a command line is one that `holecard` takes: commands, arguments and options, read as the command itself does."""

import re
from collections.abc import Sequence
from unittest.mock import patch

import click

from services.cli import main_group


def refusal(words: Sequence[str]) -> str:
    """Why `holecard` would not take these words, "" when it would; nothing is run and no file is looked for."""
    command: click.Command = main_group
    name: str = "holecard"
    parent: click.Context | None = None
    rest = [re.sub(r"\$\(\w+\)", "name", word) for word in words]
    # Files are where the command will run, not here.
    with patch.object(click.Path, "convert", lambda _self, value, _param, _context: value):
        try:
            while True:
                parent = command.make_context(name, rest, parent=parent)
                if not isinstance(command, click.Group):
                    return ""
                # What follows the group's own options; click keeps the command's name apart from the words after it.
                rest = [*parent._protected_args, *parent.args]
                if not rest:
                    return f"{name} needs a command"
                found, below, rest = command.resolve_command(parent, rest)
                if found is None or below is None:
                    return f"there is no command {name}"
                name, command = found, below
        except click.ClickException as error:
            return f"{' '.join(words)}: {error.format_message()}"
