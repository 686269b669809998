"""Customers as the case file writes them: `Docs/policy-cases.md` describes the keys and what their absence means."""
import copy

from policy import PLATFORMS, Policy
from rules import Artifact, Customer, promises_made
from values import instant


def overlaid(base, overlay):
    """Mappings merge key by key, null removes, anything else replaces."""
    result = copy.deepcopy(base)
    for key, value in overlay.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = overlaid(result[key], value)
        elif isinstance(value, dict):
            result[key] = overlaid({}, value)
        else:
            result[key] = value
    return result


def reordered(case, change=reversed):
    """The case with its artifacts in another order; nothing if it has no two of one kind."""
    lists = {key: case[key] for key in ("app", "transactions", "renewals") if len(_list(case.get(key, []))) > 1}
    return {**case, **{key: list(change(value)) for key, value in lists.items()}} if lists else None


def _list(value):
    return value if isinstance(value, list) else [value]


def artifact(written, now):
    kind = written.get("kind", "appTransaction")
    id = None
    if written.get("appTransactionID") is not None:
        id = ("appTransactionID", written["appTransactionID"])
    elif written.get("downloadID") is not None:
        id = ("downloadID", written["downloadID"])
    platform = written.get("originalPlatform", None if kind == "receipt" else "iOS")
    platform = "iOS" if platform == "iPadOS" else platform  # A2
    return Artifact(
        kind=kind,
        signed=instant(written["signedDate"]) if "signedDate" in written else now,
        id=id,
        platform=platform if platform in PLATFORMS else None,
        version=written.get("originalAppVersion"),
        date=instant(written.get("originalPurchaseDate")),
        revocation=instant(written.get("revocationDate")),
        expiration=instant(written.get("expirationDate")),
    )


def _transaction(written, place, now):
    result = dict(written)
    for key in ("expiresDate", "revocationDate"):
        result[key] = instant(written.get(key))
    expires = result["expiresDate"]
    result["purchaseDate"] = (
        instant(written["purchaseDate"]) if "purchaseDate" in written
        else now if expires is None else min(now, expires))
    result["signedDate"] = instant(written["signedDate"]) if "signedDate" in written else now
    result.setdefault("type", "nonConsumable" if expires is None else "autoRenewable")
    result["transactionID"] = written.get("transactionID", str(place + 1))
    result["originalTransactionID"] = written.get("originalTransactionID", result["transactionID"])
    return result


def _renewal(written, transactions, now):
    result = dict(written)
    result["gracePeriodExpiresDate"] = instant(written.get("gracePeriodExpiresDate"))
    result["signedDate"] = instant(written["signedDate"]) if "signedDate" in written else now
    if "originalTransactionID" not in written:
        result["originalTransactionID"] = transactions[0]["originalTransactionID"]
    return result


def _support(written, now):
    kind = "grant" if "grant" in written else "revocation"
    return {
        "kind": kind,
        "entitlement": written[kind],
        "date": instant(written["date"]) if "date" in written else now,
        "until": instant(written.get("until")),
    }


def _promises(written, base, app, now):
    result = []
    for promise in written:
        given = promise.get("given", {})
        given_now = instant(given["now"]) if "now" in given else now
        given_app = given.get("app")
        artifacts = app if given_app is None else [artifact(each, given_now) for each in _list(given_app)]
        policy = Policy(overlaid(base, given["policy"])) if "policy" in given else Policy(base)
        made = promises_made(promise["entitlement"], policy, artifacts, given_now)
        if "until" in promise:
            for each in made:
                each.until = instant(promise["until"])
        result += made
    return result


def policy_and_customer(base, case, default_now=None):
    """What a case is about. Evidence from another environment than Production counts only without evidence from
    Production (I3)."""
    policy = Policy(overlaid(base, case["policy"])) if "policy" in case else Policy(base)
    now = instant(case.get("now", default_now))
    own = case.get("environment", "Production")
    app_written, transactions_written = _list(case.get("app", [])), _list(case.get("transactions", []))
    environments = {each.get("environment", own) for each in app_written + transactions_written}
    environment = "Production" if "Production" in environments else own

    def counts(written):
        return written.get("environment", own) == environment

    app = [artifact(each, now) for each in app_written if counts(each)]
    transactions = [
        _transaction(each, place, now) for place, each in enumerate(transactions_written) if counts(each)]
    persona = case.get("persona")
    return policy, Customer(
        environment=environment,
        artifacts=app,
        transactions=transactions,
        renewals=[_renewal(each, transactions, now) for each in _list(case.get("renewals", []))],
        purchases_complete=case.get("purchasesComplete", True),
        support=[_support(each, now) for each in _list(case.get("support", []))],
        persona=None if persona is None else artifact(persona, now),
        promises=_promises(_list(case.get("promises", [])), base, app, now),
        now=now,
    )
