# SPDX-License-Identifier: Apache-2.0
"""The structure of the source tree as rules: who includes whom, who owns what."""
