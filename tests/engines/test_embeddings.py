"""The vector cache: written vectors are found again, bit for bit; truncated or changed ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from assay.retrieval.embeddings import EmbeddingStore, text_digest

TEXTS = [f"text {number}" for number in range(5)]
DIGESTS = [text_digest(text) for text in TEXTS]
VECTORS = np.random.default_rng(7).standard_normal((5, 8)).astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    EmbeddingStore(tmp_path, 8).add(DIGESTS, VECTORS)
    return tmp_path


def test_vectors_come_back_bit_for_bit_in_any_order(folder):
    store = EmbeddingStore(folder, 8)

    assert VECTORS[[3, 0, 3]].tolist() == store.vectors([DIGESTS[3], DIGESTS[0], DIGESTS[3]]).tolist()
    assert 5 == len(store)
    assert text_digest("another text") not in store


@pytest.mark.parametrize("cut", [1, 20, 67])
def test_a_record_that_was_cut_off_is_no_vector_and_the_next_one_takes_its_place(folder, cut):
    file = folder / "vectors.bin"
    file.write_bytes(file.read_bytes()[:-cut])
    store = EmbeddingStore(folder, 8)

    assert DIGESTS[4] not in store

    store.add(DIGESTS[4:], VECTORS[4:])

    assert VECTORS.tolist() == EmbeddingStore(folder, 8).vectors(DIGESTS).tolist()


def test_a_record_that_was_changed_is_no_vector(folder):
    file = folder / "vectors.bin"
    data = bytearray(file.read_bytes())
    data[68 * 2 + 50] ^= 1  # a bit of the third vector: records are 32 + 4 + 8 * 4 bytes
    file.write_bytes(data)

    there = [digest in EmbeddingStore(folder, 8) for digest in DIGESTS]

    assert [True, True, False, True, True] == there


def test_zeros_at_the_end_as_after_a_lost_power_supply_are_no_vector(folder):
    with (folder / "vectors.bin").open("ab") as file:
        file.write(bytes(68 * 2))
    store = EmbeddingStore(folder, 8)
    store.add([text_digest("new")], VECTORS[:1])

    assert 6 == len(store)
    assert VECTORS[:1].tolist() == store.vectors([text_digest("new")]).tolist()


def test_two_processes_may_add_to_it(folder):
    one, two = EmbeddingStore(folder, 8), EmbeddingStore(folder, 8)
    one.add([text_digest("one")], VECTORS[:1])
    two.add([text_digest("two")], VECTORS[1:2])

    assert VECTORS[:2].tolist() == two.vectors([text_digest("one"), text_digest("two")]).tolist()


def test_texts_that_differ_in_a_byte_have_vectors_of_their_own():
    assert 3 == len({text_digest("caf\udce9"), text_digest("café"), text_digest("cafe")})
