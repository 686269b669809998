import Crypto
import Foundation
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// Returns the key ID and the type in the header of a compact JWS, and its payload.
private func opened(_ jws: String) throws -> (keyID: String?, type: String?, payload: [String: Any]) {
    let jws = try OpenedJWS(jws)
    return (jws.header["kid"] as? String, jws.header["typ"] as? String, jws.claims)
}

@Suite struct `rotating the signing key` {
    @Test func `after two rotations, the service publishes three keys, and each old key signs the next key`()
        async throws
    {
        try await withKeys { testBed in
            let first = try testBed.keyIDInUse()
            #expect(try await testBed.publishedKeyIDs() == [first])
            let before = try await testBed.sync()
            #expect(before.signingKey == nil)
            let second = try testBed.rotate()
            let third = try testBed.rotate()
            try await testBed.follow()
            let answer = try await testBed.sync()
            let token = try OpenedJWS(try #require(answer.entitlementToken))
            #expect(token.header["kid"] as? String == third)
            // The token must fit into a header of a request, so the chain isn't part of it.
            #expect(token.header.count == 3)
            let statements = try #require(answer.signingKey?.chain).map { try opened($0) }
            #expect(statements.map(\.keyID) == [first, second])
            #expect(statements.map(\.type) == ["tenure-key+jwt", "tenure-key+jwt"])
            #expect(try await testBed.publishedKeyIDs() == [third, second, first])
            let set = try await testBed.keySet()
            for text in [answer.entitlementToken, before.entitlementToken] + (answer.signingKey?.chain ?? []) {
                try OpenedJWS(try #require(text)).verify(under: set)
            }
        }
    }

    @Test func `an entitlement token keeps its size after any number of rotations`() async throws {
        try await withKeys { testBed in
            let before = try await testBed.sync().entitlementToken?.utf8.count
            try testBed.rotate(15)
            try await testBed.follow()
            #expect(try await testBed.sync().entitlementToken?.utf8.count == before)
        }
    }

    @Test func `after rotations, the file of signing keys contains only the newest private key`() async throws {
        try await withKeys { testBed in
            func keys() throws -> Int {
                let text = try String(contentsOfFile: testBed.folder + "/signing-key.json", encoding: .utf8)
                return text.components(separatedBy: "BEGIN PRIVATE KEY").count - 1
            }
            try testBed.rotate(3)
            #expect(try keys() == 1)
            for name in try FileManager.default.contentsOfDirectory(atPath: testBed.folder) {
                guard name != "signing-key.json" else { continue }
                let bytes = try Data(contentsOf: URL(fileURLWithPath: testBed.folder + "/" + name))
                #expect(bytes.range(of: Data("PRIVATE KEY".utf8)) == nil, "\(name)")
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: testBed.folder + "/signing-key.json")
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func `the signing key can't be rotated beyond sixteen keys without an option that drops the oldest key`()
        async throws
    {
        try await withKeys { testBed in
            let first = try testBed.keyIDInUse()
            try testBed.rotate(15)
            try await testBed.follow()
            #expect(try await testBed.sync().signingKey?.chain?.count == 15)
            let last = try testBed.keyIDInUse()
            #expect(throws: SigningKeyError.chainTooLong(oldest: first)) { try testBed.rotate() }
            #expect(try testBed.keyIDInUse() == last)
            _ = try testBed.administration.rotate(droppingOldest: true, at: Calculator.now)
            try await testBed.follow()
            let chain = try #require(try await testBed.sync().signingKey?.chain)
            #expect(chain.count == 15)
            #expect(try opened(chain[0]).keyID != first)
            let summary = try testBed.administration.summary()
            #expect(summary.keys.filter { !$0.isInChain }.map(\.id) == [first])
        }
    }

    @Test func `a replaced signing key is published until its last token has expired`() async throws {
        let clock = TestClock()
        try await withKeys(now: { clock.now }) { testBed in
            let first = try testBed.keyIDInUse()
            let second = try testBed.rotate(at: clock.now)
            try await testBed.follow()
            clock.advance(by: 365 * 86_400 - 1)
            #expect(try await testBed.publishedKeyIDs() == [second, first])
            clock.advance(by: 1)
            #expect(try await testBed.publishedKeyIDs() == [second])
            // The chain still contains the old key's statement about the new key.
            #expect(try await testBed.sync().signingKey?.chain?.count == 1)
        }
    }

    @Test(arguments: [(30.0, 365.0), (800, 800)])
    func `a signing key outside the chain is published until its last token can have expired`(
        configured: Double, days: Double
    ) async throws {
        let clock = TestClock()
        try await withKeys(now: { clock.now }, tokenLife: configured * 86_400) { testBed in
            let first = try testBed.keyIDInUse()
            let second = try testBed.rotate(at: clock.now)
            // A key without a statement from an older key replaces the second key, so the first key leaves the chain.
            _ = try testBed.administration.revoke(second, at: clock.now)
            let third = try testBed.keyIDInUse()
            clock.advance(by: days * 86_400 - 1)
            let fourth = try testBed.rotate(at: clock.now)
            try await testBed.follow()
            #expect(try await testBed.publishedKeyIDs() == [fourth, third, first])
            clock.advance(by: 1)
            #expect(try await testBed.publishedKeyIDs() == [fourth, third])
            clock.advance(by: 800 * 86_400)
            try testBed.rotate(at: clock.now)
            #expect(try testBed.administration.summary().keys.allSatisfy { $0.id != first })
        }
    }

    @Test func `a replaced signing key is published until tokens with an earlier, longer lifetime have expired`()
        async throws
    {
        let clock = TestClock()
        try await withFolder { folder in
            func serve<Result: Sendable>(
                days: Double, _ body: @escaping @Sendable (KeyTestBed) async throws -> Result
            ) async throws -> Result {
                try await withService(
                    in: folder,
                    {
                        $0.now = { clock.now }
                        $0.tokenLifetimes.entitlementToken = days * 86_400
                    }
                ) { try await body(KeyTestBed(client: $0, folder: folder)) }
            }
            let first = try await serve(days: 800) { try #require(try await $0.sync().entitlementToken) }
            let end = try #require(try OpenedJWS(first).claims["exp"] as? Int)
            try await serve(days: 30) { testBed in
                try testBed.rotate(at: clock.now)
                try await testBed.follow()
                clock.advance(by: Double(end) - clock.now.timeIntervalSince1970 - 1)
                try OpenedJWS(first).verify(under: try await testBed.keySet())
                clock.advance(by: 1)
                #expect(try await testBed.publishedKeyIDs().count == 1)
            }
        }
    }

    @Test func `rotating makes no key ID that begins with a hyphen`() throws {
        var file = SigningKeyFile(at: Calculator.now)
        for _ in 0..<400 { try file.rotate(at: Calculator.now, droppingOldest: true) }
        _ = try file.revoke(try #require(file.keys.last).key.id, at: Calculator.now)
        #expect(file.keys.count == 402)
        #expect(!file.keys.contains { $0.key.id.hasPrefix("-") })
    }

    @Test func `rotating the signing key keeps personas' tokens valid`() async throws {
        try await withFolder { folder in
            try await withService(in: folder, { $0.adminKey = AdminClient.adminKey }) { client in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                let token = try await admin.persona()
                _ = try SigningKeyAdministration(folder: folder).rotate(at: Calculator.now)
                #expect(try await admin.sandboxed(as: token).persona == "early-buyer")
            }
        }
    }

    @Test func `several rotations of the signing key at the same time lose no key`() async throws {
        try await withKeys { testBed in
            let administration = testBed.administration
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { _ = try administration.rotate(at: Calculator.now) } }
                try await group.waitForAll()
            }
            #expect(try administration.summary().keys.count == 9)
            try await testBed.follow()
            #expect(try await testBed.sync().signingKey?.chain?.count == 8)
        }
    }

    @Test func `a service keeps its signing keys while their file can't be read`() async throws {
        try await withKeys { testBed in
            let id = try testBed.keyIDInUse()
            func keyOfToken() async throws -> String? {
                try opened(try #require(try await testBed.sync().entitlementToken)).keyID
            }
            let path = testBed.folder + "/signing-key.json"
            let sound = try Data(contentsOf: URL(fileURLWithPath: path))
            for damaged in [Data(), Data("{}".utf8), sound.dropLast(40)] {
                try damaged.write(to: URL(fileURLWithPath: path))
                #expect(try await keyOfToken() == id)
            }
            try FileManager.default.removeItem(atPath: path)
            #expect(try await keyOfToken() == id)
            // The service doesn't write a new key in its place.
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}

@Suite struct `revoking a signing key` {
    @Test func `revoking the key in use creates a new key, and returns the pinned keys that stop working`() async throws
    {
        try await withKeys { testBed in
            let first = try testBed.keyIDInUse()
            let second = try testBed.rotate()
            #expect(try testBed.administration.revoke(second, at: Calculator.now) == [first, second])
            try await testBed.follow()
            let third = try testBed.keyIDInUse()
            #expect(third != second)
            let answer = try await testBed.sync()
            #expect(answer.signingKey == nil)
            #expect(try OpenedJWS(try #require(answer.entitlementToken)).header["kid"] as? String == third)
            // Backends still accept tokens of the first key.
            #expect(try await testBed.publishedKeyIDs() == [third, first])
            #expect(throws: SigningKeyError.alreadyRevoked(second)) {
                try testBed.administration.revoke(second, at: Calculator.now)
            }
            #expect(throws: SigningKeyError.unknownKey("x")) {
                try testBed.administration.revoke("x", at: Calculator.now)
            }
        }
    }

    @Test func `revoking a replaced signing key removes it and older keys from the chain`() async throws {
        try await withKeys { testBed in
            let first = try testBed.keyIDInUse()
            let second = try testBed.rotate()
            let third = try testBed.rotate()
            let fourth = try testBed.rotate()
            #expect(try testBed.administration.revoke(second, at: Calculator.now) == [first, second])
            try await testBed.follow()
            let chain = try #require(try await testBed.sync().signingKey?.chain)
            #expect(try chain.map { try opened($0).keyID } == [third])
            #expect(try await testBed.publishedKeyIDs() == [fourth, third, first])
            // Revoking a key that has already left the chain affects no other key.
            #expect(try testBed.administration.revoke(first, at: Calculator.now) == [])
            try testBed.rotate()
            try await testBed.follow()
            #expect(try await testBed.sync().signingKey?.chain?.count == 2)
        }
    }

    @Test func `revoking a signing key makes its persona tokens invalid`() async throws {
        try await withFolder { folder in
            try await withService(in: folder, { $0.adminKey = AdminClient.adminKey }) { client in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                let token = try await admin.persona()
                let administration = SigningKeyAdministration(folder: folder)
                let id = try #require(try administration.summary().keys.last?.id)
                _ = try administration.revoke(id, at: Calculator.now)
                #expect(try await admin.sandboxed(as: token).problems.map(\.code) == ["personaUnknown"])
            }
        }
    }
}

@Suite struct `a file of signing keys` {
    /// The cases are all ways in which a file could contain statements that clients reject.
    @Test func `a file of signing keys is refused if a client would reject one of its statements`() async throws {
        try await withKeys { testBed in
            let other = SigningKeyFile(at: Calculator.now)
            try testBed.rotate(2)
            let store = SigningKeyStore(folder: testBed.folder)
            let sound = try store.read().file
            let changes: [(inout SigningKeyFile) -> Void] = [
                { $0.privateKey = other.privateKey },
                { $0.privateKey = Secret("none") },
                { $0.keys = [] },
                { $0.keys.append(other.keys[0]) },
                { $0.keys.removeFirst() },
                { $0.chain.reverse() },
                { $0.chain[0] = $0.chain[1] },
                { $0.chain[1] = "a.b.c" },
                { $0.keys[1].revokedAt = 1 },
                { $0.keys[2].revokedAt = 1 },
                { $0.rootStatement = $0.chain[1] },
                {
                    $0.root = other.keys[0].key; $0.rootStatement = $0.chain[1]
                },
                {
                    $0.root = other.keys[0].key; $0.revocations = $0.chain[1]
                },
            ]
            for (place, change) in changes.enumerated() {
                var file = sound
                change(&file)
                #expect(throws: SigningKeySet.Mistake.self, "\(place)") { try SigningKeySet(file) }
                // The store never writes such a file either.
                #expect(throws: ServiceError.self, "\(place)") { try store.update { change(&$0) } }
            }
            #expect(try store.read().file == sound)
        }
    }

    @Test func `descriptions, dumps and encoders of signing keys and offline roots show no private key`() throws {
        var file = SigningKeyFile(at: Calculator.now)
        _ = try file.prepareNextKey(at: Calculator.now)
        let root = OfflineRoot.Contents(privateKey: file.privateKey)
        var output = "\(file) \(root) \(String(reflecting: file)) \(String(reflecting: root))"
        dump(file, to: &output)
        dump(root, to: &output)
        // Only the bytes of the key file, which are next, contain the private keys.
        output += String(decoding: try JSONEncoder.sorted.encode(file), as: UTF8.self)
        output += String(decoding: try JSONEncoder.sorted.encode(root), as: UTF8.self)
        let written = String(decoding: try file.bytes, as: UTF8.self)
        let lines = written.components(separatedBy: "BEGIN PRIVATE KEY-----\\n").dropFirst().map { $0.prefix(64) }
        #expect(lines.count == 2)
        for line in lines { #expect(!output.contains(line)) }
        #expect(output.components(separatedBy: "<redacted>").count > 9)
        #expect(!output.contains("PRIVATE KEY"))
    }

    @Test func `a temporary file of a killed tenure signing-key is removed by the next run`() async throws {
        try await withKeys { testBed in
            let leftover = testBed.folder + "/signing-key.json.12345678901234567890.partial"
            let copies = ["backup", "1", "20261120120000", "1795000000000000000"].map {
                testBed.folder + "/signing-key.json." + $0
            }
            for path in [leftover] + copies {
                #expect(FileManager.default.createFile(atPath: path, contents: Data("secret".utf8)))
            }
            try testBed.rotate()
            #expect(!FileManager.default.fileExists(atPath: leftover))
            for copy in copies { #expect(FileManager.default.fileExists(atPath: copy), "\(copy)") }
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root can give a file to another user"))
    func `the file of signing keys keeps its owner if the user root rotates the key`() async throws {
        try await withKeys { testBed in
            let path = testBed.folder + "/signing-key.json"
            #expect(chown(path, 65_534, 65_534) == 0)
            try testBed.rotate()
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.ownerAccountID] as? Int == 65_534)
            #expect(attributes[.groupOwnerAccountID] as? Int == 65_534)
        }
    }
}
