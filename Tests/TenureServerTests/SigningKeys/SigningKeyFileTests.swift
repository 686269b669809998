import Crypto
import Foundation
import Logging
import TenureAPI
import TenureCore
import TenureJSON
import Testing

@testable import TenureServer

@Suite struct `signing keys and what operators read about them` {
    private static let day: TimeInterval = 86_400

    @Test func `a refused change of the signing keys names the problem, the key and the fix`() {
        let cases: [(error: SigningKeyError, words: String)] = [
            (
                .chainTooLong(oldest: "k1"),
                """
                the chain has its maximum of 16 keys. After this rotation, apps that pinned only the oldest one, `k1`, \
                would trust no new entitlement token; if no such app is in use anymore, rotate with `--drop-oldest`
                """
            ),
            (
                .anotherRoot(known: "k2"),
                """
                the service has the offline root `k2`, and apps that pinned only that root would trust no new \
                entitlement token; if no such app is in use anymore, install with `--replace-root`
                """
            ),
            (.revokedKey("k3"), "the signing key `k3` is revoked, so it can't be used again; use another key"),
            (
                .aboutAnotherKey("k4"),
                """
                the statement is about the key `k4`, which is neither in use nor waiting; sign the waiting key or the \
                key in use; `tenure signing-key list` shows both
                """
            ),
            (
                .periodOver(Calculator.now),
                """
                the signing period ended on 2026-11-20T12:00:00Z; sign the key again with `tenure signing-key root sign`
                """
            ),
            (
                .olderRevocations(counter: 3, known: 7),
                """
                the list of revoked keys has the counter 3, but the service's list has the counter 7; sign the list \
                again with `--counter 8` or higher
                """
            ),
            (
                .missingRevocations(["k5", "k6"], known: 7),
                """
                the list lacks keys that the service's list revokes; sign it again, with these keys: `tenure \
                signing-key root revoke ROOT_FILE --counter 8 -- k5 k6`
                """
            ),
            (.tooManyRevocations, "a root revokes at most 200 keys; create a new root for the app's next release"),
            (
                .notAKey,
                """
                the text isn't a P-256 public key; pass the JSON that `tenure signing-key list`, `rotate` or \
                `root create` prints
                """
            ),
            (
                .notOfRoot,
                """
                this service's offline root didn't sign this text; sign again with `tenure signing-key root` and the \
                file of that root
                """
            ),
            (.noRoot, "the service has no offline root yet; pass the root's public key with `--root`"),
            (
                .listOfNewRoot,
                """
                a list of revoked keys can't install an offline root; first install the root's statement about the key \
                in use, with `--root`
                """
            ),
            (.cannotSign, "the private key in the key file is unreadable; restore the file from your backup"),
        ]
        for (error, words) in cases { #expect(error.description == words) }
    }

    @Test func `the list of signing keys has each key's dates of creation, replacement and revocation`() async throws {
        try await withFolder { folder in
            let start = Calculator.now
            _ = try SigningKeyStore(folder: folder).readOrCreate(at: start)
            let administration = SigningKeyAdministration(folder: folder)
            _ = try administration.rotate(at: start + 10)
            _ = try administration.rotate(at: start + 20)
            let ids = try administration.summary().keys.map(\.id)
            try #require(ids.count == 3)
            #expect(try administration.revoke(ids[1], at: start + 30) == [ids[0], ids[1]])
            typealias Key = SigningKeyAdministration.Summary.Key
            let summary = try administration.summary()
            #expect(
                summary.keys == [
                    Key(id: ids[0], createdAt: start, retiredAt: start + 10, revokedAt: nil, isInChain: false),
                    Key(
                        id: ids[1], createdAt: start + 10, retiredAt: start + 20, revokedAt: start + 30,
                        isInChain: false),
                    Key(id: ids[2], createdAt: start + 20, retiredAt: nil, revokedAt: nil, isInChain: true),
                ])
            #expect(summary.waiting == nil && summary.root == nil && summary.period == .unlimited)
            // The revocation of the key in use is its replacement, too.
            _ = try administration.revoke(ids[2], at: start + 40)
            let last = try #require(try administration.summary().keys.dropFirst(2).first)
            #expect(last.retiredAt == start + 40 && last.revokedAt == start + 40 && !last.isInChain)
        }
    }

    @Test func `a key outside the chain leaves the file in the second in which its last token expires`() throws {
        let start = Calculator.now
        let life = 365 * Self.day
        var file = SigningKeyFile(at: start)
        try file.rotate(at: start)
        // Both keys leave the chain.
        _ = try file.revoke(try #require(file.keys.last).key.id, at: start)
        try file.rotate(at: start + life - 1)
        #expect(file.keys.count == 4)
        let kept = file.keys.dropFirst(2).map(\.key.id)
        try file.rotate(at: start + life)
        #expect(file.keys.count == 3 && file.keys.prefix(2).map(\.key.id) == kept)
    }

    @Test func `each published key has its curve, its coordinates, its ID, its algorithm and its use`() async throws {
        try await withKeys { testBed in
            let id = try testBed.rotate()
            try await testBed.follow()
            let json = try JSONSerialization.jsonObject(with: try await testBed.keySet())
            let set = try #require(json as? [String: [[String: String]]])
            let keys = try #require(set["keys"])
            #expect(set.count == 1 && keys.count == 2)
            for key in keys {
                #expect(key.keys.sorted() == ["alg", "crv", "kid", "kty", "use", "x", "y"])
                #expect(key["alg"] == "ES256" && key["use"] == "sig" && key["crv"] == "P-256" && key["kty"] == "EC")
            }
            let pinned = try JSONDecoder().decode(
                JSONWebKey.self, from: Data(try testBed.administration.summary().inUse.utf8))
            #expect(keys[0]["kid"] == id && pinned.id == id)
            let published = try JSONDecoder().decode(
                JSONWebKey.self, from: try JSONSerialization.data(withJSONObject: keys[0]))
            #expect(published == pinned)
        }
    }

    @Test func `a service that refuses its file of signing keys names the mistake in it`() throws {
        let other = SigningKeyFile(at: Calculator.now)
        var sound = SigningKeyFile(at: Calculator.now)
        for _ in 0..<2 { try sound.rotate(at: Calculator.now) }
        let noMatch = "the private key doesn't match the last public key, or that key is revoked"
        let cases: [(words: String, change: (inout SigningKeyFile) -> Void)] = [
            ("the private key isn't a P-256 key in PEM", { $0.privateKey = Secret("none") }),
            (noMatch, { $0.privateKey = other.privateKey }), (noMatch, { $0.keys[2].revokedAt = 1 }),
            ("the chain has 2 statements; these keys allow at most 1", { $0.keys.removeFirst() }),
            ("statement 1 of the chain doesn't vouch for the next key", { $0.chain.reverse() }),
            ("statement 1 of the chain doesn't vouch for the next key", { $0.keys[0].revokedAt = 1 }),
            ("statement 2 of the chain doesn't vouch for the next key", { $0.keys[1].revokedAt = 1 }),
            ("statement 2 of the chain doesn't vouch for the next key", { $0.chain[1] = "a.b.c" }),
            (
                "there is a statement of an offline root, but not the root's public key",
                { $0.rootStatement = $0.chain[1] }
            ),
            (
                "the list of revoked keys isn't signed by the offline root",
                {
                    $0.root = other.keys[0].key; $0.revocations = $0.chain[1]
                }
            ),
            (
                "the offline root's statement isn't valid for the key in use",
                {
                    $0.root = other.keys[0].key; $0.rootStatement = $0.chain[1]
                }
            ),
        ]
        for (words, change) in cases {
            var file = sound
            change(&file)
            let mistake = #expect(throws: SigningKeySet.Mistake.self) { try SigningKeySet(file) }
            #expect(mistake?.description == words)
        }
        // A chain of seventeen keys is longer than apps accept.
        for _ in 0..<14 { try sound.rotate(at: Calculator.now, droppingOldest: true) }
        #expect(sound.keys.count == 17 && sound.chain.count == 15)
        sound.chain.insert("a.b.c", at: 0)
        let mistake = #expect(throws: SigningKeySet.Mistake.self) { try SigningKeySet(sound) }
        #expect(mistake?.description == "the chain has 16 statements; these keys allow at most 15")
    }

    @Test func `the log has each change of the key in use, and each failure to read the file, once`() throws {
        let keys = try SigningKeySet(SigningKeyFile(at: Calculator.now))
        let failure = ServiceError.keyFile(path: "/keys/signing-key.json", detail: "it is damaged")
        var log = SigningKeyLog("an older key")
        func lines(_ failure: ServiceError?) -> [SigningKeyLog.Line] {
            log.lines(about: keys, failure, at: Calculator.now)
        }
        let failed = SigningKeyLog.Line(
            level: .error,
            message: """
                the key file `/keys/signing-key.json` can't be used: it is damaged; the previous keys stay in use
                """)
        let changed = SigningKeyLog.Line(level: .notice, message: "now signing with the key `\(keys.id)`")
        #expect(lines(failure) == [changed, failed])
        #expect(lines(failure) == [])
        #expect(lines(.keyFile(path: "/keys/signing-key.json", detail: "it is empty")).map(\.level) == [.error])
        #expect(lines(nil) == [])
        // The same failure happens again after the file could be read.
        #expect(lines(failure) == [failed])
    }

    @Test func `the log says why no entitlement tokens are issued, and how to fix that`() throws {
        let now = Calculator.now
        let sign = """
            sign the key in use with `tenure signing-key root sign`, and install the result with \
            `tenure signing-key install`
            """
        let none = "no entitlement tokens are issued: "
        func line(_ level: Logger.Level, _ message: String) -> SigningKeyLog.Line {
            SigningKeyLog.Line(level: level, message: message)
        }
        let cases: [(period: SigningPeriod, line: SigningKeyLog.Line?)] = [
            (.unlimited, nil), (.until(now + 30 * Self.day + 1), nil),
            (
                .until(now + 1),
                line(
                    .warning,
                    """
                    the signing period ends on 2026-11-20T12:00:01Z, and then no entitlement tokens are issued; \(sign)
                    """)
            ),
            (.until(now), line(.error, none + "the signing period ended on 2026-11-20T12:00:00Z; \(sign)")),
            (.notSigned, line(.error, none + "the offline root hasn't signed the key in use; \(sign)")),
            (
                .outdated,
                line(
                    .error,
                    none
                        + "another process has a newer signing key; copy its `signing-key.json` to this process's "
                        + "folder of keys")
            ),
        ]
        for (period, expected) in cases {
            var keys = try SigningKeySet(SigningKeyFile(at: now))
            keys.period = period
            var log = SigningKeyLog(keys.id)
            let first = log.lines(about: keys, nil, at: now)
            #expect(first == (expected.map { [$0] } ?? []))
            let second = log.lines(about: keys, nil, at: now)
            #expect(second == [])
            // The clock was set back by a day.
            let earlier = log.lines(about: keys, nil, at: now - Self.day)
            #expect(earlier.isEmpty == (expected == nil))
        }
    }

    @Test func `a process reports why it can't read its signing keys until it can read them again`() async throws {
        try await withFolder { folder in
            let keys = try SigningKeys(
                folder: folder, creating: true, tokenLife: Self.day, staleness: .zero, at: Calculator.now)
            let (id, path) = (keys.current.id, folder + "/signing-key.json")
            #expect(keys.failure == nil)
            let sound = try Data(contentsOf: URL(fileURLWithPath: path))
            try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
            #expect(
                keys.failure
                    == .keyFile(path: path, detail: "the contents are damaged; restore the file from your backup"))
            #expect(keys.current.id == id)
            try sound.write(to: URL(fileURLWithPath: path))
            #expect(keys.failure == nil && keys.current.id == id)
            try FileManager.default.removeItem(atPath: path)
            #expect(keys.failure == .keyFile(path: path, detail: "there is no such file; check the path"))
            let missing = """
                the file is missing, although the database has customers with apps that trust its keys; they were in \
                `ada:/keys`. If it is in another folder, set `keys` to that folder; each app below `apps` has its own. \
                Otherwise restore it from your backup. If no app has pinned the keys yet, remove the database and \
                start with a new one
                """
            #expect(throws: ServiceError.keyFile(path: path, detail: missing)) {
                try SigningKeys(
                    folder: folder, creating: false, tokenLife: Self.day, lastUsed: "ada:/keys", at: Calculator.now)
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a statement about a key has at most 1024 bytes, and a list of revoked keys may have more`() throws {
        let key = P256.Signing.PrivateKey()
        var lengths: Set<Int> = []
        for size in 590..<625 {
            let payload = Array(repeating: UInt8(ascii: " "), count: size)
            for type in [SignedType.keyStatement, SignedType.rootStatement] {
                let text = try key.compactJWS(payload, type: type)
                let read = key.publicKey.payload(ofStatement: text, type: type)
                #expect((read != nil) == (text.utf8.count <= 1024), "\(text.utf8.count)")
                lengths.insert(text.utf8.count)
            }
            let list = try key.compactJWS(payload, type: SignedType.revocations)
            #expect(key.publicKey.payload(ofStatement: list, type: SignedType.revocations) == Data(payload))
            #expect(key.publicKey.payload(ofStatement: list, type: SignedType.keyStatement) == nil)
        }
        #expect(lengths.contains(1024) || lengths.contains(1023))
        #expect(lengths.contains(1025) || lengths.contains(1026))
    }

    @Test func `a root's statement puts the seventeenth key into use only if the oldest key may be dropped`()
        async throws
    {
        try await withFolder { folder in
            let (now, end) = (Calculator.now, Calculator.now + 10 * Self.day)
            _ = try SigningKeyStore(folder: folder).readOrCreate(at: now)
            let administration = SigningKeyAdministration(folder: folder)
            for _ in 0..<15 { _ = try administration.rotate(at: now) }
            let root = OfflineRoot(path: folder + "/root.json")
            let publicRoot = try root.create()
            let first = try root.sign(try administration.summary().inUse, until: end, at: now)
            _ = try administration.install(first, ofRoot: publicRoot, at: now)
            _ = try administration.rotate(at: now)
            let before = try administration.summary()
            let waiting = try #require(before.waiting)
            let statement = try root.sign(waiting, until: end + 1, at: now)
            let oldest = try #require(before.keys.first).id
            #expect(throws: SigningKeyError.chainTooLong(oldest: oldest)) {
                try administration.install(statement, at: now)
            }
            let refused = try administration.summary()
            #expect(refused.keys == before.keys && refused.waiting == waiting && refused.period == .until(end))
            let installation = try administration.install(statement, droppingOldest: true, at: now)
            #expect(installation == .rotated(until: end + 1))
            let after = try administration.summary()
            #expect(after.inUse == waiting && after.waiting == nil && after.period == .until(end + 1))
            #expect(after.keys.map(\.isInChain) == [false] + Array(repeating: true, count: 16))
        }
    }

    @Test func `only a P-256 public key can be a root, or be signed by a root`() async throws {
        try await withFolder { folder in
            let now = Calculator.now
            _ = try SigningKeyStore(folder: folder).readOrCreate(at: now)
            let administration = SigningKeyAdministration(folder: folder)
            let root = OfflineRoot(path: folder + "/root.json")
            _ = try root.create()
            let statement = try root.sign(try administration.summary().inUse, until: now + 1, at: now)
            for text in ["", "x", "{}", #"{"crv":"P-256","kty":"EC","x":"AAAA","y":"AAAA"}"#] {
                #expect(throws: SigningKeyError.notAKey, "\(text)") {
                    try administration.install(statement, ofRoot: text, at: now)
                }
                #expect(throws: SigningKeyError.notAKey, "\(text)") { try root.sign(text, until: now + 1, at: now) }
            }
            #expect(try administration.summary().root == nil)
        }
    }
}
