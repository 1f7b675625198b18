#!/bin/sh
# Install Equipoise from the checkout that this script is in, into .venv there, in the versions that uv.lock
# names. EQUIPOISE_EXTRAS names extras, separated by spaces.
set -eu
cd "$(dirname "$0")/../.."

uv=$(command -v uv || echo .cache/uv/bin/uv)
if ! [ -x "$uv" ]; then
  command -v python3 > /dev/null || { echo "install.sh: neither uv nor python3 is on PATH; install one"; exit 4; }
  python3 -m venv .cache/uv
  .cache/uv/bin/pip install --quiet --disable-pip-version-check uv
fi

# The page of a gate has its figures.
set -- --extra plots
for extra in ${EQUIPOISE_EXTRAS:-}; do
  set -- "$@" --extra "$extra"
done
"$uv" sync --locked --no-dev --quiet "$@"
.venv/bin/equipoise --version
