"""Count the packages of an environment and their size: python benchmarks/install_size.py ENVIRONMENT.

Sizes are those of each package's own files in MB, without compiled bytecode. pip and setuptools are left out.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

LEFT_OUT = {"pip", "setuptools"}
SHOWN = 8
"""How many of the largest packages are named."""


def size(package: Distribution) -> float:
    """The size of a package's files in MB."""
    paths = [Path(str(file.locate())) for file in package.files or [] if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def main() -> None:
    """Print the number of packages and their size, and the largest ones."""
    folders = [str(path) for path in Path(sys.argv[1]).glob("lib/python3*/site-packages")]
    sizes = {item.name: size(item) for item in distributions(path=folders) if item.name not in LEFT_OUT}
    print(f"{len(sizes)} packages, {sum(sizes.values()):.0f} MB")
    for name in sorted(sizes, key=lambda name: -sizes[name])[:SHOWN]:
        print(f"{name:24}{sizes[name]:6.1f}")


if __name__ == "__main__":
    main()
