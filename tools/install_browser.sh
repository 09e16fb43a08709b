#!/bin/sh
# Installs Chromium on Debian or Ubuntu, for `make test-browser`. Needs root.
set -eu
apt-get update
apt-get install --yes --no-install-recommends chromium fonts-dejavu-core
