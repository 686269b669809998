"""Compares `tenure rehearse` with the rules in this folder, over random policies and customers.

    python3 rehearsal.py --tool .build/debug/tenure-cli --policies 20 --customers 10 --seed 1

Each customer's artifacts are signed by a test authority and rehearsed, one line for each under one `id`. Only proofs of
the app are compared: no purchases, support or promises. The exit status is 1 where an outcome differs.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import rules
from casefile import policy_and_customer
from compare import policy_text
from generator import generate
from policy import Policy
from values import DAY, SECOND, instant, text

APP_TRANSACTION = {
    "receiptCreationDate": "signedDate", "appTransactionId": "appTransactionID", "originalPlatform": "originalPlatform",
    "originalApplicationVersion": "originalAppVersion", "originalPurchaseDate": "originalPurchaseDate",
    "preorderDate": "preorderDate", "revocationDate": "revocationDate",
}
RECEIPT = {
    "receipt_creation_date": "signedDate", "download_id": "downloadID",
    "original_application_version": "originalAppVersion", "original_purchase_date": "originalPurchaseDate",
    "expiration_date": "expirationDate",
}
# What a signed artifact can't say: receipts have no milliseconds, and numbers for IDs.
DATES = ("signedDate", "originalPurchaseDate", "expirationDate")


def is_signable(artifact):
    if artifact.get("kind") != "receipt":
        return True
    return all(instant(artifact.get(key)) is None or instant(artifact[key]) % SECOND == 0 for key in DATES)


def signed_again(rng, app, now):
    """The artifacts, and after a refund the same facts without it, as the App Store signs them again and again."""
    result = list(app)
    for refund in [each for each in app if "revocationDate" in each]:
        artifact = {key: value for key, value in refund.items() if key != "revocationDate"}
        for days in [-10, 5, 5, 20, 20, 200]:
            offset = rng.randrange(1, abs(days) * DAY // SECOND) * (SECOND if days > 0 else -SECOND)
            signed = instant(refund["signedDate"]) + offset
            if signed <= now and not any(instant(each["signedDate"]) == signed for each in result):
                result.append({**artifact, "signedDate": text(signed)})
    rng.shuffle(result)
    return result


class Tool:
    def __init__(self, path):
        self.path = path
        self.folder = tempfile.TemporaryDirectory(prefix="tenure-oracle-")
        self.authority = self.file("authority")
        self.run("mint", "authority", self.authority)

    def file(self, name, contents=None):
        path = os.path.join(self.folder.name, name)
        if contents is not None:
            with open(path, "w", encoding="utf-8") as out:
                out.write(contents)
        return path

    def run(self, *arguments):
        result = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False)
        if not result.stdout and result.returncode:
            raise RuntimeError(f"{arguments}: {result.stderr}")
        return result.stdout

    def signed(self, artifact):
        """The artifact as the App Store would sign it."""
        kind = artifact.get("kind", "appTransaction")
        is_receipt = kind == "receipt"
        written = artifact if is_receipt else {"originalPlatform": "iOS", **artifact}
        # The purchase in it is of no entitlement.
        arguments = ["--form", "base64", "--set", "in_app.0.product_id=com.example.hat"] if is_receipt else []
        if is_receipt and "expirationDate" in artifact:
            arguments += ["--set", "receipt_type=ProductionVPP"]  # Only licenses of volume purchases end.
        for field, key in (RECEIPT if is_receipt else APP_TRANSACTION).items():
            arguments += ["--set", f"{field}={written.get(key) or ''}"]
        if kind == "serverAppTransaction":
            arguments += ["--set", "deviceVerification=", "--set", "deviceVerificationNonce="]
        return self.run(
            "mint", "receipt" if is_receipt else "app-transaction", "--authority", self.authority, *arguments).strip()

    def rehearsed(self, policy, artifacts, now):
        """The outcome of each entitlement; nothing where an artifact was rejected."""
        lines = []
        for artifact in artifacts:
            name = "receipt" if artifact.get("kind") == "receipt" else "appTransaction"
            lines.append(json.dumps({"id": "1", name: self.signed(artifact)}))
        report = json.loads(self.run(
            "rehearse", "--policy", self.file("policy.yaml", policy), "--trust", self.authority, "--at", text(now),
            "--evidence", self.file("evidence.ndjson", "\n".join(lines)), "--json",
            "--rejected", self.file("rejected.ndjson"), "--force"))
        if report["input"]["linesWithRejections"] or report["customers"]["total"] != 1:
            return None
        return {
            entitlement["name"]: next(name for name in ("granted", "denied", "undetermined") if entitlement[name])
            for entitlement in report["entitlements"]
        }


def main():
    parser = argparse.ArgumentParser(description="Compares rehearsals with the rules as the text says them.")
    parser.add_argument("--tool", default=".build/debug/tenure-cli")
    parser.add_argument("--policies", type=int, default=10)
    parser.add_argument("--customers", type=int, default=10, help="customers of each policy")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    tool = Tool(options.tool)
    compared = rejected = found = 0
    for number, written, cases in generate(options.seed, options.policies, options.customers):
        if Policy(written).mistakes:
            continue
        for place, case in enumerate(cases):
            app = case.get("app", [])
            app = app if isinstance(app, list) else [app]
            if not app or any("environment" in each or not is_signable(each) for each in app):
                continue
            rng = random.Random(f"{options.seed}/{number}/{place}")
            app = signed_again(rng, app, instant(case["now"]))
            case = {"now": case["now"], "app": app}
            answers = rules.decide(*policy_and_customer(written, case))
            told = tool.rehearsed(policy_text(written), app, instant(case["now"]))
            if told is None:
                rejected += 1
                continue
            compared += 1
            expected = {name: answer.outcome for name, answer in answers.items()}
            if told != expected:
                found += 1
                print(f"policy {number}, customer {place} (--seed {options.seed}): {told} instead of {expected}")
                print(f"{policy_text(written)}\n{json.dumps(case, indent=1)}", flush=True)
    print(f"{compared} customers rehearsed: {found} differences; {rejected} rejected")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
