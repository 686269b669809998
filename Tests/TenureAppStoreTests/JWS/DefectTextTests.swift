import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

/// The exact rejection of each defect that operators see in responses and logs.
@Suite struct DefectTextTests {
    @Test(
        arguments: [
            (.noAlgorithm, "the header has no `alg`, and the App Store signs with `ES256`"),
            (.algorithmNone, "the App Store signs with `ES256`, and not with `none`"),
            (.criticalHeader, "the header demands extensions (`crit`) that the App Store never uses"),
            (.noX5C, "the header has no certificates (`x5c`)"),
            (.noCertificates, "the header has 0 certificates (`x5c`) instead of 3"),
            (.twoCertificates, "the header has 2 certificates (`x5c`) instead of 3"),
            (.fourCertificates, "the header has 4 certificates (`x5c`) instead of 3"),
            (
                .oneCertificate,
                "the artifact has one certificate, as Xcode's artifacts do, and artifacts of Xcode aren't accepted"
            ),
            (.newlineInCertificate, "certificate 1 of the header (`x5c`) isn't canonical Base64"),
            (.x5cOfNumbers, "`header`: `x5c` must be an array with elements of the documented type"),
            (.shortSignature, "the signature has 63 bytes instead of 64"),
            (.foreignSignature, "the signature doesn't match the header and the payload"),
            (.paddedSegment, "the signature isn't canonical base64url"),
            (.fourthSegment, "a JWS has three segments, none of them empty, separated by periods"),
            (.payloadIsNoObject, "the payload isn't a JSON object"),
            (.textDate, "`signedDate` must be a number of milliseconds since 1970"),
            (.noBundle, "the artifact has no `bundleId`, which must be `com.example.calculator`"),
            (.noEnvironment, "the artifact doesn't name the environment in which it was signed"),
            (.localTesting, "the artifact was signed in `LocalTesting`, and only Production is accepted"),
        ] as [(JWSDefect, String)])
    func `the rejection of a JWS with a defect says what is wrong`(defect: JWSDefect, text: String) throws {
        let jws = try Minted.minter.mint(.transaction, with: defect)
        let found = rejection { try Minted.verifier().verifyTransaction(jws, now: Minted.instant) }
        #expect(found?.detail == text)
    }

    @Test(
        arguments: [
            (
                .nestedOtherApp,
                "`data.signedTransactionInfo`: the artifact belongs to the app `com.example.other`, not to `com.example.calculator`"
            ),
            (
                .nestedOtherSubscription,
                "the notification's transaction and renewal info belong to different subscriptions"
            ),
            (
                .nestedUnsigned,
                "`data.signedTransactionInfo`: the App Store signs with `ES256`, and not with `none`"
            ),
        ] as [(JWSDefect, String)])
    func `the rejection of a notification names the artifact in it that is wrong`(
        defect: JWSDefect, text: String
    ) throws {
        let jws = try Minted.minter.mint(.notification, with: defect)
        let found = rejection { try Minted.verifier().verifyNotification(jws, now: Minted.instant) }
        #expect(found?.detail == text)
    }

    @Test func `a notification with a transaction of another app is refused even if no app is configured`() throws {
        let jws = try Minted.minter.mint(.notification, with: .nestedOtherApp)
        let found = rejection {
            try Minted.verifier(app: AppIdentity()).verifyNotification(jws, now: Minted.instant)
        }
        #expect(found?.code == .wrongApp)
        #expect(found?.detail == "`data.signedTransactionInfo` is about another app than the notification")
    }

    @Test func `a notification without a bundle ID is refused with that reason if no app is configured`() throws {
        guard case .object(var data)? = try Minted.minter.payload(of: .notification)["data"] else {
            Issue.record("the notification has no data")
            return
        }
        data["bundleId"] = nil
        let jws = try Minted.minter.mint(.notification, setting: ["data": .object(data)])
        let found = rejection {
            try Minted.verifier(app: AppIdentity()).verifyNotification(jws, now: Minted.instant)
        }
        #expect(found?.code == .wrongApp)
        #expect(
            found?.detail
                == "the notification has no `bundleId`, so it can't be compared with `data.signedTransactionInfo`")
    }

    /// Returns the rejection of a Production notification with one artifact of Sandbox.
    private func refusal(of kind: JWSKind, under field: String, in part: String) throws -> Rejection? {
        let anchors = try Minted.authority.anchors
        let verifier = AppStoreVerifier(
            app: Minted.app, trust: try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors]))
        let sandbox = JWSMinter(
            authority: Minted.authority, app: MintedApp(environment: .sandbox), signedAt: Minted.instant)
        var object: JSONObject = [
            "appAppleId": .integer(828_838_134), "bundleId": .string("com.example.calculator"),
            "environment": .string("Production"),
        ]
        object[field] = .string(String(decoding: try sandbox.mint(kind), as: UTF8.self))
        var fields: [String: JSONValue] = ["data": .null]
        fields[part] = .object(object)
        let jws = try Minted.minter.mint(.notification, setting: fields)
        do throws(Rejection) {
            _ = try verifier.verifyNotification(jws, now: Minted.instant)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (.transaction, "data", "signedTransactionInfo"), (.renewalInfo, "data", "signedRenewalInfo"),
            (.appTransaction, "appData", "signedAppTransactionInfo"),
        ] as [(JWSKind, String, String)])
    func `each artifact in a notification must be of the notification's environment`(
        kind: JWSKind, part: String, field: String
    ) throws {
        let found = try refusal(of: kind, under: field, in: part)
        #expect(found?.code == .wrongEnvironment)
        #expect(
            found?.detail
                == "`\(part).\(field)` was signed in `Sandbox`, but the notification was signed in another environment")
    }

    @Test func `a rejection says which trust is missing, also for an artifact in a notification`() throws {
        let verifier = try Minted.verifier()
        let genuine = try Minted.minter.mint(.transaction)
        let underApple = AppStoreVerifier(app: Minted.app, trust: .appStore)
        let unknown = rejection { try underApple.verifyTransaction(genuine, now: nil) }
        #expect(unknown?.missingTrust == .root)
        #expect(unknown?.detail.hasPrefix("no trusted root has the name `") == true)

        let xcode = JWSMinter(
            authority: Minted.authority, app: MintedApp(environment: .xcode), signedAt: Minted.instant)
        let local = try xcode.mint(.appTransaction)
        #expect(rejection { try verifier.verifyAppTransaction(local, now: nil) }?.missingTrust == .xcode)
        let otherXcode = AppStoreVerifier(
            app: Minted.app,
            trust: try TrustConfiguration(anchors: [.xcode: TrustAnchors(der: [Minted.authority.jws.root.der])]))
        let unlisted = rejection { try otherXcode.verifyAppTransaction(local, now: nil) }
        #expect(unlisted?.missingTrust == .xcode)
        #expect(unlisted?.detail == "the artifact's certificate isn't configured as a certificate of Xcode")
        let appStore = rejection { try otherXcode.verifyTransaction(genuine, now: nil) }
        #expect(appStore?.missingTrust == .appStore)
        #expect(
            appStore?.detail
                == "only Xcode's certificates are trusted, and another certificate signed the artifact")

        let data: JSONObject = [
            "appAppleId": .integer(828_838_134), "bundleId": .string("com.example.calculator"),
            "environment": .string("Production"),
            "signedTransactionInfo": .string(String(decoding: local, as: UTF8.self)),
        ]
        let notification = try Minted.minter.mint(.notification, setting: ["data": .object(data)])
        let nested = rejection { try verifier.verifyNotification(notification, now: nil) }
        #expect(nested?.missingTrust == .xcode && nested?.detail.hasPrefix("`data.signedTransactionInfo`: ") == true)
        #expect(rejection { try verifier.verifyTransaction(Array("a.b".utf8), now: nil) }?.missingTrust == nil)
    }

    @Test func `each environment trusts the roots that are configured for it, and no others`() throws {
        let other = try TestAuthority(receiptsOf: Minted.authority)
        let trust = try TrustConfiguration(anchors: [
            .production: Minted.authority.anchors, .sandbox: TrustAnchors(der: [other.jws.root.der]),
        ])
        let verifier = AppStoreVerifier(app: Minted.app, trust: trust)
        func mint(by authority: TestAuthority, in environment: AppStoreEnvironment) throws -> [UInt8] {
            try JWSMinter(
                authority: authority, app: MintedApp(environment: environment), signedAt: Minted.instant
            ).mint(.transaction)
        }
        let sandbox = try mint(by: other, in: .sandbox)
        #expect(try verifier.verifyTransaction(sandbox, now: nil).environment == .sandbox)
        for (authority, environment) in [(Minted.authority, AppStoreEnvironment.sandbox), (other, .production)] {
            let jws = try mint(by: authority, in: environment)
            let found = rejection { try verifier.verifyTransaction(jws, now: nil) }
            #expect(found?.code == .untrustedChain && found?.missingTrust == .root)
            #expect(
                found?.detail
                    == "the root of the artifact's certificates isn't trusted for `\(environment.rawValue)`")
        }
    }
}
