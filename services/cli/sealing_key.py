"""`holecard sealing-key`: make the key under which a cluster's shoe services seal their cards."""

import json
from pathlib import Path

import click

from services.runtime.entropy import SystemEntropy
from services.runtime.sealing import KeyUnusable, load_or_create_key


@click.command("sealing-key")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def sealing_key(file: Path, *, as_json: bool) -> None:
    """Make 32 random bytes in FILE, readable by its owner alone (mode 0600), once for a whole cluster.

    Every process that hosts the shoe service is given the same key with --sealing-key. Cards that were sealed under a lost
    key cannot be dealt. A key that is there is kept, and checked; exit status 1 when it cannot serve.
    """
    there = file.exists()
    if not file.parent.is_dir():
        raise KeyUnusable(f"there is no folder {file.parent} for the key: make it first")
    load_or_create_key(file, SystemEntropy())
    if as_json:
        click.echo(json.dumps({"file": str(file), "made": not there}))
    else:
        click.echo(f"The key in {file} is " + ("there already and can serve." if there else "made."))
