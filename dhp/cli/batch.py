"""`dhp batch`: batches that were sent to a provider."""

from pathlib import Path

import click

from dhp.cli.options import Command

_CACHE = click.option("--cache", metavar="DIR", help="Where replies are kept; default: the user's cache.")


@click.group()
def batch() -> None:
    """Batches that were sent to a provider by --batch."""


@batch.command("list", cls=Command)
@_CACHE
def list_batches(cache: str | None) -> None:
    """Show all batches of the cache folder.

    Example: dhp batch list
    """
    from dhp.core.files import cache_folder
    from dhp.llm.batch.remote import RemoteBatches

    jobs = RemoteBatches(Path(cache or cache_folder())).jobs()
    for job in jobs:
        print(f"{job.name}  {job.provider}  {job.model}  {job.requests:,} requests  {job.state}  {job.batch}")
    if not jobs:
        print("no batch was sent")


@batch.command("cancel", cls=Command)
@click.argument("name")
@_CACHE
def cancel_batch(name: str, cache: str | None) -> None:
    """Cancel a batch in work, by its name here or at the provider.

    What is answered by then is paid, and fetched once the provider has ended the batch.

    Example: dhp batch cancel dhp-0123456789ab
    """
    from dhp.core.files import cache_folder
    from dhp.llm.batch.remote import RemoteBatches

    job = RemoteBatches(Path(cache or cache_folder())).cancel(name)
    said = {
        "sent": f"is being cancelled at {job.provider}; type this again later to fetch what was answered",
        "ended": "has ended; what was answered is fetched, and the next run stores it",
        "cancelled": f"{job.provider} does not know it; given up" if job.batch else "was not sent; given up",
    }
    print(f"{job.name}: {said[job.state]}")
