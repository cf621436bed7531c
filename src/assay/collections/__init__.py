"""Test collections: documents, queries and judgments that belong together. Runs no search, knows no measure.

    model      Collection, the value            locating   which file of a folder is what
    opening    open a collection, check one     checks     one pass over all of it, and what was found
    sampling   judgments cut in two             embedded/  two small collections that are part of assay

Documents stream: what is kept of them is their ids and digests of their texts.
"""

from __future__ import annotations

from assay.collections.model import Collection
from assay.collections.opening import check_collection, embedded_collections, open_collection

__all__ = ["Collection", "check_collection", "embedded_collections", "open_collection"]
