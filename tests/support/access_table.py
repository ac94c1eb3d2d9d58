"""The table "Who may do what" of services/README.md, written from the code: `python -m tests.support.access_table`."""

from pathlib import Path

from services.access import ACCESS
from services.runtime.admission import Access, Reach
from services.runtime.identity import CertificateRole

README = Path(__file__).resolve().parents[2] / "services" / "README.md"
BEGIN = "<!-- who may do what: written by tests.support.access_table -->\n"
END = "<!-- end -->\n"
_PEOPLE = tuple(role for role in CertificateRole if role not in {CertificateRole.SERVICE, CertificateRole.GATEWAY})
_ABOUT = {
    Reach.TABLE: "its table's",
    Reach.TABLE_OR_FLOOR: "the table's or floor's asked for; all floors otherwise",
    Reach.ROUND: "its round's",
    Reach.HOUSE: "none",
}


def rendered() -> str:
    """The table as Markdown: a row for each group of procedures that the same certificates open."""
    groups: dict[tuple[str, Access], list[str]] = {}
    for rpc, access in ACCESS.items():
        area = "gateway" if "Gateway" in rpc.service else rpc.service.split(".")[1]
        groups.setdefault((area, access), []).append(rpc.name)
    lines = ["| service | procedures | opened by, besides services | floor |", "| --- | --- | --- | --- |"]
    for (area, access), names in groups.items():
        lines.append(f"| {area} | {', '.join(names)} | {_who(access)} | {_ABOUT[access.reach]} |")
    return "\n".join(lines) + "\n"


def _who(access: Access) -> str:
    if access.roles == frozenset(CertificateRole):
        return "every role"
    people = [role.value for role in _PEOPLE if access.admits(role)]
    if access.own:
        return f"{', '.join(people)} (as itself alone)"
    if access.admits(CertificateRole.GATEWAY):
        people.append("gateway")
    return ", ".join(people) or "nobody"


def written(text: str) -> str:
    """A README's text with the table in its place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{rendered()}{END}{after}"


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
