import ExpectedRejections
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

/// Apple's library accepts what we mint, we reject what Apple's library rejects, and both read the same fields.
@Suite(.enabled(if: AppleLibrary.python != nil, "TENURE_INTEROP_PYTHON names no Python with Apple's library"))
struct InteropTests {
    /// An artifact that both libraries verify.
    private struct Case {
        let name: String
        let kind: JWSKind
        let jws: [UInt8]
        var anchors: TrustAnchors
        var bundleID = "com.example.calculator"
        var environment = AppStoreEnvironment.production
        /// Whether the artifact is valid.
        let isSound: Bool

        var artifact: AppleLibrary.Artifact {
            AppleLibrary.Artifact(
                name: name,
                kind: kind.rawValue,
                jws: String(decoding: jws, as: UTF8.self),
                root: Data(anchors.certificates[0].der),
                bundleID: bundleID,
                appAppleID: 828_838_134,
                environment: environment.rawValue
            )
        }

        /// Returns the fields that we read, or the problem for which we reject the artifact.
        func ours(now: Date) -> Result<JSONObject, Rejection> {
            do throws(Rejection) {
                let trust = try TrustConfiguration(anchors: [environment: anchors])
                let app = AppIdentity(bundleID: bundleID, appAppleID: 828_838_134)
                let verifier = AppStoreVerifier(app: app, trust: trust)
                switch kind {
                case .appTransaction:
                    return .success(
                        try verifier.verifyAppTransaction(jws, from: .appStoreServer, now: now).payload.json)
                case .transaction: return .success(try verifier.verifyTransaction(jws, now: now).payload.json)
                case .renewalInfo: return .success(try verifier.verifyRenewalInfo(jws, now: now).payload.json)
                case .notification:
                    return .success(try verifier.verifyNotification(jws, now: now).notification.payload.json)
                case .realtime: return .failure(Rejection(.wrongKind, "not read"))
                }
            } catch {
                return .failure(error)
            }
        }
    }

    private static let kinds: [JWSKind] = [.appTransaction, .transaction, .renewalInfo, .notification]

    /// Returns an artifact with every documented field of its kind.
    private static func full(_ kind: JWSKind, by minter: JWSMinter) throws -> [UInt8] {
        let transactionCommerce = """
            {"descriptors":{"description":"Every tool","displayName":"Pro"},"estimatedTax":90,"items":[{"SKU":"pro",\
            "description":"Every tool","displayName":"Pro","offer":{"period":"P1M","periodCount":2,"price":990,\
            "reason":"WIN_BACK"},"price":1990,"refunds":[{"refundAmount":990,"refundDate":1700000000000,\
            "refundReason":"LEGAL","refundType":"FULL"}],"revocationDate":1700000000000}],"period":"P1M",\
            "requestReferenceId":"3a4b0d0e-0000-4000-8000-000000000007","taxCode":"S021","taxExclusivePrice":1900,"taxRate":"0.2"}
            """
        let renewalCommerce = """
            {"consistencyToken":"token","descriptors":{"description":"Every tool","displayName":"Pro"},"items":[{"SKU":"pro",\
            "description":"Every tool","displayName":"Pro","price":1990,"priceIncreaseInfo":{"dependentSKUs":["a","b"],\
            "price":2990,"status":"PENDING"}}],"period":"P1M","requestReferenceId":"3a4b0d0e-0000-4000-8000-000000000007",\
            "taxCode":"S021"}
            """
        let fields: [String: String] =
            switch kind {
            case .appTransaction: ["preorderDate": "1400000000000"]
            case .transaction:
                [
                    "webOrderLineItemId": "7", "subscriptionGroupIdentifier": "8", "expiresDate": "1900000000000",
                    "appAccountToken": "3a4b0d0e-0000-4000-8000-000000000003", "revocationDate": "1700000000000",
                    "revocationReason": "1", "revocationType": "REFUND_PRORATED", "revocationPercentage": "50000",
                    "isUpgraded": "true", "offerType": "4", "offerIdentifier": "spring",
                    "offerDiscountType": "FREE_TRIAL",
                    "offerPeriod": "P1M", "billingPlanType": "MONTHLY",
                    "commitmentInfo":
                        #"{"billingPeriodNumber":2,"totalBillingPeriods":12,"commitmentExpiresDate":1900000000000,"commitmentPrice":99990}"#,
                    "advancedCommerceInfo": transactionCommerce,
                ]
            case .renewalInfo:
                [
                    "expirationIntent": "2", "isInBillingRetryPeriod": "true",
                    "gracePeriodExpiresDate": "1900000000000",
                    "priceIncreaseStatus": "1", "offerType": "2", "offerIdentifier": "spring",
                    "offerDiscountType": "PAY_AS_YOU_GO", "offerPeriod": "P1M",
                    "eligibleWinBackOfferIds": #"["a","b"]"#,
                    "appAccountToken": "3a4b0d0e-0000-4000-8000-000000000003",
                    "renewalBillingPlanType": "BILLED_UPFRONT",
                    "commitmentInfo":
                        #"{"commitmentAutoRenewProductId":"p","commitmentAutoRenewStatus":1,"commitmentRenewalBillingPlanType":"MONTHLY","commitmentRenewalDate":1900000000000,"commitmentRenewalPrice":99990}"#,
                    "advancedCommerceInfo": renewalCommerce,
                ]
            case .notification: ["subtype": "BILLING_RECOVERY", "data.consumptionRequestReason": "LEGAL"]
            case .realtime: [:]
            }
        var payload = try minter.payload(of: kind)
        for (name, text) in fields.sorted(by: { $0.key < $1.key }) {
            payload = try kind.setting(name, to: text, in: payload)
        }
        return try minter.mint(payload: payload)
    }

    private static func cases(now: Date) throws -> [Case] {
        let authority = try TestAuthority()
        let minter = JWSMinter(authority: authority, signedAt: now)
        let anchors = try TrustAnchors(der: [authority.jws.root.der])
        var cases: [Case] = []
        for kind in kinds {
            cases.append(
                Case(name: "sound \(kind)", kind: kind, jws: try minter.mint(kind), anchors: anchors, isSound: true))
            cases.append(
                Case(name: "full \(kind)", kind: kind, jws: try full(kind, by: minter), anchors: anchors, isSound: true)
            )
            let sandbox = JWSMinter(authority: authority, app: MintedApp(environment: .sandbox), signedAt: now)
            cases.append(
                Case(
                    name: "sandbox \(kind)", kind: kind, jws: try sandbox.mint(kind), anchors: anchors,
                    environment: .sandbox, isSound: true))
            // Apple's library accepts some kinds in place of others. We must reject everything that it rejects.
            for other in kinds where other != kind {
                cases.append(
                    Case(
                        name: "\(other) as \(kind)", kind: kind, jws: try minter.mint(other), anchors: anchors,
                        isSound: false))
            }
        }
        let server = try minter.mint(payload: minter.payload(of: .appTransaction).signedForServer)
        cases.append(
            Case(name: "signed for a server", kind: .appTransaction, jws: server, anchors: anchors, isSound: true))
        let past = JWSMinter(authority: authority, signedAt: now.addingTimeInterval(-86400 * 365 * 10))
        cases.append(
            Case(
                name: "ten years old", kind: .transaction, jws: try past.mint(.transaction), anchors: anchors,
                isSound: true))
        for defect in ChainDefect.allCases {
            let (jws, anchors) = try minter.mint(.transaction, with: defect)
            cases.append(
                Case(
                    name: defect.rawValue, kind: .transaction, jws: jws, anchors: anchors,
                    isSound: defect.rejection == nil))
        }
        for defect in JWSDefect.allCases {
            for kind in defect.kinds {
                var added = Case(
                    name: "\(defect.rawValue) \(kind)", kind: kind, jws: try minter.mint(kind, with: defect),
                    anchors: anchors, isSound: defect.rejection == nil)
                if defect == .decomposedBundle { added.bundleID = "com.example.caf\u{E9}" }
                cases.append(added)
            }
        }
        return cases
    }

    @Test func `Tenure's verifier accepts only what Apple's library accepts, with the same fields`() async throws {
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let cases = try Self.cases(now: now)
        let verdicts = try await AppleLibrary.verify(cases.map(\.artifact))
        try #require(verdicts.count == cases.count)
        var compared = 0
        for (artifact, apples) in zip(cases, verdicts) {
            let ours = artifact.ours(now: now)
            if artifact.isSound {
                #expect(apples.error == nil, "\(artifact.name): Apple's library refuses a valid artifact")
                #expect(throws: Never.self, "\(artifact.name)") { try ours.get() }
            }
            if apples.error != nil {
                #expect(
                    throws: Rejection.self, "\(artifact.name): only Apple's library refuses it (\(apples.error ?? ""))"
                ) {
                    try ours.get()
                }
            }
            if case .success(let mine) = ours, case .object(let fields)? = apples.fields {
                compared += expectSame(mine, fields, in: artifact.name)
            }
        }
        #expect(compared > 300)
    }

    /// Compares the fields that both libraries read, and returns the number of such fields.
    private func expectSame(_ mine: JSONObject, _ theirs: JSONObject, in name: String) -> Int {
        var compared = 0
        for member in theirs.members {
            switch (mine[member.name], member.value) {
            case (.object(let mine)?, .object(let theirs)):
                compared += expectSame(mine, theirs, in: "\(name).\(member.name)")
            case (.array(let mine)?, .array(let theirs)):
                #expect(mine.count == theirs.count)
                for case (.object(let mine), .object(let theirs)) in zip(mine, theirs) {
                    compared += expectSame(mine, theirs, in: "\(name).\(member.name)")
                }
            case (let value, let expected):
                compared += 1
                // Apple's library cuts off the fractions that Xcode signs.
                if case .number(let mine)? = value, case .number(let theirs) = expected {
                    #expect(mine.prefix { $0 != "." } == theirs, "\(name).\(member.name)")
                } else {
                    #expect(value == expected, "\(name).\(member.name)")
                }
            }
        }
        return compared
    }
}
