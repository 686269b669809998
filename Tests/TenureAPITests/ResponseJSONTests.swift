import Foundation
import TenureCore
import TenureJSON
import Testing

@testable import TenureAPI

/// Responses byte by byte, as other programs read them.
@Suite struct `the JSON of responses` {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func text(_ layout: JSONWriter.Layout = .compact, _ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter(layout)
        write(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func read<Response: Decodable>(_ type: Response.Type, _ json: String) throws -> Response {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    @Test func `a purchase is written with the fields that apply to it, and read again`() throws {
        var purchase = Purchase(
            transactionID: "t", originalTransactionID: "o", productID: "p", type: .nonRenewing,
            purchaseDate: Self.now, expiresDate: Self.now.addingTimeInterval(1),
            revocationDate: Self.now.addingTimeInterval(2), isUpgraded: true, isFamilyShared: true,
            signedDate: Self.now.addingTimeInterval(9))
        purchase.gracePeriodExpiresDate = Self.now.addingTimeInterval(3)
        purchase.isInBillingRetryPeriod = true
        let json = """
            {"transactionID":"t","originalTransactionID":"o","productID":"p","type":"Non-Renewing Subscription",\
            "purchaseDate":"2023-11-14T22:13:20Z","expiresDate":"2023-11-14T22:13:21Z",\
            "revocationDate":"2023-11-14T22:13:22Z","gracePeriodExpiresDate":"2023-11-14T22:13:23Z",\
            "isUpgraded":true,"isFamilyShared":true,"isInBillingRetryPeriod":true}
            """
        #expect(text { $0.value(purchase) } == json)
        let whole = try read(PurchaseResponse.self, json)
        #expect(whole.transactionID == "t")
        #expect(whole.originalTransactionID == "o")
        #expect(whole.productID == "p")
        #expect(whole.type == "Non-Renewing Subscription")
        #expect(whole.purchaseDate == Self.now)
        #expect(whole.expiresDate == Self.now.addingTimeInterval(1))
        #expect(whole.revocationDate == Self.now.addingTimeInterval(2))
        #expect(whole.gracePeriodExpiresDate == Self.now.addingTimeInterval(3))
        #expect(whole.isUpgraded && whole.isFamilyShared && whole.isInBillingRetryPeriod)

        let plain = Purchase(transactionID: "t", productID: "p", type: nil, purchaseDate: nil, signedDate: Self.now)
        let short = #"{"transactionID":"t","originalTransactionID":"t","productID":"p"}"#
        #expect(text { $0.value(plain) } == short)
        let nulls = String(short.dropLast()) + #","type":null,"purchaseDate":null,"expiresDate":null}"#
        for json in [short, nulls] {
            let response = try read(PurchaseResponse.self, json)
            #expect(response.type == nil && response.purchaseDate == nil && response.expiresDate == nil)
            #expect(response.revocationDate == nil && response.gracePeriodExpiresDate == nil)
            #expect(!response.isUpgraded && !response.isFamilyShared && !response.isInBillingRetryPeriod)
        }
    }

    @Test(
        arguments: [
            (.nonConsumable, "Non-Consumable"), (.consumable, "Consumable"),
            (.autoRenewable, "Auto-Renewable Subscription"), (.unknown("New"), "New"),
        ] as [(Purchase.ProductType, String)])
    func `the type of a purchase has Apple's name`(type: Purchase.ProductType, name: String) {
        let purchase = Purchase(transactionID: "t", productID: "p", type: type, purchaseDate: nil, signedDate: nil)
        let json = #"{"transactionID":"t","originalTransactionID":"t","productID":"p","type":"\#(name)"}"#
        #expect(text { $0.value(purchase) } == json)
    }

    @Test func `a trial's response has the fields that apply to the trial`() throws {
        let session = TrialResponse(entitlement: "e", sessions: 3, sessionsLeft: 0, ends: Self.now)
        let json = """
            {"entitlement":"e","isOwner":false,"sessions":3,"sessionsLeft":0,"ends":"2023-11-14T22:13:20Z"}
            """
        #expect(text { $0.value(session) } == json)
        #expect(try read(TrialResponse.self, json) == session)
        let owner = TrialResponse(entitlement: "e", isOwner: true)
        #expect(text { $0.value(owner) } == #"{"entitlement":"e","isOwner":true}"#)
        #expect(try read(TrialResponse.self, #"{"entitlement":"e","isOwner":true,"ends":null}"#) == owner)
    }

    @Test func `a content response has the packs by name, each with its own links and date`() throws {
        func links(_ name: String, _ seconds: Double) -> ContentResponse.Links {
            ContentResponse.Links(
                manifest: "\(name).json", archive: "\(name).zip", expiresAt: Self.now.addingTimeInterval(seconds))
        }
        let content = ContentResponse(catalog: "c", packs: ["z": links("1", 0), "b": links("2", 5)])
        let json = """
            {"catalog":"c","packs":{\
            "b":{"manifest":"2.json","archive":"2.zip","expiresAt":"2023-11-14T22:13:25Z"},\
            "z":{"manifest":"1.json","archive":"1.zip","expiresAt":"2023-11-14T22:13:20Z"}}}
            """
        #expect(text { $0.value(content) } == json)
        #expect(try read(ContentResponse.self, json) == content)
        #expect(text { $0.value(ContentResponse(catalog: "c", packs: [:])) } == #"{"catalog":"c","packs":{}}"#)
    }

    @Test func `the statements about a signing key are written if they exist`() throws {
        let all = SigningKeyResponse(chain: ["a", "b"], root: "r", revocations: "v")
        #expect(text { $0.value(all) } == #"{"chain":["a","b"],"root":"r","revocations":"v"}"#)
        #expect(text { $0.value(SigningKeyResponse(root: "r")) } == #"{"root":"r"}"#)
        #expect(SigningKeyResponse().isEmpty)
        let some = [SigningKeyResponse(chain: []), SigningKeyResponse(root: ""), SigningKeyResponse(revocations: "")]
        #expect(some.allSatisfy { !$0.isEmpty })
        let types = [
            SignedType.entitlementToken, SignedType.keyStatement, SignedType.rootStatement, SignedType.revocations,
        ]
        let names = ["tenure-entitlement+jwt", "tenure-key+jwt", "tenure-root+jwt", "tenure-revocations+jwt"]
        #expect(types == names)
        // Released apps and services apply these limits to each other's statements.
        #expect(SigningKeyBounds.maximumChainLength == 16)
        #expect(SigningKeyBounds.maximumStatementSize == 1024)
        #expect(SigningKeyBounds.maximumRevocations == 200)
        #expect(SigningKeyBounds.maximumRevocationsSize == 16_384)
    }

    @Test func `a reason's facts are texts or names, and facts of other types are left out`() throws {
        let json = """
            {"count":5,"version":"37","code":"eraHonored","eras":["paid","free"],"more":{"code":"x"},"none":[],"a":[1]}
            """
        let reason = try read(ReasonResponse.self, json)
        #expect(reason.code == "eraHonored")
        let facts: [String: ReasonResponse.Fact] = [
            "version": .text("37"), "eras": .names(["paid", "free"]), "none": .names([]),
        ]
        #expect(reason.facts == facts)
        #expect(throws: DecodingError.self) { try read(ReasonResponse.self, #"{"version":"37"}"#) }
    }

    @Test func `an entitlement's response keeps known next steps in order, and leaves out unknown ones`() throws {
        let steps = NextStep.allCases.reversed().map(\.rawValue)
        let list = (["new"] + steps).map { "\"\($0)\"" }.joined(separator: ",")
        let json = #"{"outcome":"denied","until":null,"reasons":[],"sentence":"x","nextSteps":[\#(list)]}"#
        let response = try read(EntitlementResponse.self, json)
        #expect(response.outcome == .denied)
        #expect(response.until == nil)
        #expect(response.nextSteps.map(\.rawValue) == steps)
        let short = try read(EntitlementResponse.self, #"{"outcome":"granted","reasons":[],"sentence":"x"}"#)
        #expect(short.outcome == .granted)
        #expect(short.nextSteps.isEmpty)
    }

    // In compact JSON, the bytes of a reason that was written before are copied.
    @Test func `entitlements with the same reason are written with this reason, also after another one`() throws {
        let policy = try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(name: "freemium", model: .free, begins: [.iOS: .at(version: AppVersion("120"), date: nil)]),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "a", honors: [Honor(era: "paid")]),
                Entitlement(name: "b", products: [.init(id: "x")]),
                Entitlement(name: "c", honors: [Honor(era: "paid")]),
                Entitlement(name: "d", products: [.init(id: "x")]),
                Entitlement(name: "e", products: [.init(id: "y")]),
            ])
        let proof = AppProof(
            kind: .appTransaction, signedDate: Self.now, originalPlatform: .iOS, originalAppVersion: "37",
            originalPurchaseDate: Self.now)
        let purchase = Purchase(
            transactionID: "1", productID: "x", type: .nonConsumable, purchaseDate: Self.now, signedDate: Self.now)
        let evidence = Evidence(
            environment: .production, app: [proof], transactions: [purchase], purchasesAreComplete: true)
        let answer = CustomerAnswer(
            id: "cus_1", bound: false, environment: .sandbox, isTest: true,
            decisions: decide(evidence, under: policy, at: Self.now), purchases: evidence.purchases,
            purchasesAreComplete: false, persona: "early")
        let compact = text { $0.value(answer) }
        let response = try read(CustomerResponse.self, compact)
        // Nothing is copied in readable JSON.
        #expect(try read(CustomerResponse.self, text(.readable) { $0.value(answer) }) == response)
        let reasons = ["a", "b", "c", "d", "e"].map { response.entitlements[$0]?.reasons }
        #expect(reasons[0] == reasons[2])
        #expect(reasons[1] == reasons[3])
        #expect(Set(reasons).count == 3)
        #expect(response.isTest && !response.bound && !response.purchasesAreComplete)
        #expect(response.environment == .sandbox)
        #expect(response.persona == "early")
        #expect(response.accessToken == nil && response.signingKey == nil && response.problems.isEmpty)
    }
}
