"""Turn protos/ into services/wire/gen, the only generated code.

The result is committed: a checkout imports, type-checks and installs without a compiler, and a wire change
shows in review. `--check` generates into a scratch folder and fails on any difference: committed code cannot drift.
"""

from __future__ import annotations

import argparse
import filecmp
import re
import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

PROTOS = Path(__file__).resolve().parent
TARGET = PROTOS.parent / "services" / "wire" / "gen"
# protoc writes imports from the proto root; in this tree the generated package lives below services.wire.gen.
IMPORT = re.compile(r"^(from|import) holecard\.", re.MULTILINE)
QUALIFIED = re.compile(r"(?<![\w.\"'/])holecard\.(?=\w+\.v\d+\.\w+_pb2\b)")


def generate(target: Path) -> None:
    """Write the generated packages into `target`, which must be empty; raises SystemExit when protoc refuses a file."""
    sources = sorted(str(p.relative_to(PROTOS)) for p in PROTOS.glob("holecard/**/*.proto"))
    include = str(resources.files("grpc_tools") / "_proto")
    target.mkdir(parents=True, exist_ok=True)
    code = protoc.main(
        [
            "protoc",
            f"-I{PROTOS}",
            f"-I{include}",
            f"--plugin=protoc-gen-mypy={Path(sys.executable).parent / 'protoc-gen-mypy'}",
            f"--python_out={target}",
            f"--mypy_out=quiet:{target}",
            *sources,
        ]
    )
    if code:
        raise SystemExit(f"protoc failed with status {code}: mend the file it named above")
    for path in [*target.rglob("*.py"), *target.rglob("*.pyi")]:
        text = IMPORT.sub(r"\1 services.wire.gen.holecard.", path.read_text())
        path.write_text(QUALIFIED.sub("services.wire.gen.holecard.", text))
    for folder in [target, *(p for p in target.rglob("*") if p.is_dir())]:
        (folder / "__init__.py").touch()


def differences(left: Path, right: Path) -> list[str]:
    """Relative paths that differ between two trees or stand in one of them only."""
    names = {p.relative_to(root) for root in (left, right) for p in root.rglob("*.py*") if "__pycache__" not in p.parts}
    return sorted(
        str(name)
        for name in names
        if not (
            (left / name).is_file()
            and (right / name).is_file()
            and filecmp.cmp(left / name, right / name, shallow=False)
        )
    )


def main() -> None:
    """Generate, or with --check compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if the committed code is not what protos/ gives")
    if parser.parse_args().check:
        with tempfile.TemporaryDirectory() as scratch:
            generate(Path(scratch) / "gen")
            drift = differences(Path(scratch) / "gen", TARGET)
        if drift:
            sys.exit("generated code differs from protos/, run `make protos`:\n  " + "\n  ".join(drift))
        return
    shutil.rmtree(TARGET, ignore_errors=True)
    generate(TARGET)


if __name__ == "__main__":
    main()
