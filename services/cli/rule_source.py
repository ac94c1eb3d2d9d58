"""Where the command line finds rule sets: among the profiles by name, else in a file.

Owns reading them from disk; what is lawful is decided in `services.game`.
"""

from pathlib import Path

from services.game.profiles import profile, profile_names
from services.game.rule_file import MAXIMUM_FILE_CHARACTERS
from services.game.rule_rejections import RuleFileNotThere
from services.game.rules import HouseRules, parse_rules


def named_rules(name_or_file: str) -> HouseRules:
    """The profile of that name, else the rules in the file of that path; raises as `read_rule_file` does."""
    return profile(name_or_file) if name_or_file in profile_names() else read_rule_file(Path(name_or_file))


def read_rule_file(file: Path) -> HouseRules:
    """Read a rule file; raise `RuleFileNotThere` when the disk does not give it, a `RuleFileRefused` for its content."""
    try:
        with file.open("rb") as opened:
            # Four bytes are the most that one character takes in UTF-8; the parser counts the characters.
            content = opened.read(4 * MAXIMUM_FILE_CHARACTERS + 1)
    except (OSError, ValueError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) and failure.strerror else str(failure)
        known = ", ".join(profile_names())
        raise RuleFileNotThere(f"{file} cannot be read ({reason}), and the profiles are {known}") from failure
    try:
        return parse_rules(content.decode())
    except UnicodeDecodeError as failure:
        raise RuleFileNotThere(f"{file} is not text in UTF-8: byte {failure.start} is wrong") from failure
