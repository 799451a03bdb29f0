"""`dhp batch`: list and cancel batches of a provider."""

from pathlib import Path

import click

from dhp.cli.command import Command
from dhp.cli.options import setting
from dhp.cli.output import say
from dhp.core.files import cache_folder
from dhp.llm.settings import ModelSettings
from dhp.report.document import Listing

_CACHE = setting(ModelSettings, "cache")


@click.group()
def batch() -> None:
    """List or cancel batches sent to a provider by --batch."""


@batch.command("list", cls=Command)
@_CACHE
def list_batches(cache: str | None) -> None:
    """Show all batches of the cache folder.

    Example: dhp batch list
    """
    from dhp.plugins.batch.jobs import RemoteBatches

    jobs = RemoteBatches(Path(cache or cache_folder())).jobs()
    rows = []
    for job in jobs:
        requests = f"{job.requests:,} requests"
        rows.append((job.name, job.provider, job.model, requests, job.state, job.batch))
    say(Listing(rows) if rows else "there are no batches")


@batch.command("cancel", cls=Command)
@click.argument("name")
@_CACHE
def cancel_batch(name: str, cache: str | None) -> None:
    """Cancel a batch in work, by its name here or at the provider.

    What is answered by then is paid, and fetched once the provider has ended the batch.

    Example: dhp batch cancel dhp-0123456789ab
    """
    from dhp.plugins.batch.jobs import RemoteBatches

    job = RemoteBatches(Path(cache or cache_folder())).cancel(name)
    # By the state in which cancelling leaves it; a batch without a name there was never sent.
    message = {
        "sent": f"is being cancelled by {job.provider}; repeat this command later to fetch the answers",
        "ended": "has ended; its answers are stored",
        "stored": "has ended; its answers are stored",
        "cancelled": f"{job.provider} does not know it; removed" if job.batch else "was not sent; removed",
    }
    say(f"{job.name}: {message[job.state]}")
