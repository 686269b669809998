import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

/// What operators read in a response or a log when an artifact is rejected.
@Suite struct RejectionTextTests {
    private func detail(
        of fields: [String: JSONValue], _ kind: JWSKind = .transaction, at now: Date? = Minted.instant
    ) throws -> String? {
        let jws = try Minted.minter.mint(kind, setting: fields)
        return rejection { try Minted.verifier().verify(jws, as: kind, now: now) }?.detail
    }

    @Test func `the rejection of an artifact of another app names both apps`() throws {
        #expect(
            try detail(of: ["bundleId": .string("com.example.other")])
                == "the artifact belongs to the app `com.example.other`, not to `com.example.calculator`")
        #expect(
            try detail(of: ["appAppleId": .integer(1)], .appTransaction)
                == "the artifact belongs to the app with the Apple ID 1, not to 828838134")
        #expect(
            try detail(of: ["appAppleId": .null], .appTransaction)
                == "the artifact belongs to the app with the Apple ID (none), not to 828838134")
        let receipt = try ReceiptTestBed.minter().mint()
        let other = try ReceiptTestBed.verifier(bundleID: "com.example.other")
        #expect(
            try ReceiptTestBed.rejection(of: receipt, by: other)?.detail
                == "the receipt belongs to the app `com.example.calculator`, not to `com.example.other`")
    }

    @Test func `the rejection of an artifact at the wrong time says which date is wrong`() throws {
        #expect(
            try detail(of: [:], at: Minted.instant.addingTimeInterval(-301))
                == "the artifact was signed at 2026-11-20T12:00:00Z, which is in the future; check this machine's clock"
        )
        #expect(try detail(of: ["signedDate": .null], at: nil) == "the artifact has no signing date")
        let instant = Int64(Minted.instant.timeIntervalSince1970)
        #expect(try detail(of: ["exp": .integer(instant)]) == "the artifact has expired, according to `exp`")
        for claim in ["iat", "nbf"] {
            #expect(
                try detail(of: [claim: .integer(instant + 1)])
                    == "the artifact isn't valid yet, according to `\(claim)`")
            let jws = try Minted.minter.mint(.transaction, setting: [claim: .integer(instant)])
            #expect(try Minted.verifier().verify(jws, as: .transaction, now: Minted.instant) == .verified)
        }
        #expect(
            try detail(of: ["aud": .string("com.example.calculator")])
                == "the artifact names an audience (`aud`), which the App Store never does")
    }

    @Test func `an artifact is refused above its largest size, and not at it`() throws {
        let verifier = try Minted.verifier()
        for (size, code, text) in [
            (262_144, .malformed, "a JWS has three segments, none of them empty, separated by periods"),
            (262_145, .tooLarge, "the JWS has 262145 bytes; a genuine one has at most 262144"),
        ] as [(Int, Rejection.Code, String)] {
            let jws = [UInt8](repeating: UInt8(ascii: "A"), count: size)
            let found = rejection { try verifier.verifyTransaction(jws, now: nil) }
            #expect(found?.code == code && found?.detail == text)
        }
        let maximum = ReceiptEncoding.maximumBase64Size
        #expect(maximum == 3_145_728)
        let largest = try receiptBytes(base64: Array(repeating: UInt8(ascii: "A"), count: maximum))
        #expect(largest.count == ReceiptEncoding.maximumSize)
        let larger = rejection { try receiptBytes(base64: Array(repeating: UInt8(ascii: "A"), count: maximum + 1)) }
        #expect(larger?.code == .tooLarge)
        #expect(
            larger?.detail == "the receipt has 3145729 characters of Base64; a genuine one has at most 3145728")
        let blanks = rejection { try receiptBytes(file: Array(repeating: 0x20, count: 2 * maximum)) }
        #expect(blanks?.code == .malformed && blanks?.detail == "the file is empty")
        #expect(rejection { try receiptBytes(file: Array(repeating: 0x20, count: 2 * maximum + 1)) }?.code == .tooLarge)
        #expect(rejection { try receiptBytes(base64: [UInt8]()) }?.detail == "the receipt is empty")
    }

    @Test func `an artifact of another kind is refused with both kinds`() throws {
        let transaction = try Minted.minter.mint(.transaction)
        #expect(
            rejection { try Minted.verifier().verifyAppTransaction(transaction, now: nil) }?.detail
                == "the artifact must be an app transaction, but is a transaction")
        let server = try Minted.minter.mint(
            payload: Minted.minter.payload(of: .appTransaction).signedForServer)
        #expect(
            rejection { try Minted.verifier().verifyAppTransaction(server, now: nil) }?.detail
                == "the app transaction was signed for a server, so it isn't bound to a device")
    }

    @Test func `the rejection of an artifact of another environment names the accepted environments`() throws {
        let sandbox = JWSMinter(
            authority: Minted.authority, app: MintedApp(environment: .sandbox), signedAt: Minted.instant)
        let jws = try sandbox.mint(.transaction)
        #expect(
            rejection { try Minted.verifier().verifyTransaction(jws, now: nil) }?.detail
                == "the artifact was signed in `Sandbox`, and only Production is accepted")
        let anchors = try Minted.authority.anchors
        let trust = try TrustConfiguration(anchors: [.production: anchors, .xcode: Minted.authority.xcodeAnchors])
        let verifier = AppStoreVerifier(app: Minted.app, trust: trust)
        #expect(
            rejection { try verifier.verifyTransaction(jws, now: nil) }?.detail
                == "the artifact was signed in `Sandbox`, and only Production or Xcode is accepted")
        let claimed = try Minted.minter.mint(.appTransaction, setting: ["receiptType": .string("Xcode")])
        #expect(
            rejection { try verifier.verifyAppTransaction(claimed, now: nil) }?.detail
                == "the artifact names the environment `Xcode`, for which its signer may not sign")
    }
}
