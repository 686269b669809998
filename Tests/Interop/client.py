"""Works through a local App Store with Apple's own client.

Reads a JSON object from the file in argv[1]:
- `url`, `key` (PEM), `keyID`, `issuerID`, `bundleID`, `appAppleID`, `root` (Base64 of DER), `environment`
- the IDs of a local App Store with one subscriber, who also bought 45 consumables; two were refunded
- `errors`: all documented errors

Writes a JSON object to standard output: the result of each step, or the error that it raised.
"""
import base64
import json
import sys
import urllib.request

from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

with open(sys.argv[1], encoding="utf-8") as file:
    fixture = json.load(file)

environment = Environment(fixture["environment"])


def client_for(bundle_id, key_id=fixture["keyID"]):
    client = AppStoreServerAPIClient(
        fixture["key"].encode(), key_id, fixture["issuerID"], bundle_id, environment
    )
    client._base_url = fixture["url"]
    return client


client = client_for(fixture["bundleID"])
verifier = SignedDataVerifier(
    [base64.b64decode(fixture["root"])], False, environment, fixture["bundleID"], fixture["appAppleID"]
)
subscription, consumable, customer = fixture["subscription"], fixture["consumable"], fixture["appTransaction"]
results = {}


def step(name, work):
    try:
        results[name] = work()
    except APIException as error:
        results[name] = f"{error.http_status_code} {error.raw_api_error}"


def history(version, **filters):
    request = TransactionHistoryRequest(**filters)
    pages, revision = [], None
    while True:
        page = client.get_transaction_history(customer, revision, request, version)
        pages.append([verifier.verify_and_decode_signed_transaction(jws).transactionId for jws in page.signedTransactions])
        revision = page.revision
        if not page.hasMore:
            return pages


def sizes(pages):
    return [len(page) for page in pages]


def statuses(filter=None):
    answer = client.get_all_subscription_statuses(customer, filter)
    return [
        [
            item.status.value,
            verifier.verify_and_decode_signed_transaction(item.signedTransactionInfo).productId,
            verifier.verify_and_decode_renewal_info(item.signedRenewalInfo).autoRenewStatus.value,
        ]
        for group in answer.data
        for item in group.lastTransactions
    ]


def refunds():
    answer = client.get_refund_history(customer, None)
    return [verifier.verify_and_decode_signed_transaction(jws).revocationReason.value for jws in answer.signedTransactions]


def notifications(**filters):
    request = NotificationHistoryRequest(startDate=fixture["start"], endDate=fixture["end"], **filters)
    types, token = [], None
    while True:
        page = client.get_notification_history(token, request)
        for item in page.notificationHistory:
            notification = verifier.verify_and_decode_notification(item.signedPayload)
            types.append(notification.notificationType.value + " " + item.sendAttempts[-1].sendAttemptResult.value)
        token = page.paginationToken
        if not page.hasMore:
            return sorted(set(types)) + [len(types)]


def test_notification():
    token = client.request_test_notification().testNotificationToken
    answer = client.get_test_notification_status(token)
    return verifier.verify_and_decode_notification(answer.signedPayload).notificationType.value


def app_transaction():
    answer = client.get_app_transaction_info(subscription)
    decoded = verifier.verify_and_decode_app_transaction(answer.signedAppTransactionInfo)
    return decoded.originalApplicationVersion


def transaction(id):
    answer = client.get_transaction_info(id)
    return verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo).transactionId


def extension(**fields):
    values = dict(extendByDays=14, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier="one")
    return ExtendRenewalDateRequest(**{**values, **fields})


def extend_all(identifier):
    client.extend_renewal_date_for_all_active_subscribers(
        MassExtendRenewalDateRequest(
            extendByDays=1,
            extendReasonCode=ExtendReasonCode.OTHER,
            requestIdentifier=identifier,
            storefrontCountryCodes=["USA"],
            productId=fixture["product"],
        )
    )
    answer = client.get_status_of_subscription_renewal_date_extensions(identifier, fixture["product"])
    return [answer.complete, answer.succeededCount, answer.failedCount]


V1, V2 = GetTransactionHistoryVersion.V1, GetTransactionHistoryVersion.V2
answered = ConsumptionRequest(
    customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED
)
token = UpdateAppAccountTokenRequest(appAccountToken="0e3a2a3c-0000-4000-8000-000000000001")

step("transaction", lambda: transaction(consumable) == consumable)
step("app transaction", app_transaction)
step("pages", lambda: sizes(history(V2)))
step("descending", lambda: sum(history(V2, sort=Order.DESCENDING), [])[::-1] == sum(history(V2), []))
step("subscriptions", lambda: sizes(history(V2, productTypes=[ProductType.AUTO_RENEWABLE])))
step("revoked", lambda: sizes(history(V2, revoked=True)))
step("kept", lambda: sizes(history(V2, revoked=False)))
step("statuses", statuses)
step("expired", lambda: statuses([Status.EXPIRED]))
step("refunds", refunds)
step("order", lambda: len(client.look_up_order_id(fixture["order"]).signedTransactions))
step("notifications", notifications)
step("failures", lambda: notifications(onlyFailures=True))
step("test", test_notification)
step("consumption", lambda: client.send_consumption_information(consumable, answered))
step("token", lambda: client.set_app_account_token(subscription, token))
step("finish", lambda: client.finish_transaction(consumable))
step("version 1", lambda: sum(sizes(history(V1))))
step("extend", lambda: client.extend_subscription_renewal_date(subscription, extension()).success)
step("extend all", lambda: extend_all("mass"))
step("extend again", lambda: client.extend_subscription_renewal_date(subscription, extension()).success)

step("4000006", lambda: client.get_transaction_info("abc"))
step("4000008", lambda: client.extend_subscription_renewal_date("abc", extension()))
step("4000009", lambda: client.extend_subscription_renewal_date(subscription, extension(extendByDays=91)))
step("4000011", lambda: client.extend_subscription_renewal_date(subscription, extension(requestIdentifier="")))
step("4000005", lambda: client.get_transaction_history(customer, "x", TransactionHistoryRequest(), V2))
step("4000013", lambda: history(V2, startDate=2, endDate=1))
step("4000048", lambda: client.get_transaction_info(customer))
step("4000187", lambda: client.set_app_account_token(fixture["renewal"], token))
step("4030005", lambda: client.extend_subscription_renewal_date(subscription, extension()))
step("4040005", lambda: client.extend_subscription_renewal_date("410999999999999", extension()))
step("4040008", lambda: client.get_test_notification_status("0e3a2a3c-0000-4000-8000-000000000001_1"))
step("4040009", lambda: client.get_status_of_subscription_renewal_date_extensions("none", fixture["product"]))
step("4040010", lambda: client.get_transaction_info("410999999999999"))
step("wrong app", lambda: client_for("com.example.other").get_transaction_info(consumable))
step("wrong key", lambda: client_for(fixture["bundleID"], "ABCDEFGHIJ").get_transaction_info(consumable))



def refusal(code):
    """How Apple's client reads a documented error, which the local App Store answers next."""
    body = json.dumps({"code": code, "requests": 1}).encode()
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(fixture["url"] + "/control/fault", body, headers)).close()
    try:
        client.get_transaction_info(consumable)
    except APIException as error:
        return f"{error.http_status_code} {error.raw_api_error}" + ("" if error.api_error else " unknown")


results["errors"] = [refusal(code) for code in fixture["errors"]]

print(json.dumps(results))
