"""Test collections: documents with their queries and judgments.

    model      Collection, the value            locating   find the role of each file in a folder
    opening    open or check a collection       checks     read everything once and report findings
    sampling   split judgments into two parts   embedded/  two small collections that come with assay

Documents are streamed: only their ids and digests of their texts are kept.
"""

from __future__ import annotations

from assay.collections.model import Collection
from assay.collections.opening import check_collection, embedded_collections, open_collection

__all__ = ["Collection", "check_collection", "embedded_collections", "open_collection"]
