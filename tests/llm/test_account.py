"""An account without money or quota ends a run at once; a limit of a minute, or a refused text, ends none."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.errors import StoppedEarly
from dhp.llm.clients.account import OF_A_DAY, SHORTAGES, shortage
from dhp.llm.clients.waits import requested_wait, seconds
from tests.llm.helpers import answered, cached_model, requests
from tests.server import Call, refusal, reply, scripted_server

CREDIT, LIMIT, LOCKED = SHORTAGES
SPENT = [
    (
        429,
        "insufficient_quota",
        "You exceeded your current quota, check your plan and billing details",
        CREDIT,
    ),
    (400, "invalid_request_error", "Your credit balance is too low to access the API", CREDIT),
    (400, "Arrearage", "Access denied, please make sure your account is in good standing.", CREDIT),
    (403, "AllocationQuota.FreeTierOnly", "The free tier of the model has been exhausted.", CREDIT),
    (402, "", "", CREDIT),
    (429, "1113", "余额不足或无可用资源包,请充值。", CREDIT),
    (400, "", "您的账户已欠费，请充值后重试", CREDIT),
    (403, "", "帳戶餘額不足", CREDIT),
    (401, "", "该令牌额度已用尽", CREDIT),
    (403, "AccountOverdueError", "The request failed because your account has an overdue balance.", CREDIT),
    (403, "", "Your team doesn't have any credits yet.", CREDIT),
    (429, "", "API key quota exhausted. Please top up your account.", CREDIT),
    (403, "", "Key limit exceeded", LIMIT),
    (400, "budget_exceeded", "Current cost: 0.01, Max budget: 0.005", LIMIT),
    (400, "", "You have reached your specified API usage limits.", LIMIT),
    (401, "account_deactivated", "This key is of no use any more.", LOCKED),
    (400, "", "This organization has been disabled.", LOCKED),
    (403, "", "账号已被冻结", LOCKED),
    (429, "rate_limit", "Rate limit reached on requests per day (RPD): Limit 1000, Used 1000.", OF_A_DAY),
    (429, "", "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock more", OF_A_DAY),
    (429, "", "Too many tokens per day, please wait before trying again.", OF_A_DAY),
    (429, "", "Quota exceeded for the day", OF_A_DAY),
    (429, "", "日流控超限。超过当日最大访问量的限制", OF_A_DAY),
    (403, "", "Das Guthaben reicht nicht aus, bitte laden Sie Ihr Konto auf.", CREDIT),
    (400, "", "Solde insuffisant : veuillez recharger votre compte", CREDIT),
    (429, "", "Crédits épuisés", CREDIT),
    (403, "", "Limite de dépenses atteinte", LIMIT),
    (401, "", "Ihr Konto wurde gesperrt.", LOCKED),
    (403, "", "Votre compte a été suspendu", LOCKED),
    (429, "", "Monthly spend cap hit", LIMIT),
    (429, "", "This workspace has reached its spending limit", LIMIT),
    (429, "", "Your weekly cap was exceeded", OF_A_DAY),
    (500, "", "insufficient balance", CREDIT),
    (503, "", "Spending cap reached for this project", LIMIT),
    (502, "", "余额不足", CREDIT),
    (429, "", "Il tuo credito è esaurito. Ricarica il conto.", CREDIT),
    (429, "", "Saldo insuficiente. Recargue su cuenta.", CREDIT),
    (429, "", "残高が不足しています。チャージしてください。", CREDIT),
    (429, "", "잔액이 부족합니다. 충전해 주세요.", CREDIT),
    (500, "", "Недостаточно средств на балансе", CREDIT),
    (429, "", "Bakiyeniz yetersiz", CREDIT),
    (429, "", "1日の上限を超えました", OF_A_DAY),
    (429, "", "Límite diario superado", OF_A_DAY),
    (429, "", "Your wallet is empty", CREDIT),
    (429, "", "Cost ceiling of $20 reached for this virtual key", LIMIT),
    (429, "", "Tageslimit erreicht", OF_A_DAY),
    (429, "", "Vous avez dépassé votre quota quotidien de requêtes", OF_A_DAY),
]
OTHERWISE = [
    (429, "Zu viele Anfragen: 60 pro Minute; mehr Guthaben hebt das Limit, keines senkt es", None),
    (429, "Trop de requêtes par minute, rechargez vos crédits pour aller plus vite", None),
    (400, "Der Text ist zu lang; das Limit von 4096 Token ist überschritten", None),
    (400, "la note du compte rendu est trop longue", None),
    (
        429,
        "tokens per min (TPM): Limit 10000. You can increase it by adding a payment method, see billing",
        2.4,
    ),
    (429, "You exceeded your current quota, please check your plan and billing details.", 34.0),
    (429, "exceeded call rate limit of your current S0 pricing tier", 59.0),
    (429, "Quota exceeded for online_prediction_requests_per_base_model with base model: x", None),
    (429, "60 requests per minute, 1000 per day: limit of the minute exceeded", 12.0),
    (429, "您的账户已达到速率限制，请您控制请求频率", None),
    (400, "`max_tokens` must be greater than `thinking.budget_tokens`", None),
    (400, "The thinking budget exceeded the maximum", None),
    (400, "token limit exceeded", None),
    (401, "Incorrect API key provided", None),
    (403, "Your organization must be verified to use the model `x`", None),
    (404, "The model `x` does not exist; check your billing", None),
    (500, "internal billing error", None),
    (503, "The billing service is unavailable", None),
    (502, "connect error: credits-service ran out of connections", None),
    (429, "Concurrency cap hit", None),
    (429, "リクエストが多すぎます", None),
    (429, "Слишком много запросов", None),
    (429, "Demasiadas solicitudes, espere", None),
    (429, "요청이 너무 많습니다", None),
    (400, "Failed to deserialize the JSON body", None),
]


@pytest.mark.parametrize(("status", "code", "message", "found"), SPENT)
def test_words_of_an_account_that_can_pay_for_nothing(
    status: int, code: str, message: str, found: object
) -> None:
    assert shortage(status, code, message, None) is found


@pytest.mark.parametrize(("status", "message", "wait"), OTHERWISE)
def test_words_of_other_faults(status: int, message: str, wait: float | None) -> None:
    assert shortage(status, "", message, wait) is None


NOW = 1_800_000_000.0  # 2027-01-15 08:00:00 UTC
WAITS = [
    ("Please try again in 7h12m0s.", 25920),
    ("Please try again in 4m19.2s. Visit us", 259.2),
    ("Please retry in 34.07s", 34.07),
    ("Please retry after 59 seconds.", 59),
    ("Rate limit of 150 per 86400s exceeded. Please wait 71234 seconds before retrying.", 71234),
    (
        "Out of call volume quota. Quota will be replenished in 2.06:36:22",
        2 * 86400 + 6 * 3600 + 36 * 60 + 22,
    ),
    ("You will regain access on 2027-01-16 at 08:00 UTC", 86400),
    ("请在 5 分钟后重试", 300),
    ("Bitte versuchen Sie es in 7 Stunden und 5 Minuten erneut", 25500),
    ("Veuillez réessayer dans 2 heures et 30 secondes", 7230),
    ("try again in 250ms", 0.25),
    ('"retryDelay": "34s"', 34),
    ("Retry-After: 30", 30),
    ("Please try again later. Limit 3 / min", None),
]


@pytest.mark.parametrize(("message", "wait"), WAITS)
def test_waits_in_words(message: str, wait: float | None) -> None:
    assert requested_wait(429, {}, {}, message, NOW) == pytest.approx(wait)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after-ms": "3600000"}, 3600),
        ({"Retry-After": "Fri, 15 Jan 2027 09:00:00 GMT"}, 3600),
        ({"Retry-After": "1800000060"}, 60),
        ({"Retry-After": "2.5"}, 2.5),
        ({"Retry-After": "-3"}, 0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, 360),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "2s"}, 2),
        (
            {
                "x-ratelimit-reset-requests-day": "33011.38",
                "x-ratelimit-remaining-requests-day": "0",
                "x-ratelimit-reset-tokens-minute": "11",
                "x-ratelimit-remaining-tokens-minute": "900",
            },
            33011.38,
        ),
        ({"X-RateLimit-Reset": "1800000060"}, 60),
        ({"X-RateLimit-Reset": "1800000060000"}, 60),
        ({"anthropic-ratelimit-requests-reset": "2027-01-15T08:01:00Z"}, 60),
        ({"Retry-After": "2", "x-ratelimit-reset-requests": "6m0s"}, 2),
        ({"x-ratelimit-limit-requests": "60"}, None),
    ],
)
def test_waits_in_headers(headers: dict[str, str], wait: float | None) -> None:
    lower = {**{name.lower(): value for name, value in headers.items()}, **headers}
    assert requested_wait(429, lower, {}, "", NOW) == pytest.approx(wait)
    if "Retry-After" not in headers and "retry-after-ms" not in headers:
        assert requested_wait(500, lower, {}, "", NOW) is None


def test_waits_in_fields_of_an_error() -> None:
    info = {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]}
    assert requested_wait(429, {}, info, "", NOW) == 34
    assert requested_wait(429, {}, {"retryDelay": {"seconds": 5, "nanos": 500_000_000}}, "", NOW) == 5.5
    inner = {"metadata": {"headers": {"X-RateLimit-Reset": "1800000060000", "X-RateLimit-Remaining": "0"}}}
    assert requested_wait(429, {}, inner, "", NOW) == pytest.approx(60)


@given(st.text(max_size=60))
def test_any_text_is_a_wait_or_none(text: str) -> None:
    found = seconds(text, NOW)
    assert found is None or found >= 0
    wait = requested_wait(429, {"Retry-After": text}, {"retryDelay": text}, text, NOW)
    assert wait is None or wait >= 0


@given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59))
def test_durations_add_up(hours: int, minutes: int, rest: int) -> None:
    whole = 3600 * hours + 60 * minutes + rest
    for text in (
        f"{hours}h{minutes}m{rest}s",
        f"{hours}:{minutes:02}:{rest:02}",
        f"{hours} hours, {minutes} minutes and {rest} seconds",
    ):
        assert seconds(text, NOW) == whole


def spending(call: int, refused: object) -> object:
    return reply("4") if call <= 20 else refused


@pytest.mark.parametrize("transport", ["fast", "sdk"])
@pytest.mark.parametrize(
    "refused",
    [
        refusal(400, "Your credit balance is too low to access the API. Purchase credits."),
        pytest.param(
            refusal(429, "Rate limit reached on requests per day (RPD). Please try again in 7h12m0s."),
            marks=pytest.mark.slow,
        ),
        pytest.param(refusal(403, "账户余额不足"), marks=pytest.mark.slow),
        pytest.param(refusal(429, "slow down", retry_after_ms="3600000"), marks=pytest.mark.slow),
        pytest.param(
            (429, {}, [{"error": {"code": 429, "message": "no", "details": [{"retryDelay": "40m"}]}}]),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_run_stops_at_once_when_the_money_is_gone(refused: object, transport: str, tmp_path: Path) -> None:
    with scripted_server(lambda call: spending(len(server.calls), refused)) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", transport=transport)
        began = time.monotonic()
        with pytest.raises(StoppedEarly):
            answered(asked, list(requests(500)))
        assert time.monotonic() - began < 10
        assert len(server.calls) <= 20 + 8
    assert asked.usage.calls == 20


@pytest.mark.slow
def test_an_error_that_repeats_a_text_about_money_is_no_shortage(tmp_path: Path) -> None:
    """As gateways do; the texts are those of a bank's customers."""
    told = "my credit balance is too low, how do I top up my account, text"

    def says(call: Call) -> object:
        prompt = call.body["messages"][0]["content"]
        return refusal(400, f"cannot serve messages=[{prompt!r}]") if "3." in prompt else reply("4")

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite")
        found = answered(asked, list(requests(40, prompt=told)))
    assert sum(texts == ["4"] for texts in found.values()) == 36


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 418, 422, 500])
def test_a_run_stops_when_nothing_succeeds_any_more(status: int, tmp_path: Path) -> None:
    """Without any known word, whatever the status."""
    with scripted_server(
        lambda call: spending(len(server.calls), refusal(status, "computer says no"))
    ) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", retries=0)
        with pytest.raises(StoppedEarly, match=r"computer says no|HTTP 401"):
            answered(asked, list(requests(500)))
        assert len(server.calls) <= 20 + 10 + 3 * 8
    assert asked.usage.calls == 20


@pytest.mark.slow
def test_a_long_run_of_refused_texts_ends_nothing(tmp_path: Path) -> None:
    """One that was answered is asked again after 10 and 20 of them: it shows whose fault it is."""

    def says(call: Call) -> object:
        number = int(call.body["messages"][0]["content"].split()[-1].strip("."))
        return refusal(400, "cannot be processed") if 20 <= number < 60 else reply("4")

    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", concurrency=2)
        found = answered(asked, list(requests(100)))
        assert sorted(tag for tag, (text,) in found.items() if text != "4") == list(range(20, 60))
        assert len(server.calls) == 100 + 2
        again = cached_model(f"{server.url}/v1", tmp_path / "s.sqlite", concurrency=2)
        assert answered(again, list(requests(100))) == found
        assert len(server.calls) == 102 + 40 + 2
