import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureRehearsal

/// Lines of a rehearsal with a rejected artifact that may have been a purchase.
@Suite struct RejectedPurchaseTests {
    private static let instant = Date(written: "2015-08-25") ?? .distantPast
    /// The app transaction of a customer who got the app long after it became free.
    private let app: String
    private let transaction: String
    private let renewal: String

    init() throws {
        let minter = JWSMinter(authority: try Corpora.authority.get(), signedAt: Self.instant)
        func mint(_ kind: JWSKind, _ fields: [String: JSONValue]) throws -> String {
            String(decoding: try minter.mint(kind, setting: fields), as: UTF8.self)
        }
        app = try mint(
            .appTransaction,
            [
                "appTransactionId": .string("704001"), "originalApplicationVersion": .string("130"),
                "originalPurchaseDate": .instant(Self.instant - 3600), "originalPlatform": .string("iOS"),
            ])
        transaction = try mint(.transaction, ["appTransactionId": .string("704001")])
        renewal = try mint(.renewalInfo, ["appTransactionId": .string("704001")])
    }

    /// Returns the JWS with another first character of its signature.
    private func damaged(_ jws: String) -> String {
        var parts = jws.split(separator: ".").map(String.init)
        parts[2] = (parts[2].hasPrefix("A") ? "B" : "A") + parts[2].dropFirst()
        return parts.joined(separator: ".")
    }

    private func isComplete(_ fields: String) throws -> Bool? {
        let verifier = AppStoreVerifier(
            app: AppIdentity(bundleID: "com.example.calculator", appAppleID: 828_838_134),
            trust: try TrustConfiguration(anchors: [.production: Corpora.authority.get().anchors]))
        let reader = LineReader(verifier: verifier, now: Self.instant, purchasesAreComplete: true)
        let line = #"{"appTransaction":"\#(app)",\#(fields)}"#
        return reader.read(Array(line.utf8)[...]).entry?.facts.purchasesAreComplete
    }

    @Test func `a line of evidence with a rejected receipt or transaction counts as incomplete`() throws {
        #expect(try isComplete(#""transactions":[]"#) == true)
        #expect(try isComplete(#""transactions":["\#(transaction)"]"#) == true)
        #expect(try isComplete(#""transactions":["\#(transaction)","\#(damaged(transaction))"]"#) == false)
        #expect(try isComplete(#""purchasesAreComplete":true,"transactions":["cut"]"#) == false)
        #expect(try isComplete(#""receipt":"MIIB""#) == false)
        #expect(try isComplete(#""renewalInfos":["\#(damaged(renewal))"]"#) == true)
    }
}
