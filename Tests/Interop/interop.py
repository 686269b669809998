"""Judges artifacts with Apple's own library.

Reads a JSON array from the file in argv[1], each element with `kind`, `jws`, `root` (Base64 of DER), `bundleID`,
`appAppleID` and `environment`. Writes a JSON array of the verdicts to standard output: `error` (null where it
accepts), and `fields`, what it read, by the names of Apple's JSON.
"""
import base64
import json
import sys

import attr
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier


def plain(value):
    """What the library read, as JSON; the raw value of an enumeration under the name of its field."""
    if attr.has(type(value)):
        fields = {}
        for field in attr.fields(type(value)):
            name = field.name
            if name.startswith("raw"):
                continue
            raw = "raw" + name[:1].upper() + name[1:]
            content = getattr(value, raw) if hasattr(value, raw) else getattr(value, name)
            if content is not None:
                fields[name] = plain(content)
        return fields
    if isinstance(value, list):
        return [plain(element) for element in value]
    return value


def verdict(artifact):
    verifier = SignedDataVerifier(
        [base64.b64decode(artifact["root"])],
        False,
        Environment(artifact["environment"]),
        artifact["bundleID"],
        artifact["appAppleID"],
    )
    verify = {
        "appTransaction": verifier.verify_and_decode_app_transaction,
        "transaction": verifier.verify_and_decode_signed_transaction,
        "renewalInfo": verifier.verify_and_decode_renewal_info,
        "notification": verifier.verify_and_decode_notification,
    }[artifact["kind"]]
    try:
        return {"error": None, "fields": plain(verify(artifact["jws"]))}
    # Whatever it raises is a refusal: some malformed artifacts make it fail in other ways than its own.
    except Exception as error:
        status = getattr(error, "status", None)
        return {"error": f"{type(error).__name__} {status}", "fields": None}


with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps([verdict(artifact) for artifact in json.load(file)]))
