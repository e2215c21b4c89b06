#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/cm over iWARP.

exec tests/device/cm.t siw
