"""The documentation as a site: the pages of the repository, and a reference generated from the code.

`python -m scripts.site DIR` builds it. It needs no network, neither to be built nor to be read.
"""
