"""What a stored object is and which run made it, by its path alone."""

from __future__ import annotations

import re
from functools import lru_cache

_REMEMBERED = 50_000
#: A part of the path, such as a folder or the name of the file, with or without more words around it.
_WORD = r"(?:^|[/_.=-])(?:{})(?:$|[/_.=-])"
#: Kind, rule, pattern of the path in lower case. The first that is found counts; endings that can be one thing only
#: come before the words of folders.
_RULES: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, rule, re.compile(pattern))
    for kind, rule, pattern in (
        ("log", "ending of a log", r"\.(?:log|out|err|stdout|stderr)(?:\.\d+)?(?:\.(?:gz|bz2|xz|zst))?$"),
        ("log", "TensorBoard events", r"events\.out\.tfevents"),
        ("embedding", "ending of a vector index", r"\.(?:faiss|hnsw|ann|annoy)$"),
        ("checkpoint", "ending of a checkpoint", r"\.(?:ckpt|distcp)$"),
        ("checkpoint", "word checkpoint", _WORD.format(r"checkpoints?(?:-?\d+)?|ckpts?|global_step\d+|last_ckpt")),
        ("checkpoint", "state of an optimizer", r"(?:^|/)(?:optimizer|scheduler|rng_state|trainer_state)[^/]*$"),
        ("embedding", "word embedding", _WORD.format(r"embeddings?|vectors?|vector-?store")),
        ("feature table", "word feature", _WORD.format(r"features?|feature-?store|featurestore|feature-?tables?")),
        ("log", "word log", _WORD.format(r"logs?|tensorboard|tb_logs|wandb")),
        ("model", "ending of a model", r"\.(?:safetensors|onnx|gguf|tflite|engine|plan|mlmodel|joblib|keras|torchscript)$"),
        ("data set", "word data set", _WORD.format(r"data-?sets?|datasets?|corpus|corpora|training-?data|raw")),
        ("model", "word model", _WORD.format(r"models?|model-?registry|weights")),
        ("data set", "ending of a table", r"\.(?:parquet|arrow|tfrecords?|orc|avro|jsonl|csv|tsv)(?:\.(?:gz|bz2|xz|zst|snappy))?$"),
        ("model", "ending of weights", r"\.(?:pt|pth|h5|hdf5|pb|bin|pkl|pickle)$"),
    )
)  # fmt: skip
_RUNS = (
    re.compile(r"(?:^|/)run(?:_?id)?=([^/]+)", re.IGNORECASE),
    re.compile(r"(?:^|/)(?:runs|run)/([^/]+)/", re.IGNORECASE),
    re.compile(r"(?:^|/)([0-9a-f]{32})/artifacts/"),  # MLflow's artifact store
    re.compile(r"(?:^|/)run-\d{8}_\d{6}-(\w+)/"),  # folders of W&B
)
OTHER = "other"


@lru_cache(maxsize=_REMEMBERED)
def kind_of(path: str) -> tuple[str, str]:
    """Kind of an object, one of `ARTIFACT_KINDS`, and the rule that told it; `other` and no rule when none does."""
    folded = path.casefold()
    return next(((kind, rule) for kind, rule, pattern in _RULES if pattern.search(folded)), (OTHER, ""))


def run_of(path: str) -> str:
    """Run that the path names: a part `run=ID`, a folder below `runs`, or the folders of MLflow and W&B; else empty."""
    return next((found[1] for pattern in _RUNS if (found := pattern.search(path))), "")
