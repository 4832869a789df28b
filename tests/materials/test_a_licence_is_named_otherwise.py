"""What parts write of their licences, and the SPDX expression that others' tools read of it."""

from __future__ import annotations

import pytest

from harness.materials.licences import expression_of, references_in

NAMES = {
    "GPL-1": "GPL-1.0-only",
    "GPL-1+": "GPL-1.0-or-later",
    "GPL-2": "GPL-2.0-only",
    "GPL-2+": "GPL-2.0-or-later",
    "GPL-3": "GPL-3.0-only",
    "GPL-3+": "GPL-3.0-or-later",
    "AGPL-3": "AGPL-3.0-only",
    "AGPL-3+": "AGPL-3.0-or-later",
    "LGPL-2": "LGPL-2.0-only",
    "LGPL-2+": "LGPL-2.0-or-later",
    "LGPL-2.1": "LGPL-2.1-only",
    "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-3": "LGPL-3.0-only",
    "LGPL-3+": "LGPL-3.0-or-later",
    "GFDL-NIV-1.2": "GFDL-1.2-no-invariants-only",
    "GFDL-NIV-1.2+": "GFDL-1.2-no-invariants-or-later",
    "GFDL-NIV-1.3": "GFDL-1.3-no-invariants-only",
    "GFDL-NIV-1.3+": "GFDL-1.3-no-invariants-or-later",
    "Expat": "MIT",
    "Artistic": "Artistic-1.0",
    "Apache-2": "Apache-2.0",
    "PSF": "PSF-2.0",
    "BSD-4-clause-UC": "BSD-4-Clause-UC",
    "libpng": "Libpng",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    " MIT\t license\n": "MIT",
    "BSD 3-Clause License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "New BSD License": "BSD-3-Clause",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    # as SPDX has them, whatever their letters
    "mit": "MIT",
    "bsd-3-clause": "BSD-3-Clause",
    "Apache-2.0 OR BSD-2-Clause": "Apache-2.0 OR BSD-2-Clause",
    "LicenseRef-NVIDIA-Proprietary": "LicenseRef-NVIDIA-Proprietary",
    # several in one
    "GPL-2+ or Artistic": "GPL-2.0-or-later OR Artistic-1.0",
    "GPL-2+ AND Expat Or zlib": "GPL-2.0-or-later AND MIT OR Zlib",
    "GPL-2+ and my own": "GPL-2.0-or-later AND LicenseRef-debian-my-own",
    "withdrawn and Expat": "LicenseRef-debian-withdrawn AND MIT",
    # what belongs together is not said
    "GPL-2+, and Expat": "LicenseRef-debian-GPL-2-or-later-and-Expat",
    "MIT/X11 or Expat": "LicenseRef-debian-MIT-X11-or-Expat",
    "Expat and GPL-3+ With Bison exception": "LicenseRef-debian-Expat-and-GPL-3-or-later-With-Bison-exception",
    # what SPDX does not have
    "BSD License": "LicenseRef-debian-BSD-License",
    "(public) domain_1.0!": "LicenseRef-debian-public-domain-1.0",
    "?!": "LicenseRef-debian-unnamed",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_what_spdx_calls_it(name: str) -> None:
    assert expression_of([name], "debian") == NAMES[name]


def test_all_that_is_named_holds() -> None:
    assert expression_of(["Expat", "GPL-2+"], "debian") == "GPL-2.0-or-later AND MIT"
    assert expression_of(["MIT", "Expat", "MIT"], "debian") == "MIT"
    either = expression_of(["zlib", "GPL-2+ or Artistic", "ISC and Expat"], "debian")
    assert either == "(GPL-2.0-or-later OR Artistic-1.0) AND ISC AND MIT AND Zlib"


def test_a_name_without_meaning_says_whose_it_is() -> None:
    assert expression_of(["BSD License"], "pypi") == "LicenseRef-pypi-BSD-License"
    both = "LicenseRef-pypi-b-1.0 AND (MIT OR LicenseRef-debian-a) AND LicenseRef-pypi-b-1.0"
    assert references_in(both) == ["LicenseRef-debian-a", "LicenseRef-pypi-b-1.0"]
    assert references_in("MIT") == []
