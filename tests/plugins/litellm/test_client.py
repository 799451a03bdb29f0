"""Models behind the package litellm, by the stub server."""

import pytest

from dhp.core.errors import InputError
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.limits import RateLimits
from dhp.llm.records import Params
from dhp.llm.settings import ModelSettings
from tests.llm.helpers import answered, requests
from tests.llm.stub import stats, stub_server

pytestmark = pytest.mark.slow
QUICK = Params(temperature=0.0, top_p=None, max_tokens=16)


@pytest.fixture
def litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("litellm", reason="the package litellm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-a-stub")


def model(name: str, url: str | None, retries: int = 2) -> CachedModel:
    context = RequestContext(rate_limits=RateLimits(4, retries=retries))
    return CachedModel(ModelSettings(base_url=url, timeout=20.0).open(name, context), context)


def test_answers_are_those_of_the_server(litellm: None) -> None:
    with stub_server() as url:
        wanted = list(requests(6, samples=3))
        here = answered(model("litellm/openai/stub", url), wanted)
        there = answered(model("openai/stub", url), wanted)
        assert here == there
        assert stats(url)["calls"] == 12


def half_a_sign(_prompt: str) -> str:
    return "4 \ud83d"


def test_a_lone_surrogate_is_part_of_the_answer(litellm: None) -> None:
    with stub_server("--say", "tests.plugins.litellm.test_client:half_a_sign") as url:
        (texts,) = answered(model("litellm/openai/stub", url), list(requests(1))).values()
    assert [text[0] for text in texts] == ["4"]


def test_passing_faults_are_tried_again(litellm: None) -> None:
    with stub_server("--faults", "429=0.2,500=0.2", "--retry-after", "0.05") as url:
        found = answered(model("litellm/openai/stub", url, retries=12), list(requests(8)))
    assert not [text for texts in found.values() for text in texts if text.startswith("!")]


@pytest.mark.parametrize(("mode", "message"), [("wrong-key", "refuses"), ("no-model", "does not know")])
def test_what_no_call_can_do_ends_the_run(litellm: None, mode: str, message: str) -> None:
    with stub_server("--mode", mode) as url, pytest.raises(InputError, match=message) as fault:
        answered(model("litellm/openai/stub", url), list(requests(3)))
    assert "\n" not in str(fault.value)
    assert "sk-secret" not in str(fault.value)


def test_what_cannot_work_is_said_in_one_line(litellm: None) -> None:
    with pytest.raises(InputError, match=r"litellm does not know its provider .*litellm/PROVIDER/NAME"):
        answered(model("litellm/nothing-of-that-name", None), list(requests(1)))
    with pytest.raises(InputError, match="`transport` fast: is for openai/NAME"):
        ModelSettings(transport="fast").open("litellm/openai/stub", RequestContext())


def test_without_the_package_the_extra_is_named() -> None:
    try:
        import litellm  # noqa: F401
    except ImportError:
        with pytest.raises(
            InputError, match=r"litellm/x/y.* needs the package 'litellm'.*pip install -e .+litellm"
        ):
            ModelSettings().open("litellm/x/y", RequestContext())
