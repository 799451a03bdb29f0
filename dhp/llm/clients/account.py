"""The words by which servers say that an account can pay for no further call, and what helps then.

Waiting is in vain then, and each further call is a refusal: the run stops. No two servers use the same status
or words, and the same words also stand in errors that pass: a limit of a minute is raised "by adding credit",
a server at fault names its "billing service". So codes are looked at before words, words only under the
statuses that fit them, and patterns take two words of one sentence together. `tests/llm/test_account.py` has
what servers said.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortage:
    """One reason why no call is answered until somebody acts, or a day is over."""

    remedy: str
    """What to do, before the command is repeated."""
    codes: str
    """Pattern of the error's code, in lower case and without signs."""
    words: str
    """Pattern of the words of the error."""

    def fits(self, text: str) -> bool:
        """Whether an error has these words."""
        return re.search(self.words, text, re.I) is not None


def _near(one: str, other: str, most: int) -> str:
    """Pattern of two in one sentence, in any order, with at most so many characters between them."""
    between = rf"[^.!?。！？\n]{{0,{most}}}?"
    return rf"(?:{one}){between}(?:{other})|(?:{other}){between}(?:{one})"


# What may be missing, and how that is said: "credit balance is too low", "no credits", "wallet is empty".
_MONEY = (
    r"\bcredits?\b|\bbalance\b|\bfunds?\b|free[ -]tier\b|free allocation|\bwallet\b|\bprepaid\b|"
    r"\ballotment\b|\btrial\b|\bunits\b"
)
_LACKING = (
    r"\binsufficient|\bnot enough|\b(?:too |is )?low\b|\bout of\b|\bno (?:remaining|more|available)\b|"
    r"\bused (?:up\b|all)|\b(?:run|ran|running) out\b|\bexhausted|\bdepleted|\black|\bnegative\b|\bexpired|"
    r"\bexceed|\breach|\bzero\b|\badd\b|\bbuy\b|\bpurchase|\btop.?up|\brecharge|\bmore\b|\bafford\b|"
    r"\bhas no\b|n[o']t have(?: any)?\b|\bempty\b|\bended\b"
)
# A limit of what may be spent, and that it is reached: "monthly spend cap hit", "cost limit reached".
_CAP = (
    r"\b(?:monthly|weekly|daily|credit|cost|spend|usage|dollar|billing|hard) (?:cap|ceiling)\b|\bcost limit"
)
_MET = r"\bhit\b|\breached|\bexceed|\bover\b|\bmet\b|\bexhausted|\bused up|\bpassed"
# Who is locked out, and how: "organization has been disabled", "account suspended".
_HOLDER = r"\baccount\b|\borgani[sz]ation\b|\bsubscription\b|\bproject\b|\bconsumer\b|\bworkspace\b|\bteam\b"
_STOPPED = (
    r"\bsuspended|\bdeactivated|\bdisabled|\brestricted|\bterminated|\bfrozen|\blocked|\bbanned|\binactive\b|"
    r"\bnot active|\bon hold\b|\bsuspension"
)
# A span of a day or longer, and what is limited: "requests per day (RPD): limit 1000", "daily quota exceeded"
_OF_A_DAY = (
    r"per.?day|\brpd\b|\btpd\b|\bdaily\b|per 86400|by.?day\b|24.?h(?:ours?)?\b|per.?month\b|\bmonthly\b|"
    r"/ ?day\b|/ ?month\b|per.?week\b|\bweekly\b|\btoday\b|for the day\b"
)
_LIMIT = r"limit|quota|allowance|allocation|exceed|exhaust|maximum|too many"
# The same in Chinese: spans, quotas, "used up".
_DAY = "每日|每天|当日|當日|今日|今天|当天|當天|日流控|日限额|日配额|本月|每月|当月|包月"
_QUOTA = "额度|額度|配额|配額|限额|限額|资源包|資源包|免费|点数|點數|积分|次数|用量|调用量|限制|上限|流控"
_USED_UP = "不足|用尽|用盡|用完|耗尽|耗盡|已尽|超限|超出|超过|超過|达到|達到|已达|为0|为零|過低|过低"
# The four kinds in German, French, Italian, Spanish, Portuguese, Dutch, Polish, Turkish, Russian, Japanese
# and Korean, want of money also in Arabic and Vietnamese, as far as servers say it in these languages.
_IN_OTHER_LANGUAGES = {
    "money": _near(
        r"\bguthaben|\bkontostand|\bcrédits?\b|\bsolde\b|"
        r"\bsaldo|\bcr[ée]dit[oi]s?\b|\bfondos\b|\bfundos\b|\btegoed|\bśrodk|\bśrodek|\bbakiye|баланс|средств|"
        r"残高|クレジット|잔액|크레딧|الرصيد|رصيدك|số dư",
        r"aufgebraucht|verbraucht|reicht nicht|ausreichend|erschöpft|\bleer\b|niedrig|gering|\bkein|"
        r"insuffisant|épuisé|trop (?:bas|faible)|\bplus de\b|\bnul\b|\brecharge|"
        r"insuff?i[cz]ient|agotad|esgotad|esaurit|sin saldo|ricaric|recarg|onvoldoende|niewystarcz|brak |"
        r"yetersiz|недостаточно|исчерпан|закончил|пополн|不足|切れ|チャージ|ありません|부족|소진|충전|"
        r"غير كاف|نفد|không đủ|\bhết\b",
        60,
    )
    + r"|zahlungsrückstand|unbezahlt|offene rechnung|zahlung erforderlich|impayé|paiement (?:requis|refusé)",
    "limit": r"ausgabenlimit|budget (?:ist )?(?:überschritten|aufgebraucht|dépassé|épuisé)|"
    r"(?:limite|plafond) de dépenses?",
    "account": _near(
        r"konto\b|\bcompte\b|\borganisation\b",
        r"gesperrt|deaktiviert|eingefroren|\bsuspendu|désactivé|\bbloqué|\bgelé\b",
        60,
    ),
    "day": _near(
        r"pro tag\b|täglich|\btages|pro monat\b|monatlich|\bmonats|"
        r"par jour|quotidien|journali|par mois|mensuel|"
        r"por día|por dia|diari[oa]|al giorno|giornalier|al mese|mensile|mensual|mensal|"
        r"в день|дневн|суточн|в месяц|1日|日次|本日|月間|하루|일일|월간|günlük|aylık|dzienn|dagelijks",
        r"limit|kontingent|quota|plafond|überschritten|erreicht|erschöpft|dépassé|atteint|épuisé|"
        r"límite|cuota|cota\b|superad|excedid|лимит|квот|上限|制限|超え|한도|초과|kota\b",
        80,
    ),
}

SHORTAGES = (
    Shortage(
        "add credit to the account",
        r"insufficient.?(?:user)?(?:quota|balance|credit|fund)|billing|arrear|overdue|payment|paymentrequired|"
        r"exceededcurrentquota|quotaexhausted|tokenquotafailed|nocredit|creditlimit|freetieronly",
        r"\bbilling\b|payment (?:required|method|failed|overdue|is )|past.?due|over.?due|\barrear|\bunpaid\b|"
        r"outstanding (?:balance|invoice)|good standing|exceeded your (?:current )?quota|"
        r"\btop.?up\b|\brecharge\b|"
        rf"{_near(_MONEY, _LACKING, 60)}|"
        "欠费|欠費|余额|餘額|充值|储值|儲值|账单|帳單|逾期|停机|购买|購買|"
        f"(?:额度|額度|配额|配額|资源包|資源包|点数|點數|积分)[^。，,]{{0,8}}(?:{_USED_UP})|"
        f"{_IN_OTHER_LANGUAGES['money']}",
    ),
    Shortage(
        "raise the limit of the key, or of what may be spent",
        r"budgetexceeded|exceededbudget|spendlimit|keylimit|usagelimit|setlimitexceeded|hardlimit",
        r"\bspend(?:ing)?\b[^.!?\n]{0,30}\b(?:cap|limit|ceiling|threshold|allowance)|"
        rf"{_near(_CAP, _MET, 40)}|"
        r"(?<!thinking )(?<!thinking_)\bbudget (?:has been |is |was )?exceeded|exceeded ?budget|over budget|"
        r"max(?:imum)? budget|\busage limits?\b|\bcredit limit|\bhard limit\b|"
        rf"{_near('api.key|this key|key.s', 'limit |limit$|quota', 30)}|key limit|"
        f"{_IN_OTHER_LANGUAGES['limit']}",
    ),
    Shortage(
        "have the account unlocked by the provider",
        r"accountdeactivated|accountsuspended|organizationrestricted|accessterminated|consumersuspended|"
        r"accountdisabled|accountlocked|accountfrozen|inactivesubscription",
        rf"{_near(_HOLDER, _STOPPED, 60)}|"
        "(?:账户|账号|帳戶|帳號|用户|服务|服務|应用|令牌|密钥)[^。，,]{0,12}"
        "(?:冻结|凍結|锁定|鎖定|停用|封禁|禁用|暂停|暫停|停服|关停|已关闭|非活动)|"
        f"{_IN_OTHER_LANGUAGES['account']}",
    ),
)
"""In the order in which they are looked for."""
OF_A_DAY = Shortage(
    "wait until the quota is renewed, or raise it",
    r"perday|daily|quotafortheday",
    rf"{_near(_OF_A_DAY, _LIMIT, 80)}|"
    f"(?:{_DAY})[^。]{{0,12}}(?:{_QUOTA})|(?:{_USED_UP})[^。]{{0,12}}(?:{_DAY})|"
    f"{_IN_OTHER_LANGUAGES['day']}",
)
"""A quota of a day or longer that is used up."""
_A_QUOTA = Shortage(
    "raise the quota",
    "",
    rf"{_near('quota', 'not enough|insufficient|exhausted|used up|exceed', 40)}",
)
"""Any quota; with status 429 it may be one of a minute."""
_RATE = re.compile(
    r"p(?:er|ro|ar).?(?:minute|min|second|sec|sekunde|seconde|hour|stunde|heure)\b|"
    r"zu viele anfragen|trop de requêtes|\b[rtqi]p[ms]\b|rate.?limit|too many requests|concurren|throttl|"
    r"速率|频率|頻率|并发|並發|每分|每秒|秒级|过快|頻繁|频繁",
    re.I,
)
"""Words of a limit that passes within minutes; what looks like want of money beside them is advertising."""
# "tokens per min (TPM)", "60 requests per minute"
_OF_A_MINUTE = re.compile(
    r"p(?:er|ro|ar).?(?:minute|min|second|sec|sekunde|seconde)\b|\b[rt]p[ms]\b|每分|每秒|秒级", re.I
)
_OF_A_SERVER = re.compile(
    r"unavailable|time[sd]?[ -]?out|temporar|try again|unreachable|connect|upstream|internal|\bbug",
    re.I,
)
"""Words of a server that is itself at fault, whatever part of it they name."""
_SHORT_WAIT = 60.0
"""Seconds of the longest wait for a limit of a minute: it is over after a minute."""
# "https://platform.openai.com/account/billing"
_ADDRESS = re.compile(r"https?://\S+")
_LONGEST = 2000
"""Characters of an error that are looked at. Chosen."""


def names_a_rate(message: str) -> bool:
    """Whether a server speaks of a limit that passes within minutes."""
    return _RATE.search(message) is not None


def shortage(status: int, codes: str, message: str, wait: float | None) -> Shortage | None:
    """The shortage of which an error speaks; None for any other fault.

    `codes` are its code, type and the like, separated by spaces; `wait` the seconds that it asks to wait,
    None if it does not say.
    """
    if not 400 <= status < 600:
        return None
    text = _ADDRESS.sub("", message)[:_LONGEST]  # addresses hold words such as /billing

    # A code is clear, whatever the words.
    for each in (*SHORTAGES, OF_A_DAY):
        if _has_code(each, codes):
            passes = status == 429 and _passes(each, text, wait)
            return None if passes else each

    if status in (404, 408):  # words about money may be those of an address, or of a text
        return None
    if status >= 500:  # mostly the server's own fault, whatever it names
        if _RATE.search(text) or _OF_A_SERVER.search(text):
            return None
        return _first_that_fits(SHORTAGES, text)
    if status == 429:
        return _of_too_many_calls(text, wait)
    by_words = _first_that_fits((*SHORTAGES, OF_A_DAY, _A_QUOTA), text)
    if by_words is None and status == 402:  # Payment Required, in words of another language
        return SHORTAGES[0]
    return by_words


def _has_code(shortage: Shortage, codes: str) -> bool:
    """Whether one of these codes is one of the shortage: `insufficient_quota`, `QuotaExhausted`."""
    plain = [re.sub(r"[^a-z0-9]", "", code.lower()) for code in codes.split()]
    return any(re.search(shortage.codes, code) for code in plain)


def _passes(shortage: Shortage, text: str, wait: float | None) -> bool:
    """Whether a quota of a day is named beside one of a minute, and that one is at fault."""
    return (
        shortage is OF_A_DAY and bool(_OF_A_MINUTE.search(text)) and wait is not None and wait <= _SHORT_WAIT
    )


def _of_too_many_calls(text: str, wait: float | None) -> Shortage | None:
    """The shortage behind status 429, which mostly is a limit of a minute."""
    if OF_A_DAY.fits(text) and not _passes(OF_A_DAY, text, wait):
        return OF_A_DAY
    if wait is None and not _RATE.search(text):
        return _first_that_fits(SHORTAGES, text)
    return None


def _first_that_fits(shortages: Iterable[Shortage], text: str) -> Shortage | None:
    for each in shortages:
        if each.fits(text):
            return each
    return None
