#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain and real connections of rdma_cm over iWARP.

exec tests/device/explain_cm.t siw
