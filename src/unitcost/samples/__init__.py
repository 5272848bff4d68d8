"""The sample workspace: bills of an invented company, made from a seed, with the truth about them beside.

The company runs on three clouds, rents GPUs and buys tokens. Waste is planted in its bills, and clean controls
beside it that look alike. Beside the bills stand what its scheduler, monitoring, tracker, gateway and stores export.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from unitcost import money
from unitcost.samples import (
    aws,
    aws_bill,
    aws_work,
    azure,
    gcp,
    neocloud,
    outputs,
    settings,
    tokens,
    work_calls,
    work_cards,
    work_gateway,
    work_runs,
    work_serving,
    work_slurm,
    work_stores,
)  # fmt: skip
from unitcost.samples.calendar import Calendar
from unitcost.samples.lines import Line, coarse, exact_sum
from unitcost.samples.truth import Invoice, Sheet, Truth, by_label, controls, planted, totals
from unitcost.samples.work import Work, slurm_work
from unitcost.samples.work_cards import Watched
from unitcost.samples.work_truth import WorkTruth, work_truth
from unitcost.samples.world import World, rows_of_month
from unitcost.units import HOURS_PER_DAY

MONTHS = ("2026-08", "2026-09", "2026-10")
#: Fewer rows than this per hour of the sample, and hourly lines are written by the day instead.
_HOURLY_FROM = 30


def write(folder: Path, *, seed: int = 7, months: tuple[str, ...] = MONTHS, rows: int = 71_000) -> Truth:
    """Write the sample workspace into a folder.

    Parameters
    ----------
    folder
        Where to write; it is made when it does not exist, and files of the same names are replaced.
    seed
        The same seed gives the same bytes.
    months
        Billing months `YYYY-MM` that follow each other.
    rows
        About how many charge rows to write. Below about 70,000 for three months hourly lines become daily.

    Returns
    -------
    Truth
        What was written: totals, owners, drivers, planted waste and controls; the same as `truth.json`.

    Raises
    ------
    UnitcostError
        When the months do not follow each other.
    """
    calendar = Calendar(tuple(months))
    world = World(calendar=calendar, seed=seed, step=1 if rows >= _HOURLY_FROM * calendar.hour_count else HOURS_PER_DAY)
    sheets = _sheets(world, rows)
    files = dict(_write_bills(world, sheets, folder))
    work, watched = _work(world)
    truth = _truth(world, sheets, files, work_truth(world, work, watched, _in_dollars(sheets)))
    _write(folder / "outputs.csv", outputs.rows(world))
    _write(folder / "model-prices.csv", work_calls.price_list())
    _write_work(world, work, watched, folder / "work")
    _write(folder / "truth.json", [truth.to_json().rstrip("\n")])
    _write(folder / "unitcost.toml", [settings.text(truth).rstrip("\n")])
    return truth


def _work(world: World) -> tuple[Work, list[Watched]]:
    """Who worked on the machines, and how busy these were."""
    machines, jobs = slurm_work(world)
    nodes, pods = work_serving.pods(world)
    work = Work(machines=(*machines, *nodes), jobs=jobs, pods=pods)
    return work, work_cards.watch(world, work)


def _write_work(world: World, work: Work, watched: list[Watched], folder: Path) -> None:
    """Write what the scheduler, the monitoring, the tracker, the gateway and the stores export."""
    for name, lines in (
        ("slurm/sacct.txt", work_slurm.accounting(world, work)),
        ("slurm/nodes.csv", work_slurm.nodes(world, work)),
        ("prometheus/cards.json", work_serving.answer(work_cards.cards(world, watched))),
        ("prometheus/cluster.json", work_serving.answer(work_serving.cluster(world))),
        ("prometheus/vllm.json", work_serving.answer(work_serving.counters(world))),
        ("mlflow/runs.json", work_runs.answers(world, work)),
        ("gateway/access.jsonl", work_gateway.access_log(world)),
        ("gateway/invocations.json", work_gateway.invocations(world)),
        ("gateway/spend-logs.csv", work_calls.spend_log(world)),
        *((f"stores/{bucket}.csv", lines) for bucket, lines in work_stores.inventories(world).items()),
    ):
        _write(folder / name, lines)


def _in_dollars(sheets: list[Sheet]) -> list[Line]:
    return [line for _, currency, lines in sheets if currency == "USD" for line in lines]


def _sheets(world: World, rows: int) -> list[Sheet]:
    """Lines of each provider, in the order of the folders."""
    found: list[Sheet] = [
        (azure.PROVIDER, "USD", azure.lines(world)),
        (gcp.PROVIDER, "USD", [coarse(line, world.step) for line in gcp.lines(world)]),
        (tokens.PROVIDER, "USD", [coarse(line, world.step) for line in tokens.lines(world)]),
        (neocloud.PROVIDER, neocloud.CURRENCY, neocloud.lines(world)),
    ]
    core = [*aws_work.lines(world), *aws_bill.commitments(world), *aws_bill.marketplace(world)]
    core += [*aws_bill.credits(world), *aws_work.late_usage(world)]
    core = [coarse(line, world.step) for line in core]
    so_far = sum(len(line.starts) for _, _, lines in found for line in lines) + sum(len(line.starts) for line in core)
    tail = max(0, (rows - so_far) * world.step // world.calendar.hour_count)
    core += [coarse(line, world.step) for line in aws_bill.volumes(world, tail)]
    core += [aws_bill.tax(world, core, seller) for seller in (aws.SELLER, aws.MARKETPLACE_SELLER)]
    return [(aws.PROVIDER, "USD", core), *found]


def _write_bills(world: World, sheets: list[Sheet], folder: Path) -> Iterable[tuple[str, int]]:
    """Write every bill; yield each file's name and its charge rows."""
    by_provider = {provider: lines for provider, _, lines in sheets}
    for month, name in enumerate(world.calendar.months):
        for where, writer, provider, headers in (
            (f"bills/aws-cur/{name}.csv", aws.bill, aws.PROVIDER, 1),
            (f"bills/azure/{name}.csv", azure.bill, azure.PROVIDER, 1),
            (f"bills/gcp/{name}.jsonl", gcp.bill, gcp.PROVIDER, 0),
            (f"bills/focus/{name}.csv", tokens.bill, tokens.PROVIDER, 1),
        ):
            yield where, _write(folder / where, writer(world, by_provider[provider], month)) - headers
    usage = "bills/neocloud/usage.csv"
    yield usage, _write(folder / usage, neocloud.usage(world, by_provider[neocloud.PROVIDER])) - 1
    _write(folder / "bills/neocloud/rates.csv", neocloud.rates(world))


def _truth(world: World, sheets: list[Sheet], files: dict[str, int], work: WorkTruth) -> Truth:
    return Truth(
        seed=world.seed, months=world.calendar.months, files=dict(sorted(files.items())), totals=totals(world, sheets),
        owners=by_label(sheets, "team"), projects=by_label(sheets, "project"), drivers=by_label(sheets, "driver"),
        lines=by_label(sheets, "line"), invoices=tuple(_invoices(world, sheets)),
        wastes=tuple(planted(world, sheets)), controls=tuple(controls(sheets)), preemptions=_preemptions(world),
        work=work, calls=work_calls.calls_truth(world),
    )  # fmt: skip


def _invoices(world: World, sheets: list[Sheet]) -> Iterable[Invoice]:
    """Invoices by month; those of Google Cloud and of the rented GPUs have no number in the bill."""
    for month, name in enumerate(world.calendar.months):
        for provider, currency, lines in sheets:
            named = _NUMBERS.get(provider)
            for number, billed in named(name, lines) if named else [(f"{provider}, {name}", lines)]:
                total = sum(exact_sum(line.billed[rows_of_month(line, world.calendar, month)]) for line in billed)
                yield Invoice(
                    number=number, provider=provider, currency=currency, billing_month=name,
                    total=money.from_units(total), named=bool(named),
                )  # fmt: skip


def _aws_invoices(month: str, lines: list[Line]) -> list[tuple[str, list[Line]]]:
    """One invoice per seller: the marketplace bills apart."""
    return [
        (aws.invoice_id(month, seller), [line for line in lines if line.cells["line_item_legal_entity"] == seller])
        for seller in (aws.SELLER, aws.MARKETPLACE_SELLER)
    ]


#: Provider -> numbers of the invoices of a month, with the lines that each is for.
_NUMBERS: dict[str, Callable[[str, list[Line]], list[tuple[str, list[Line]]]]] = {
    aws.PROVIDER: _aws_invoices,
    azure.PROVIDER: lambda month, lines: [(azure.invoice_id(month), lines)],
    tokens.PROVIDER: lambda month, lines: [(tokens.invoice_id(month), lines)],
}


def _preemptions(world: World) -> dict[str, int]:
    """How often each spot run lost a machine before its end."""
    return {
        run: sum(
            max(0, len(aws_work.lives(world, run, node, len(world.days_between(first, days)))) - 1)
            for node in range(nodes)
        )
        for run, (_, nodes, first, days, _) in aws_work.RUNS.items()
    }


def _write(path: Path, lines: Iterable[str]) -> int:
    """Write lines that end alike on any system; return how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = list(lines)
    path.write_bytes("\n".join([*found, ""]).encode())
    return len(found)
