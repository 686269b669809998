import Crypto
import ExpectedRejections
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import TenureMint

@Suite struct AppStoreVerifierTests {
    @Test(arguments: AppStoreVerifier.kinds)
    func `a valid artifact of each kind is verified`(kind: JWSKind) throws {
        let jws = try Minted.minter.mint(kind)
        let verifier = try Minted.verifier()
        // The second verification uses the cached signer.
        #expect(try verifier.verify(jws, as: kind, now: Minted.instant) == .verified)
        #expect(try verifier.verify(jws, as: kind, now: nil) == .verified)
    }

    /// If (r, s) is a valid ECDSA signature, (r, n - s) is valid too, and anyone can compute it without the key (FIPS
    /// 186-5).
    @Test func `two valid signatures of one JWS give the same digest`() throws {
        let verifier = try Minted.verifier()
        let jws = try Minted.minter.mint(.transaction)
        let end = try #require(jws.lastIndex(of: UInt8(ascii: ".")))
        let signature = try #require(Base64.urlSafe.decode(jws[(end + 1)...]))
        let order: [UInt8] =
            [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 8)
            + [0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51]
        var other = signature
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(order[index]) - Int(signature[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            other[32 + index] = UInt8(truncatingIfNeeded: difference)
        }
        let respelled = Array(jws[...end]) + Base64.urlSafe.encode(other)
        #expect(respelled != jws)
        let digest = try verifier.verifyTransaction(jws, now: nil).signedContentDigest
        #expect(digest == Array(SHA256.hash(data: jws[..<end])))
        #expect(try verifier.verifyTransaction(respelled, now: nil).signedContentDigest == digest)
        let next = try Minted.minter.mint(.transaction, setting: ["price": .integer(1)])
        #expect(try verifier.verifyTransaction(next, now: nil).signedContentDigest != digest)
    }

    @Test(arguments: JWSDefect.allCases)
    func `a JWS with a defect is rejected with the defect's code, whether or not the signer is cached`(
        defect: JWSDefect
    ) throws {
        for kind in defect.kinds {
            var app = Minted.app
            if defect == .decomposedBundle { app = AppIdentity(bundleID: "com.example.caf\u{E9}") }
            let cold = try Minted.verifier(app: app)
            let warm = try Minted.verifier(app: app)
            _ = try? warm.verify(Minted.minter.mint(kind), as: kind, now: Minted.instant)
            let jws = try Minted.minter.mint(kind, with: defect)
            for verifier in [cold, warm] {
                if let code = defect.rejection {
                    let found = rejection("\(defect) \(kind)") {
                        try verifier.verify(jws, as: kind, now: Minted.instant)
                    }
                    #expect(found?.code == code, "\(kind): \(found?.detail ?? "")")
                } else {
                    #expect(throws: Never.self, "\(kind)") { try verifier.verify(jws, as: kind, now: Minted.instant) }
                }
            }
        }
    }

    @Test func `a JWS is rejected if any of its certificates isn't canonical Base64, even the unused root`() throws {
        var draft = try JWSDraft(minter: Minted.minter, payload: Minted.minter.payload(of: .transaction))
        let entries = draft.certificates.map { Base64.standard.text($0) }
        for place in entries.indices {
            draft.x5c = entries
            draft.x5c?[place] += "!"
            let jws = try draft.sign()
            let code = rejection { try Minted.verifier().verifyTransaction(jws, now: Minted.instant) }?.code
            #expect(code == .malformed, "certificate \(place + 1)")
        }
    }

    @Test func `a JWS with an exp field is rejected from that instant on, whenever it was signed`() throws {
        let end = Minted.instant.addingTimeInterval(60)
        let jws = try Minted.minter.mint(
            .transaction, setting: ["exp": .integer(Int64(end.timeIntervalSince1970))])
        let verifier = try Minted.verifier()
        #expect(throws: Never.self) { try verifier.verifyTransaction(jws, now: end.addingTimeInterval(-1)) }
        #expect(rejection { try verifier.verifyTransaction(jws, now: end) }?.code == .outsideValidityPeriod)
    }

    @Test func `a notification with parts from another environment is refused`() throws {
        let anchors = try Minted.authority.anchors
        let verifier = AppStoreVerifier(
            app: Minted.app, trust: try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors]))
        let mixed = try Minted.minter.mint(.notification, with: .nestedOtherEnvironment)
        #expect(
            rejection { try verifier.verifyNotification(mixed, now: Minted.instant) }?.code == .wrongEnvironment)
    }

    @Test func `the transaction in a notification may be signed at most five minutes in the future`() throws {
        func notification(transactionSigned seconds: TimeInterval) throws -> [UInt8] {
            let later = JWSMinter(
                authority: Minted.authority, signedAt: Minted.instant.addingTimeInterval(seconds))
            var data = JSONObject()
            data["appAppleId"] = .integer(828_838_134)
            data["bundleId"] = .string("com.example.calculator")
            data["environment"] = .string("Production")
            data["signedTransactionInfo"] = .string(String(decoding: try later.mint(.transaction), as: UTF8.self))
            return try Minted.minter.mint(.notification, setting: ["data": .object(data)])
        }
        let verifier = try Minted.verifier()
        #expect(throws: Never.self) {
            try verifier.verifyNotification(notification(transactionSigned: 300), now: Minted.instant)
        }
        let early = try notification(transactionSigned: 301)
        let found = rejection { try verifier.verifyNotification(early, now: Minted.instant) }
        #expect(found?.code == .outsideValidityPeriod)
        #expect(found?.detail.contains("data.signedTransactionInfo") == true)
    }

    @Test func `a notification for another app is refused, and its Apple ID is checked only in Production`() throws {
        let anchors = try Minted.authority.anchors
        let verifier = AppStoreVerifier(
            app: Minted.app, trust: try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors]))
        func code(
            setting field: String, to value: JSONValue, in environment: AppStoreEnvironment = .production
        ) throws -> Rejection.Code? {
            var data = JSONObject()
            data["appAppleId"] = .integer(828_838_134)
            data["bundleId"] = .string("com.example.calculator")
            data["environment"] = .string(environment.rawValue)
            data[field] = value == .null ? nil : value
            let jws = try Minted.minter.mint(.notification, setting: ["data": .object(data)])
            do throws(Rejection) {
                _ = try verifier.verifyNotification(jws, now: Minted.instant)
                return nil
            } catch {
                return error.code
            }
        }
        for (field, other) in [("appAppleId", JSONValue.integer(1)), ("bundleId", .string("com.example.other"))] {
            #expect(try code(setting: field, to: other) == .wrongApp)
            #expect(try code(setting: field, to: .null) == .wrongApp)
        }
        #expect(try code(setting: "appAppleId", to: .null, in: .sandbox) == nil)
        #expect(try code(setting: "bundleId", to: .string("com.example.other"), in: .sandbox) == .wrongApp)
        #expect(try code(setting: "status", to: .integer(1)) == nil)
    }

    @Test(arguments: ChainDefect.allCases)
    func `a defect in a JWS's chain is rejected with its code, and a leaf that expired after signing is accepted`(
        defect: ChainDefect
    ) throws {
        for kind in AppStoreVerifier.kinds where kind != .notification {
            let (jws, anchors) = try Minted.minter.mint(kind, with: defect)
            let verifier = try Minted.verifier(anchors: anchors)
            if let code = defect.rejection {
                #expect(rejection { try verifier.verify(jws, as: kind, now: nil) }?.code == code)
            } else {
                #expect(try verifier.verify(jws, as: kind, now: nil) == .verified)
            }
        }
    }

    @Test(arguments: AppStoreVerifier.kinds, AppStoreVerifier.kinds)
    func `a JWS of one kind isn't accepted as another kind`(minted: JWSKind, wanted: JWSKind) throws {
        guard minted != wanted else { return }
        let jws = try Minted.minter.mint(minted)
        #expect(rejection { try Minted.verifier().verify(jws, as: wanted, now: Minted.instant) }?.code == .wrongKind)
    }

    @Test(arguments: AppStoreVerifier.kinds)
    func `a JWS with any character changed is refused`(kind: JWSKind) throws {
        let jws = try Minted.minter.mint(kind)
        let verifier = try Minted.verifier()
        _ = try verifier.verify(jws, as: kind, now: nil)
        for index in stride(from: 0, to: jws.count, by: 61) {
            var changed = jws
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: Rejection.self, "character \(index)") { try verifier.verify(changed, as: kind, now: nil) }
        }
    }

    @Test(arguments: AppStoreVerifier.kinds)
    func `a truncated JWS is refused`(kind: JWSKind) throws {
        let jws = try Minted.minter.mint(kind)
        let verifier = try Minted.verifier()
        for count in stride(from: 0, to: jws.count, by: 97) {
            #expect(throws: Rejection.self) { try verifier.verify(Array(jws.prefix(count)), as: kind, now: nil) }
        }
    }

    @Test func `an app transaction signed for a server is accepted only from the App Store Server API`() throws {
        let payload = try Minted.minter.payload(of: .appTransaction).signedForServer
        let jws = try Minted.minter.mint(payload: payload)
        let verifier = try Minted.verifier()
        #expect(rejection { try verifier.verifyAppTransaction(jws, now: nil) }?.code == .wrongKind)
        let verified = try verifier.verifyAppTransaction(jws, from: .appStoreServer, now: nil)
        #expect(verified.proof.kind == .serverAppTransaction)
    }

    @Test func `an artifact without a signing date is verified as of now, and rejected if the time is unknown`() throws
    {
        let jws = try Minted.minter.mint(.transaction, setting: ["signedDate": .null])
        let verifier = try Minted.verifier()
        #expect(try verifier.verifyTransaction(jws, now: Minted.instant).signedDate == nil)
        #expect(rejection { try verifier.verifyTransaction(jws, now: nil) }?.code == .malformed)
        #expect(rejection { try verifier.verifyTransaction(jws, now: .distantFuture) }?.code == .outsideValidityPeriod)
    }

    @Test(arguments: ["-8640000000000000", "8640000000000000", "-62135769600000", "0"])
    func `an extreme signing date is refused without a crash`(digits: String) throws {
        let jws = try Minted.minter.mint(.transaction, setting: ["signedDate": .number(digits)])
        #expect(
            rejection { try Minted.verifier().verifyTransaction(jws, now: Minted.instant) }?.code
                == .outsideValidityPeriod)
    }

    @Test func `an artifact with a signing date up to five minutes in the future is accepted`() throws {
        let jws = try Minted.minter.mint(.transaction)
        let verifier = try Minted.verifier()
        #expect(throws: Never.self) {
            try verifier.verifyTransaction(jws, now: Minted.instant.addingTimeInterval(-300))
        }
        let found = rejection { try verifier.verifyTransaction(jws, now: Minted.instant.addingTimeInterval(-301)) }
        #expect(found?.code == .outsideValidityPeriod)
    }

    @Test func `if no app is configured, JWS artifacts of every app are accepted`() throws {
        let minter = JWSMinter(
            authority: Minted.authority, app: MintedApp(bundleID: "com.example.other"), signedAt: Minted.instant)
        let jws = try minter.mint(.appTransaction)
        #expect(throws: Never.self) { try Minted.verifier(app: AppIdentity()).verifyAppTransaction(jws, now: nil) }
        #expect(rejection { try Minted.verifier().verifyAppTransaction(jws, now: nil) }?.code == .wrongApp)
    }

    @Test func `the app's Apple ID is compared in production only`() throws {
        let minter = JWSMinter(
            authority: Minted.authority, app: MintedApp(environment: .sandbox), signedAt: Minted.instant)
        let verifier = AppStoreVerifier(
            app: Minted.app, trust: try TrustConfiguration(anchors: [.sandbox: Minted.authority.anchors]))
        let verified = try verifier.verifyAppTransaction(minter.mint(.appTransaction), now: nil)
        #expect(verified.payload.appAppleID == nil)
        #expect(verified.environment == .sandbox)
    }

    @Test func `an artifact is verified only under the roots configured for its environment`() throws {
        let other = try TestAuthority(receiptsOf: Minted.authority)
        let trust = try TrustConfiguration(anchors: [
            .production: Minted.authority.anchors, .sandbox: TrustAnchors(der: [other.jws.root.der]),
        ])
        let verifier = AppStoreVerifier(app: Minted.app, trust: trust)
        #expect(throws: Never.self) { try verifier.verifyTransaction(Minted.minter.mint(.transaction), now: nil) }
        let forged = JWSMinter(authority: other, signedAt: Minted.instant)
        #expect(
            rejection { try verifier.verifyTransaction(forged.mint(.transaction), now: nil) }?.code == .untrustedChain)
    }

    @Test func `artifacts signed by Xcode are accepted only if Xcode's certificate is configured, and marked local`()
        throws
    {
        let authority = Minted.authority
        let minter = JWSMinter(authority: authority, app: MintedApp(environment: .xcode), signedAt: Minted.instant)
        let jws = try minter.mint(.appTransaction)
        #expect(rejection { try Minted.verifier().verifyAppTransaction(jws, now: nil) }?.code == .untrustedChain)
        let trust = try TrustConfiguration(anchors: [.production: authority.anchors, .xcode: authority.xcodeAnchors])
        let verifier = AppStoreVerifier(app: Minted.app, trust: trust)
        let verified = try verifier.verifyAppTransaction(jws, now: nil)
        #expect(verified.status == .local && verified.environment == .xcode && verified.certificates.count == 1)
        // Xcode's key is accepted only in Xcode's environment, and the App Store's keys never are.
        let production = try minter.mint(
            .appTransaction, setting: ["receiptType": .string("Production"), "appAppleId": .integer(828_838_134)])
        #expect(rejection { try verifier.verifyAppTransaction(production, now: nil) }?.code == .wrongEnvironment)
        let claimed = try Minted.minter.mint(.appTransaction, setting: ["receiptType": .string("Xcode")])
        #expect(rejection { try verifier.verifyAppTransaction(claimed, now: nil) }?.code == .wrongEnvironment)
        // With Xcode's anchor alone, the App Store's chains are untrusted.
        let localOnly = AppStoreVerifier(
            app: Minted.app, trust: try TrustConfiguration(anchors: [.xcode: authority.xcodeAnchors]))
        #expect(
            rejection { try localOnly.verifyTransaction(Minted.minter.mint(.transaction), now: nil) }?.code
                == .untrustedChain)
    }

    @Test func `an artifact of more than 256 KiB is refused`() throws {
        let jws = [UInt8](repeating: UInt8(ascii: "A"), count: 256 * 1024 + 1)
        #expect(rejection { try Minted.verifier().verifyTransaction(jws, now: nil) }?.code == .tooLarge)
    }
}
