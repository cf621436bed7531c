"""Tiny ONNX models whose vectors can be checked by hand: the states of a text are rows of a table, one for each word.

The table has one row for each word of WORDS: its place, its place squared, 1 and -1 to the power of its place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

WORDS = ("[UNK]", "[CLS]", "red", "green", "blue", "big", "small", "query:", "passage:")
TABLE = np.array([[place, place**2, 1.0, (-1.0) ** place] for place in range(len(WORDS))], np.float32)
TEXT_INPUTS = ("input_ids", "attention_mask")


def row(word: str) -> np.ndarray[Any, Any]:
    return TABLE[WORDS.index(word)]


def put_model(
    folder: Path,
    *,
    file: str = "model.onnx",
    inputs: Sequence[str] = TEXT_INPUTS,
    integer: str = "INT64",
    output: str = "last_hidden_state",
    shape: Sequence[str | int] = ("batch", "words", 4),
    table: np.ndarray[Any, Any] = TABLE,
    external: str | None = None,
    words: Sequence[str] = WORDS,
) -> Path:
    """A folder with a model and its tokenizer. `shape` is that of the output: pooled if it has two parts."""
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    kind = getattr(onnx.TensorProto, integer)
    make = onnx.helper
    nodes = [make.make_node("Gather", ["table", "input_ids"], ["states"])]
    for name in inputs[1:]:  # every input decides the output, so that a wrong one is seen
        nodes += [
            make.make_node("Cast", [name], [f"{name}_f"], to=onnx.TensorProto.FLOAT),
            make.make_node("Unsqueeze", [f"{name}_f", "last"], [f"{name}_u"]),
        ]
    used = "states"
    if "attention_mask" in inputs:
        nodes.append(make.make_node("Mul", [used, "attention_mask_u"], ["masked"]))
        used = "masked"
    for name in (name for name in inputs[1:] if name != "attention_mask"):
        nodes.append(make.make_node("Add", [used, f"{name}_u"], [f"with_{name}"]))
        used = f"with_{name}"
    nodes.append(
        make.make_node("ReduceSum", [used, "middle"], [output], keepdims=0)
        if len(shape) == 2
        else make.make_node("Identity", [used], [output])
    )
    weights = [
        onnx.numpy_helper.from_array(table, "table"),
        onnx.numpy_helper.from_array(np.array([-1]), "last"),
        onnx.numpy_helper.from_array(np.array([1]), "middle"),
    ]
    graph = make.make_graph(
        nodes,
        "tiny",
        [make.make_tensor_value_info(name, kind, ["batch", "words"]) for name in inputs],
        [make.make_tensor_value_info(output, onnx.TensorProto.FLOAT, list(shape))],
        weights,
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    outside = {} if external is None else {"save_as_external_data": True, "location": external, "size_threshold": 100}
    if external is not None:
        (path.parent / external).unlink(missing_ok=True)  # onnx would append to it
    onnx.save_model(model, path, **outside)
    put_tokenizer(folder / "tokenizer.json", words)
    return folder


def put_tokenizer(path: Path, words: Sequence[str] = WORDS) -> None:
    """A tokenizer that knows a few words, and puts [CLS] before each text."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $A [CLS]:1 $B:1", special_tokens=[("[CLS]", words.index("[CLS]"))]
    )
    tokenizer.save(str(path))


def put_json(path: Path, value: Mapping[str, object] | Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
