import Foundation
import TenureCore
import Testing

@testable import Tenure

/// Whole texts that a developer reads in a log, or a customer in an alert.
@Suite struct `Messages of the client` {
    private static let errors: [(error: Tenure.Error, text: String)] = [
        (
            .unverified("no signature"),
            "StoreKit couldn't verify the transaction (no signature); ask the customer to try again, or to restore purchases"
        ),
        (
            .purchasesUnavailable("an extension can't buy"),
            "an extension can't buy; offer purchases only in the app itself, installed from the App Store"
        ),
        (.service("it is down"), "the request to the service failed: it is down; try again later"),
        (
            .serviceAddress("`http://example.com` isn't an `https` address"),
            "`http://example.com` isn't an `https` address; use an `https` address, or `http` on this machine"
        ),
        (
            .notStored("no space"),
            "the device couldn't store the change: no space; try again; if it fails again, free some space on the device"
        ),
        (
            .key("it isn't a P-256 key"),
            "the service's key can't be read: it isn't a P-256 key; add the key that `tenure signing-key list` prints to the app"
        ),
        (
            .accessGroup("no group"),
            "no group; name an App Group of the app and of each extension, such as `group.com.example.app`; in an App Clip, leave `Options.accessGroup` unset"
        ),
        (
            .persona("no service"),
            "no service; without a service, set `Options.persona` to `.earlyBuyer(build:on:)`; with a service, set it to `.token(…)` with the token that `tenure persona create` prints"
        ),
        (
            .noTrial(entitlement: "pro"),
            "the policy has no trial of `pro`; add a `trial` to the entitlement in the policy, or don't offer the trial"
        ),
        (.trialOver(entitlement: "pro"), "the trial of `pro` is used up; offer the purchase instead"),
        (
            .policy(.missing(name: "tenure.json")),
            "the app has no resource `tenure.json`; add `tenure.json` to the resources of the app's target"
        ),
        (
            .policy(.unreadable(name: "tenure.json")),
            "the policy `tenure.json` can't be opened; check the file's permissions"
        ),
        (
            .policy(.empty(name: "tenure.json")),
            "the policy `tenure.json` is empty; write it with `tenure policy compile`"
        ),
        (
            .policy(.invalid(name: "tenure.json", reason: "it is YAML")),
            "the policy `tenure.json` can't be used: it is YAML; write it with `tenure policy compile`"
        ),
        (
            .policy(.otherApp(bundleID: "com.example.one", appBundleID: "com.example.two")),
            "the policy belongs to the app `com.example.one`, and this app is `com.example.two`; set `bundleID` in the policy and compile it again"
        ),
        (
            .policy(.source("`k` isn't a policy signing key")),
            "`k` isn't a policy signing key; bundle a policy that `tenure policy sign` wrote, and pass the key that `tenure policy signing-key` prints"
        ),
    ]

    @Test func `each error of the client names its problem and its own fix`() {
        for (error, text) in Self.errors { #expect(error.description == text) }
    }

    @Test func `each error of a version list names its problem and its fix`() {
        let malformed = Tenure.InvalidVersionList.malformed(["v2", "2.0b3"])
        let problem = "these aren't versions that the App Store reports: `v2`, `2.0b3`"
        #expect(malformed.errorDescription == problem)
        #expect(malformed.recoverySuggestion == "write numbers separated by periods, such as `1.2`")
        #expect(malformed.description == problem + "; write numbers separated by periods, such as `1.2`")
        #expect(
            Tenure.InvalidVersionList.noCriteria(entitlement: "pro").description
                == "the rule for `pro` has neither versions nor a date, so it would apply to every customer; "
                + "pass `versions`, `purchasedBefore`, or both")
    }

    @Test func `each error of an asset pack tells the customer what happened and what to do`() {
        let texts: [(error: Tenure.AssetPackError, text: String)] = [
            (.unknownPack("organ"), "There is no content named “organ”. Please update the app, or contact support."),
            (.notEntitled("organ"), "This content isn't part of your purchases. Buy it, or restore your purchases."),
            (.needsAppUpdate("organ"), "This content needs a newer version of the app. Update the app."),
            (.canceled("organ"), "The download was canceled. Download it again."),
            (.refused("organ"), "The server refused the download. Please try again later."),
            (.corrupted("organ"), "The downloaded content is damaged. Please try again later."),
            (.notInstalled("organ"), "This content hasn't been downloaded. Download it."),
            (
                .missingFile(path: "a.wav"),
                "The content has no file “a.wav”. Please update the app, or contact support."
            ),
            (
                .storage("no space is left"),
                "The content can't be stored: no space is left. Free some space on the device, and try again."
            ),
        ]
        for (error, text) in texts { #expect(error.description == text) }
    }

    @Test func `each failure of the local state's storage names its fix, or when the client tries again`() {
        let texts: [(error: StateStorageError, text: String)] = [
            (
                .locked(operation: "read"),
                "can't read the keychain before the device is unlocked; the client tries again after the unlock"
            ),
            (
                .refused(operation: "write"),
                "can't write the keychain because the app lacks the entitlement (-34018); sign the app with a team"
            ),
            (
                .failed(operation: "read", status: -50),
                "can't read the keychain (status -50); the client tries again later"
            ),
            (
                .lockTimeout(path: "/a/lock"),
                "another process has held `/a/lock` for over 2 seconds; the client will retry"
            ),
            (
                .lockUnavailable(path: "/a/lock", reason: "permission denied"),
                "can't open the lock file `/a/lock` (permission denied); check its permissions"
            ),
        ]
        for (error, text) in texts { #expect(error.description == text) }
        let groups: [(error: AccessGroupError, text: String)] = [
            (
                .missing("group.a"),
                "the app has no access group `group.a`; add the group to the App Groups of the app and of each extension"
            ),
            (
                .invalidName("a b"),
                "`a b` isn't the name of an access group; use letters, digits, periods and hyphens, such as `group.com.example.app`"
            ),
            (
                .appClip,
                "an App Clip can't share a keychain; leave `Options.accessGroup` unset in the App Clip"
            ),
        ]
        for (error, text) in groups { #expect(error.description == text) }
    }

    @Test(
        arguments: [
            (.unreachable("offline"), true, "the policy server didn't respond (offline); Tenure tries again later"),
            (.status(404), false, "the policy server responded with status 404; check the URL of the policy"),
            (
                .tooLarge(limit: 7), false,
                "the policy server's response is larger than 7 bytes, so it isn't a policy; check the URL"
            ),
            (.canceled, true, "the request for the policy was canceled; Tenure tries again later"),
        ] as [(PolicyFetchError, Bool, String)])
    func `a failed request for a policy says whether the client tries again`(
        error: PolicyFetchError, isRetryable: Bool, text: String
    ) {
        #expect(error.description == text)
        #expect(error.isRetryable == isRetryable)
    }

    @Test(
        arguments: [
            (
                .notAnswered,
                "the App Store hasn't confirmed it yet. Please open the app while you're online and tap Restore Purchases."
            ),
            (
                .outsideAppStore,
                "this copy of the app didn't come from the App Store. Please contact our support team."
            ),
            (
                .policyUnusable,
                "this copy of the app is incomplete. Please update the app, or contact our support team."
            ),
            (.unknownEntitlement, "this app has no feature with that name. Please contact our support team."),
        ] as [(Tenure.Answer.DeviceReason, String)])
    func `an undetermined answer of the device says what is missing and what to do`(
        reason: Tenure.Answer.DeviceReason, doubt: String
    ) {
        let earlier = Tenure.Answer.Reason("eraNotHonored")
        let answer = Tenure.Answer.unanswered("cloud", title: "Cloud", because: reason, "detail", keeping: [earlier])
        #expect(answer.sentence == "We can't tell yet whether “Cloud” is yours: \(doubt)")
        #expect(answer.outcome == .undetermined && answer.until == nil)
        #expect(answer.reasons == [Tenure.Answer.Reason(reason.rawValue, ["detail": ["detail"]]), earlier])
        #expect(answer.nextSteps == [.appTransaction, .purchases])
    }

    @Test func `a right that was confirmed earlier has its end in the sentence, and no end if it has none`() {
        let morning = InventedApp.date("2027-05-01T08:00:00Z")
        let midnight = InventedApp.date("2027-05-01T00:00:00Z")
        for (until, text) in [
            (nil, "“cloud” is yours, as confirmed earlier."),
            (morning, "“cloud” is yours until May 1, 2027, as confirmed earlier."),
            (midnight, "“cloud” is yours through April 30, 2027, as confirmed earlier."),
        ] as [(Date?, String)] {
            let answer = Tenure.Answer.kept("cloud", title: nil, until: until)
            #expect(answer.sentence == text)
            #expect(answer.outcome == .granted && answer.until == until)
            #expect(answer.reasons == [Tenure.Answer.Reason("kept")] && answer.nextSteps.isEmpty)
        }
    }

    @Test func `an answer of a newer service with an unknown outcome is undetermined, without unknown next steps`()
        throws
    {
        let text = """
            {"entitlement":"cloud","outcome":"paused","sentence":"s","reasons":[{"code":"new","facts":{}}],
            "nextSteps":["telephone","support"]}
            """
        let answer = try JSONDecoder().decode(Tenure.Answer.self, from: Data(text.utf8))
        #expect(answer.outcome == .undetermined)
        #expect(answer.nextSteps == [.support])
        #expect(answer.reasons.map(\.code) == ["new"])
    }

    @Test func `each step of a customer is one line that says why a source wasn't read`() {
        let steps: [(outcome: Tenure.AppStoreStep.Outcome, text: String)] = [
            (.done, "purchases: done"),
            (.skipped("there is no subscription"), "purchases: skipped, there is no subscription"),
            (.failed("no response"), "purchases: failed, no response"),
        ]
        for (outcome, text) in steps {
            #expect(Tenure.AppStoreStep(name: .purchases, outcome: outcome).description == text)
        }
        #expect(
            Tenure.Distribution.allCases.map(\.whyStoreKitIsNotCalled) == [
                "the app came from the App Store", "the app came from the App Store",
                "the app came from Setapp, and the App Store has no record of it",
                "the app came from its developer, and the App Store has no record of it",
                "a development build has no app transaction, and asking for one may show a sign-in",
            ])
    }
}
