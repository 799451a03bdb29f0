"""Two versions of a judge on the same texts: which one sees more, and may the new one go live?"""

from pathlib import Path

import dhp

if __name__ == "__main__":
    for name, model in (("old", "mock/noisy"), ("new", "mock/lenient")):
        dhp.run(model, "mini/story_cloze", out=Path("runs") / name)
    (found,) = dhp.compare("runs/old", "runs/new", resamples=200)
    print(found.dataset, *found.judges)
    verdict = dhp.gate("runs/new", against="runs/old", max_drop=20)
    print(verdict.sentence)
