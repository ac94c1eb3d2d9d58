"""The rule sets that come with the product, as data files beside this module.

Owns their names and reading them. They are part of the package like code, so reading one is no outside world to the
domain.
"""

from functools import cache
from importlib.resources import files

from services.game.rule_rejections import UnknownProfile
from services.game.rules import HouseRules, parse_rules


@cache
def profile_names() -> tuple[str, ...]:
    """Give the names of all profiles, in alphabetical order."""
    return tuple(sorted(entry.name[:-5] for entry in files(__name__).iterdir() if entry.name.endswith(".toml")))


def profile_text(name: str) -> str:
    """Give the TOML text of a profile as it was written, comments and all; raise `UnknownProfile`."""
    if name not in profile_names():
        raise UnknownProfile(f"there is no profile {name!r:.60}; there are {', '.join(profile_names())}")
    return files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")


@cache
def profile(name: str) -> HouseRules:
    """Give a profile's rules, the same object each time; raise `UnknownProfile`."""
    return parse_rules(profile_text(name))
