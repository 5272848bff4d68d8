"""Rows of a trace on their way into columns, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts.arrivals import RawArrivals, RefusedRow

#: Column -> its names, in lower case; the first found is taken.
NAMES = {
    "at": ("timestamp", "arrival_s", "arrival_time", "arrived_at", "time", "t"),
    "input": (
        "contexttokens", "input_tokens", "input_length", "prompt_tokens", "input", "input_toks", "num_prefill_tokens",
    ),
    "output": (
        "generatedtokens", "output_tokens", "output_length", "completion_tokens", "output", "output_toks",
        "num_decode_tokens",
    ),
    "hashes": ("hash_ids", "hashes", "prefix_hashes"),
    "key": ("key", "request_key", "prompt_hash", "text", "prompt", "request", "query"),
    "tenant": ("tenant", "customer", "account", "user"),
    "model": ("model", "model_version"),
    "status": ("status",),
}  # fmt: skip
NEEDED = ("at", "input", "output")
#: Tokens of a hashed block where neither the file nor the user says.
HASH_TOKENS = 512
_FAILED = frozenset({"failed", "failure", "error", "exception", "timeout"})


class Rows:
    """Columns that are being filled."""

    def __init__(self) -> None:
        self.found = RawArrivals(name="")
        self.hashes: list[Sequence[int] | None] = []
        self.keys: list[str] = []
        self.tenants: list[str] = []
        self.models: list[str] = []
        self.refused: list[RefusedRow] = []
        self.left_out: list[RefusedRow] = []

    def refuse(self, row: int, reason: str) -> None:
        """Note a row that says nothing usable."""
        self.refused.append(RefusedRow(row=row, reason=reason))

    def add(
        self, row: int, at_s: float, tokens: tuple[int, int], *, hashes: Sequence[int] | None = None,
        names: tuple[str, str, str] = ("", "", ""), status: str = "",
    ) -> None:  # fmt: skip
        """Take one request.

        Parameters
        ----------
        tokens
            Of the prompt and of the answer.
        names
            What it asks, who asks, and which model.
        status
            How it ended; a failed one is left out.
        """
        if failed(status):
            self.left_out.append(RefusedRow(row=row, reason="the call failed"))
            return
        self.found.at_s.append(at_s)
        self.found.input_tokens.append(tokens[0])
        self.found.output_tokens.append(tokens[1])
        self.found.rows.append(row)
        self.hashes.append(hashes or None)
        for column, name in zip((self.keys, self.tenants, self.models), names, strict=True):
            column.append(name)

    def columns(self, name: str, hash_tokens: int) -> RawArrivals:
        """All of it, with what no row has left empty."""
        found, any_hash = self.found, any(self.hashes)
        return RawArrivals(
            name=name, at_s=found.at_s, input_tokens=found.input_tokens, output_tokens=found.output_tokens,
            rows=found.rows, hashes=self.hashes if any_hash else (), hash_tokens=hash_tokens if any_hash else 0,
            keys=self.keys if any(self.keys) else (), tenants=self.tenants if any(self.tenants) else (),
            models=self.models if any(self.models) else (), refused=self.refused, left_out=self.left_out,
        )  # fmt: skip


def failed(status: str) -> bool:
    """Whether the word or the HTTP status says that a request failed."""
    folded = status.strip().casefold()
    return folded in _FAILED or (len(folded) == 3 and folded.isdigit() and folded[0] in "45")
