"""From templates and records to HTML responses.

Owns the template environment (autoescaping on, undefined names are errors) and the addresses of rounds. Pictures are the
only markup that goes in as it is; `felt` escapes every word in them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from services.console import formatting
from services.console.felt import draw_felt
from services.console.felt_hands import outcome_class, total_label
from services.console.views import FeltView

TEMPLATES = Path(__file__).parent / "templates"


def round_address(round_id: str) -> str:
    """The page of a round: "black-hawk/BJ-07#12" is at "/rounds/black-hawk/BJ-07/12"."""
    table, _, number = round_id.partition("#")
    return f"/rounds/{table}/{number}"


def slug(key: str) -> str:
    """A table's key as an element id."""
    return key.replace("/", "--")


def floor_title(name: str) -> str:
    """A floor's name as a heading: "black-hawk" becomes "Black Hawk"."""
    return " ".join(part[:1].upper() + part[1:] for part in name.split("-"))


def short_card(text: str) -> str:
    """A card as rank and suit sign: "A♠"."""
    return text[:-1].replace("T", "10") + {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}.get(text[-1:], "?")


def lag(us: int) -> str:
    """How long after an event its record was written: "+12 ms", "1 s earlier" when the device's clock is ahead."""
    return f"+{formatting.duration(us)}" if us >= 0 else f"{formatting.duration(-us)} earlier"


def drawing(felt: FeltView) -> Markup:
    """The picture of a table as safe markup."""
    return Markup(draw_felt(felt))  # noqa: S704 - draw_felt escapes every word; tests/console/test_console_felt.py


_FILTERS: tuple[Callable[..., Any], ...] = (
    formatting.money,
    formatting.signed_money,
    formatting.short_money,
    formatting.share,
    formatting.count,
    formatting.clock_time,
    formatting.date_time,
    formatting.utc,
    formatting.iso,
    formatting.duration,
    formatting.card_words,
    formatting.words,
    round_address,
    slug,
    floor_title,
    short_card,
    lag,
    outcome_class,
    total_label,
)


class Renderer:
    """Renders pages and parts of pages. `now_us` gives the time that a page says it was made at."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        self._now_us = now_us
        self._environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters.update({function.__name__: function for function in _FILTERS})

    def page(self, name: str, *, zone: str, here: str = "", status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page. `zone` is the floor's; `here` names the place in the navigation."""
        template = self._environment.get_template(name)
        html = template.render(now_us=self._now_us(), zone=zone, here=here, **values)
        return HTMLResponse(html, status_code=status)

    def part(self, template: str, macro: str, *arguments: Any) -> str:
        """One macro of a template: the same markup as inside its page."""
        return str(getattr(self._environment.get_template(template).module, macro)(*arguments)).strip()
