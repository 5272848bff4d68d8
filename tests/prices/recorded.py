"""Small invented files in the true layout of each feed, served by address."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from unitcost.prices.feeds.asking import Fetch

SAMPLES = Path(__file__).parent / "samples"


def serve(answers: dict[str, bytes]) -> Fetch:
    """A fetch that knows the answers to parts of addresses; any other address is an error."""

    def fetch(url: str) -> bytes:
        for part, body in answers.items():
            if part in url:
                return body
        raise OSError(f"{url}: 404")

    return fetch


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def zipped(name: str, inside: str) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr(inside, sample(name))
    return body.getvalue()


def answers() -> dict[str, bytes]:
    """Answers of all feeds."""
    return {
        "page=2": sample("azure_retail_page_2.json"),
        "prices.azure.com": sample("azure_retail_page_1.json"),
        "US%20East%20(N.%20Virginia)": sample("aws_feed_us-east-1.json"),
        "spot.js": sample("aws_spot.js"),
        "machine-types-regions.csv": sample("gcp_machine_types_regions.csv"),
        "runpod/version": b"20261129-1\n",
        "runpod/20261129-1/catalog.zip": zipped("gpuhunt_runpod.csv", "runpod.csv"),
        "genai-prices": sample("genai_data.json"),
    }
