"""The command `holecard`. Each command lives in a module of its own and is imported when it is called.

Results go to stdout, progress and errors to stderr. An error ends with status 1 when something is wrong with what
was looked at, with 2 when the call itself is wrong.
"""

import importlib
import sys

import click

from services.game.rejections import Rejection

# Command → where it lives and what it does, in the order of a day: start, play, look, prove.
_COMMANDS = {
    "up": ("services.cli.serve:up", "Start everything on this machine: services, console, a simulated floor."),
    "serve": ("services.cli.serve:serve", "Host any of shoe, table, wager, surveillance, console in this process."),
    "floor": ("services.cli.floor:floor", "Run the gateway of a casino floor, or simulate floors."),
    "rules": ("services.cli.rules:rules", "Show or check a set of house rules and its nine notices."),
    "settle": ("services.cli.settle:settle", "Play hand records through the real round and print the results."),
    "odds": ("services.cli.odds:odds", "Work out exact odds: a rule set's edge, a hand's plays, the dealer's totals."),
    "rounds": ("services.cli.rounds:rounds", "List and filter the rounds of a journal."),
    "replay": ("services.cli.replay:replay", "Draw a round card by card, chip by chip."),
    "verify": ("services.cli.verify:verify", "Check everything that can be checked in a journal."),
    "worker": ("services.cli.worker:worker", "Fold the meters of a share of a cluster's tables, from the stream."),
    "projection": ("services.cli.projection:projection", "Build surveillance's read model again, or check it."),
    "surveillance": (
        "services.cli.surveillance:surveillance",
        "Migrate the read model's database; show how it stands.",
    ),
    "pki": ("services.cli.pki:pki", "Make certificates for services, gateways and people; enrol and revoke them."),
    "sealing-key": ("services.cli.sealing_key:sealing_key", "Make the key that a cluster's shoe services share."),
    "journal": ("services.cli.journal:journal", "Make, audit and look into the journal of a cluster (Kafka)."),
}


class _Manual(click.Group):
    """Lists the commands in their own order and imports one only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=_Manual, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="holecard")
def main_group() -> None:
    """Holecard: every card and every wager of a casino's blackjack tables, as events that can be replayed and proved.

    \b
    Start the house and look at it:     holecard up --plain-text
    Let other players come to it:       holecard up --plain-text --no-floor
                                        holecard floor simulate --plain-text --tables 4 --rounds 500
    Look for a hand and open it:        holecard rounds --seat 3 --card A --card A
                                        holecard replay black-hawk/BJ-07#12 --step 9
    Prove that the record is whole:     holecard verify
    See the rules that are posted:      holecard rules show colorado
    Settle somebody else's hands:       holecard settle hands.jsonl --check

    FILES. Everything a house keeps lies in one data folder (--data, by default .data): journal.db, which is the truth;
    projection.db, which can be deleted at any time, also while the house runs; and keys/, which must be kept secret and must
    not be lost. The commands that look (rounds, replay, verify) write nothing and may run beside a playing house.

    NAMES. A table is FLOOR/TABLE, as black-hawk/BJ-07; a round is its table and number, as black-hawk/BJ-07#12. A card is
    its rank and suit, as As or Td. Money is in dollars on the command line, in whole cents in JSON. Times without an offset
    are UTC.

    ADDRESSES. gRPC is served on 127.0.0.1:8600, the console on 127.0.0.1:8680, metrics on 127.0.0.1:8690, each on this
    machine alone unless told otherwise.

    WHO ASKS. Between machines everybody shows a certificate (--tls DIR), which says who he is and what he may do; `holecard
    pki` makes some. Plain text is spoken on this machine alone, and only with --plain-text.

    OUTPUT. Results go to stdout, progress and errors to stderr. --json prints the result as one JSON object.

    EXIT STATUS. 0: done, and what was looked at is in order. 1: it is not in order, was refused or could not be reached; one
    line says why. 2: the command itself is wrong.
    """  # noqa: D301 - \b is click's mark for a block kept as it is


def main() -> None:
    """Run the command line; a broken rule or a failed service ends in one clear line on stderr and status 1."""
    from services.journal.errors import JournalError
    from services.runtime.failures import CallFailed, ServiceUnavailable
    from services.runtime.sealing import KeyUnusable
    from services.runtime.server import PortTaken
    from services.runtime.settings import SettingsRefused
    from services.wire.refusal import Refused

    try:
        main_group(prog_name="holecard")
    except Rejection as rejection:
        _fail(f"{rejection.name} ({rejection.rule}): {rejection.message}. {rejection.remedy}")
    except (JournalError, ServiceUnavailable, CallFailed, KeyUnusable, PortTaken, SettingsRefused, Refused) as error:
        _fail(str(error))
    except BrokenPipeError:
        # The reader of our output has gone (`holecard rounds | head`): that is its right.
        sys.stderr.close()
        sys.exit(0)


def _fail(text: str) -> None:
    click.echo(f"holecard: {text}", err=True)
    sys.exit(1)
