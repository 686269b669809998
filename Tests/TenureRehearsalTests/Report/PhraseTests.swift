import TenureCore
import Testing

@testable import TenureRehearsal

/// The texts for codes that readers of a report don't know.
struct PhraseTests {
    @Test(
        arguments: [
            (.eraHonored, "got the app in an honored era"),
            (.eraNotHonored, "got the app in an era that isn't honored"),
            (.inDoubt, "can't tell whether an honored era applies, so `inDoubt` in the policy decides"),
            (.noHonors, "no era grants it"),
            (.nothingToCompare, "neither the version nor the date can be compared with the policy"),
            (.noAcquisition, "no evidence proves how the app was acquired"),
            (.outsideWindow, "got the app outside the purchase dates that the policy honors"),
            (.windowNeedsDate, "the policy honors certain purchase dates, and the customer's date isn't known"),
            (.honorEnded, "the right from the era has ended"),
            (.endUnknown, "the end of the right from the era isn't known"),
            (.appRefunded, "the app was refunded"),
            (.boughtAgain, "got the app again after a refund, in an honored era"),
            (.boughtAgainInDoubt, "got the app again after a refund, perhaps in an era that isn't honored"),
            (.licenseEnded, "a volume license has ended"),
            (.product, "has a purchase that grants it"),
            (.gracePeriod, "has a subscription in its grace period"),
            (.supportGrant, "support granted it"),
            (.supportGrantEnded, "the grant by support has ended"),
            (.supportRevocation, "support revoked it"),
            (.promise, "it was promised before"),
            (.promiseEnded, "a promise has ended"),
            (.noPurchase, "has no purchase that grants it"),
            (.purchasesIncomplete, "not all purchases are known"),
            (.testEnvironment, "comes from a test environment"),
            (.changeover, "changeover"),
            (nil, "the policy doesn't have the entitlement"),
        ] as [(Reason.Code?, String)])
    func `a rehearsal report explains each reason that can decide`(code: Reason.Code?, phrase: String) {
        #expect(code.phrase == phrase)
        #expect(code.name == code?.rawValue ?? "notInPolicy")
    }

    @Test(arguments: [
        ("invalidJSON", "invalid JSON"),
        ("wrongShape", "JSON that doesn't have the fields of a customer's artifacts"),
        ("nothingSigned", "JSON without any artifact"),
        ("lineTooLong", "longer than any customer's artifacts"),
        ("severalAccounts", "artifacts of several Apple Accounts in one line"),
        ("malformed", "malformed"),
        ("unsupportedAlgorithm", "signed with an algorithm that the App Store doesn't use"),
        ("untrustedChain", "signed with a certificate that this rehearsal doesn't trust"),
        ("wrongPurpose", "signed with a certificate for another purpose"),
        ("outsideValidityPeriod", "signed when the certificate wasn't valid, or signed in the future"),
        ("badSignature", "changed after it was signed"),
        ("wrongApp", "of another app"),
        ("wrongEnvironment", "of an environment that isn't rehearsed, such as Sandbox"),
        ("wrongKind", "another kind of artifact"),
        ("tooLarge", "larger than any genuine artifact"),
        ("misconfigured", "misconfigured"),
    ])
    func `a rehearsal page explains each code of a rejected line`(code: String, phrase: String) {
        #expect(LineFault.phrase(of: code) == phrase)
    }

    @Test(
        arguments: [
            (
                .unreadable("a.ndjson"),
                "`a.ndjson` can't be read; check that it is the path of a file, and that you may read it"
            ),
            (.folder("a"), "`a` is a folder; pass the path of an evidence file"),
            (
                .noGzip("a.gz"),
                "`a.gz` is compressed, and `gzip` isn't installed; install it, or decompress the file first"
            ),
            (
                .damagedArchive,
                "the compressed file is damaged or incomplete, so only the lines before the damage were counted; export it again"
            ),
            (
                .gzipKilled(signal: 9),
                "signal 9 ended `gzip`, so only the lines before that were counted; check the free memory, and rehearse again"
            ),
            (
                .unwritableTemporaryFolder("/tmp/a"),
                "the temporary folder `/tmp/a` can't be written; free space (about 250 bytes for each line), or set TMPDIR to another folder"
            ),
            (
                .unreadableTemporaryFile("/tmp/a/7"),
                "the temporary file `/tmp/a/7` can't be read back; check the disk, or set TMPDIR to another folder"
            ),
            (
                .brokenPolicy(3),
                "version 3 of the policy, which promises refer to, can't be read from the database; run `tenure database check`"
            ),
            (.condition("lost>", why: "write a number"), "`lost>` isn't a condition: write a number"),
        ] as [(RehearsalError, String)])
    func `each problem that stops a rehearsal is described with what to do`(error: RehearsalError, text: String) {
        #expect(error.description == text)
    }

    @Test func `an artifact in place of the path of the evidence isn't repeated whole in the error`() {
        let jws = "eyJhbGciOiJFUzI1NiIsIng1YyI6W10" + String(repeating: "A", count: 200) + ".eyJhIjoxfQ.AAAA"
        #expect(RehearsalError.unreadable(jws).description.hasPrefix("`eyJhbGciOiJFUzI1NiIs…` can't be read; "))
    }

    @Test func `a rehearsal in which every line is rejected fails with advice about the file and its authority`() {
        func sentence(_ lines: Int, of total: Int, _ allowed: Double) -> String {
            RehearsalFailure.tooManyRejected(lines: lines, of: total, allowedPercent: allowed).sentence
        }
        #expect(
            sentence(1, of: 1, 0)
                == "1 of 1 line (100.0%) has a rejected artifact, and at most 0% may have one; "
                + "check that the file has artifacts of this app, one customer per line, and pass `--trust` for those signed by a test authority"
        )
        #expect(
            sentence(2, of: 1200, 0.125)
                == "2 of 1,200 lines (0.17%) have a rejected artifact, and at most 0.13% may have one; correct or remove these lines, or pass a higher percentage with `--allow-rejected`"
        )
    }

    @Test(
        arguments: [
            (0, "0%"), (-1, "0%"), (0.004, "<0.01%"), (0.005, "0.01%"), (5, "5%"), (3.25, "3.25%"), (0.5, "0.5%"),
            (1.05, "1.05%"), (100, "100%"),
        ] as [(Double, String)])
    func `a percentage above zero is never shown as zero`(value: Double, text: String) {
        #expect(value.percent == text)
    }
}
