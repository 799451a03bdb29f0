"""Schema of expert weights: weights or votes, and the agreement of experts."""

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from dhp.core.specs import Name, Number, Spec, is_absent


class Agreement(Spec):
    """How far the experts of a survey agree: Fleiss' kappa, 1 for all the same, 0 for no more than chance."""

    kappa: Annotated[Number, Field(ge=-1, le=1)]
    low: Number | None = None
    """Lower end of the 95 % interval over experts; None where it cannot be estimated."""
    high: Number | None = None

    @model_validator(mode="after")
    def _ordered(self) -> "Agreement":
        if (self.low is None) != (self.high is None):
            raise ValueError("give both low and high, or neither")
        if self.low is not None and self.high is not None and not self.low <= self.kappa <= self.high:
            raise ValueError(f"kappa {self.kappa:g} must lie between {self.low:g} and {self.high:g}")
        return self


class Weights(Spec):
    """How much each metric should suffer from each perturber, per task: as weights, or as experts' votes."""

    weights: Name
    version: int
    provenance: str
    """Authors of the weights, and their grounds."""
    date: Annotated[dt.date | None, Field(strict=False, exclude_if=is_absent)] = None
    """Date of the survey, e.g. 2026-05-31."""
    experts: Annotated[int | None, Field(ge=1, exclude_if=is_absent)] = None
    """Number of experts."""
    roles: list[str] = Field(default_factory=list, exclude_if=is_absent)
    """Roles of the experts, in their own words, as far as they stated them."""
    otherwise: Literal["uniform"] | None = None
    """Weights of perturbers without a row; without this key such a perturber is an error."""
    tasks: dict[Name, dict[Name, dict[Name, Number]]] = Field(default_factory=dict)
    """task -> perturber -> metric -> weight; each row sums to 1."""
    votes: dict[Name, dict[Name, dict[Name, Annotated[int, Field(ge=0)]]]] = Field(
        default_factory=dict, exclude_if=is_absent
    )
    """task -> perturber -> metric -> votes; their shares are the weights of rows that `tasks` lacks."""
    agreement: dict[Name, Agreement] = Field(default_factory=dict, exclude_if=is_absent)
    """task -> how far the experts agree."""

    def row(self, task: str | None, perturber: str) -> Mapping[str, float] | None:
        """The weights of a perturber; None without a row."""
        return self.tasks.get(task or "", {}).get(perturber)

    def with_shares(self) -> "Weights":
        """The weights with the shares of the votes as rows of `tasks`."""
        tasks = dict(self.tasks)
        for task, votes in self.votes.items():
            shares = {p: {m: n / sum(row.values()) for m, n in row.items()} for p, row in votes.items()}
            tasks[task] = {**tasks.get(task, {}), **shares}
        return self.model_copy(update={"tasks": tasks})

    @model_validator(mode="after")
    def _rows_sum_to_one(self) -> "Weights":
        for task, rows in self.tasks.items():
            for perturber, row in rows.items():
                if any(not 0 <= w <= 1 for w in row.values()):
                    raise ValueError(f"tasks.{task}.{perturber}: weights must lie in [0, 1]")
                if abs(sum(row.values()) - 1) > 1e-6:
                    raise ValueError(
                        f"tasks.{task}.{perturber}: weights must sum to 1, not {sum(row.values()):g}"
                    )
        return self

    @model_validator(mode="after")
    def _votes_count(self) -> "Weights":
        for task, rows in self.votes.items():
            for perturber, row in rows.items():
                place, total = f"votes.{task}.{perturber}", sum(row.values())
                if perturber in self.tasks.get(task, {}):
                    raise ValueError(f"{place}: is also in tasks; give weights or votes, not both")
                if total == 0:
                    raise ValueError(f"{place}: has no votes; allowed: at least one vote")
                if self.experts is not None and total > self.experts:
                    raise ValueError(f"{place}: {total} votes of {self.experts} experts; allowed: one each")
        if lacking := [task for task in self.agreement if task not in self.votes]:
            raise ValueError(f"agreement.{lacking[0]}: has no votes; allowed: {', '.join(self.votes)}")
        return self
