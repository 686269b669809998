import Crypto
import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenureContent

private let bundleID = "com.example.calculator"
private let key = P256.Signing.PrivateKey()
private let pin = PinnedKey(key.publicKey)

private func version(_ minimum: String?, size: Int64 = 1000) -> ContentCatalog.Version {
    ContentCatalog.Version(
        minimumAppVersion: minimum.flatMap { AppVersion($0) }, manifest: ContentDigest(of: Data((minimum ?? "").utf8)),
        manifestSize: 300, archive: ContentDigest(of: Data("archive".utf8)), archiveSize: size + 2048,
        installedSize: size)
}

private func catalog(_ names: String...) throws -> ContentCatalog {
    try ContentCatalog(
        bundleID: bundleID,
        packs: names.map {
            .init(name: $0, unlock: .entitlement("piano"), isPurgeable: false, versions: [version(nil)])
        })
}

@Suite struct `A signed content catalog` {
    @Test func `verifying a signed content catalog returns the catalog, counter and date that were signed`() throws {
        let packs: [ContentCatalog.Pack] = [
            .init(
                name: "grand-piano", unlock: .entitlement("piano"), isPurgeable: false,
                versions: [version(nil), version("3.2"), version("3.10")]),
            .init(
                name: "loops", unlock: .product("com.example.loops"), isPurgeable: true, versions: [version("2.0")]),
        ]
        let original = try ContentCatalog(bundleID: bundleID, packs: packs)
        let signed = try SignedCatalog(original, counter: 7, issuedAt: Date(timeIntervalSince1970: 5), by: key)
        let read = try SignedCatalog.verify((signed.text + "\n").utf8, keys: [pin], bundleID: bundleID)
        #expect(read.catalog == original)
        #expect(read.counter == 7)
        #expect(read.issuedAt == Date(timeIntervalSince1970: 5))
    }

    @Test func `a signed content catalog is accepted only with a pinned key and only for its own app`() throws {
        let text = try SignedCatalog(try catalog("loops"), counter: 1, issuedAt: Date(), by: key).text
        let other = PinnedKey(P256.Signing.PrivateKey().publicKey)
        #expect(throws: ContentError.wrongSignature) {
            try SignedCatalog.verify(text.utf8, keys: [other], bundleID: bundleID)
        }
        #expect(throws: ContentError.wrongSignature) { try SignedCatalog.verify(text.utf8, keys: [], bundleID: nil) }
        #expect(throws: ContentError.wrongApp(found: bundleID, wanted: "com.example.notes")) {
            try SignedCatalog.verify(text.utf8, keys: [pin], bundleID: "com.example.notes")
        }
        _ = try SignedCatalog.verify(text.utf8, keys: [other, pin], bundleID: bundleID)
    }

    @Test func `the message about an old or foreign content catalog has both counters or both apps in their places`() {
        #expect(
            ContentError.older(counter: 3, known: 7).description
                == "the content catalog has the counter 3, which is lower than the known counter 7; publish again with a higher counter"
        )
        #expect(
            ContentError.sameCounter(7).description
                == "another content catalog already has the counter 7; publish again with a higher counter")
        #expect(
            ContentError.wrongApp(found: "com.example.a", wanted: "com.example.b").description
                == "the content catalog is for the app `com.example.a`, but this app is `com.example.b`; publish each app's content to its own folder"
        )
    }

    @Test func `a signed content catalog is rejected as a policy, and a signed policy as a content catalog`() throws {
        let catalog = try SignedCatalog(try catalog("loops"), counter: 1, issuedAt: Date(), by: key)
        #expect(throws: SignedPolicyError.self) {
            try SignedPolicy.verify(catalog.text.utf8, keys: [pin], bundleID: nil)
        }
        let policy = try SignedPayload.sign(Array("{}".utf8), type: "tenure-policy+jwt", by: key)
        #expect(throws: ContentError.self) { try SignedCatalog.verify(policy.utf8, keys: [pin], bundleID: nil) }
    }

    @Test func `a signed content catalog is rejected if any of its bytes was changed`() throws {
        let text = Array(try SignedCatalog(try catalog("loops"), counter: 1, issuedAt: Date(), by: key).text.utf8)
        for index in text.indices {
            var changed = text
            changed[index] ^= 1
            #expect(throws: ContentError.self) {
                try SignedCatalog.verify(changed, keys: [pin], bundleID: bundleID)
            }
        }
        for more in [".", ".A", "\n.", " "] {
            #expect(throws: ContentError.self, "\(more)") {
                try SignedCatalog.verify(text + Array(more.utf8), keys: [pin], bundleID: bundleID)
            }
        }
    }

    @Test(arguments: [
        #"{"counter":1,"iat":1,"bundleID":"com.example.a","packs":{"A":{"entitlement":"e","versions":[]}}}"#,
        #"{"counter":0,"iat":1,"bundleID":"com.example.a","packs":{}}"#,
        #"{"counter":1,"iat":-1,"bundleID":"com.example.a","packs":{}}"#,
        #"{"counter":1,"iat":1,"bundleID":"","packs":{}}"#,
        #"{"counter":1,"iat":1,"bundleID":"com.example.a","packs":{"a":{"entitlement":"e","versions":[]}}}"#,
        #"{"counter":1,"iat":1,"bundleID":"com.example.a","packs":{"a":{"versions":[]}}}"#,
        #"{"counter":1,"iat":1,"packs":{}}"#, "[]", "", "{",
    ])
    func `a signed content catalog with an invalid payload is rejected, even with a valid signature`(payload: String)
        throws
    {
        let text = try SignedPayload.sign(Array(payload.utf8), type: "tenure-content+jwt", by: key)
        #expect(throws: ContentError.self) { try SignedCatalog.verify(text.utf8, keys: [pin], bundleID: nil) }
    }
}

@Suite struct `A content catalog` {
    @Test func `a content catalog gives each app version the newest pack version that it can use`() throws {
        let pack = ContentCatalog.Pack(
            name: "loops", unlock: .entitlement("loops"), isPurgeable: false,
            versions: [version("2.0"), version("3.2"), version("3.10")])
        func minimum(_ app: String?) -> String? {
            pack.version(for: app.flatMap { AppVersion($0) })?.minimumAppVersion?.description
        }
        #expect(minimum("1.9") == nil)
        #expect(minimum("2") == "2.0")
        #expect(minimum("3.9") == "3.2")
        #expect(minimum("3.10.1") == "3.10")
        #expect(minimum(nil) == nil)
    }

    @Test func `a content catalog with an invalid pack name, too many packs or unordered pack versions is rejected`()
        throws
    {
        #expect(throws: ContentError.self) { try catalog("Loops") }
        #expect(throws: ContentError.self) { try catalog("") }
        #expect(throws: ContentError.self) { try catalog(String(repeating: "a", count: 65)) }
        #expect(throws: ContentError.self) { try catalog("a", "a") }
        let many: [ContentCatalog.Pack] = (0...100).map {
            .init(name: "pack-\($0)", unlock: .entitlement("e"), isPurgeable: false, versions: [version(nil)])
        }
        #expect(throws: ContentError.self) { try ContentCatalog(bundleID: bundleID, packs: many) }
        #expect(throws: ContentError.self) {
            try ContentCatalog(
                bundleID: bundleID,
                packs: [
                    .init(
                        name: "a", unlock: .entitlement("e"), isPurgeable: false,
                        versions: [version("3"), version("2")])
                ])
        }
    }
}
