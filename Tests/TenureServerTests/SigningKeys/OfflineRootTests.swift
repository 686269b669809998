import CommandRunner
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

private let day: TimeInterval = 86_400

/// A service with signing keys that an offline root signs.
private struct RootTestBed {
    let client: Client
    let folder: String
    let clock: TestClock
    let root: OfflineRoot
    let publicRoot: String

    init(_ client: Client, _ folder: String, _ clock: TestClock) throws {
        (self.client, self.folder, self.clock) = (client, folder, clock)
        root = OfflineRoot(path: folder + "/root.json")
        publicRoot = try root.create()
    }

    var administration: SigningKeyAdministration { SigningKeyAdministration(folder: folder) }

    func keyIDInUse() throws -> String { try #require(try administration.summary().keys.last?.id) }

    func statement(_ key: String, days: Double) throws -> String {
        try root.sign(key, until: clock.now.addingTimeInterval(days * day), at: clock.now)
    }

    @discardableResult
    func install(_ statement: String, first: Bool = false) throws -> SigningKeyAdministration.Installation {
        try administration.install(statement, ofRoot: first ? publicRoot : nil, at: clock.now)
    }

    /// Installs the root, with its statement about the key in use.
    func installRoot(days: Double = 90) throws {
        try install(try statement(try administration.summary().inUse, days: days), first: true)
    }

    /// Creates the next key, which waits for a statement of the root. Returns its public key.
    func newWaitingKey() throws -> String {
        guard case .waiting(let key) = try administration.rotate(at: clock.now) else {
            throw ServiceError.failed("a key is in use that the root hasn't signed")
        }
        return key
    }

    /// Syncs until the service uses the keys in the file. While a background task reads the file, a request gets the
    /// keys that were read before.
    func sync() async throws -> CustomerResponse {
        let expected = try SigningKeyStore(folder: folder).read().vouchers
        let request = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: [])
        for _ in 0..<1000 {
            let answer = try await client.sync(request)
            if answer.signingKey == expected { return answer }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the service doesn't use the keys in the file")
        return try await client.sync(request)
    }

    func keyOfToken() async throws -> String? {
        try await sync().entitlementToken.map { try OpenedJWS($0).header["kid"] as? String ?? "" }
    }
}

private func withRoot(_ body: @escaping @Sendable (RootTestBed) async throws -> Void) async throws {
    let clock = TestClock()
    try await withFolder { folder in
        try await withService(in: folder, { $0.now = { clock.now } }) {
            try await body(try RootTestBed($0, folder, clock))
        }
    }
}

@Suite struct `an offline root` {
    @Test func `entitlement tokens are issued until the period ends for which the offline root signed the key`()
        async throws
    {
        try await withRoot { testBed in
            try testBed.installRoot(days: 90)
            let answer = try await testBed.sync()
            #expect(answer.entitlementToken != nil && answer.signingKey?.root != nil)
            testBed.clock.advance(by: 90 * day - 1)
            #expect(try await testBed.sync().entitlementToken != nil)
            testBed.clock.advance(by: 1)
            let late = try await testBed.sync()
            #expect(late.entitlementToken == nil)
            #expect(late.entitlements["everything"]?.outcome == .granted && late.accessToken != nil)
            // A new period for the same key is enough.
            try testBed.install(try testBed.statement(try testBed.administration.summary().inUse, days: 30))
            #expect(try await testBed.sync().entitlementToken != nil)
        }
    }

    @Test func `a new signing key is used after the offline root has signed it, and the chain contains the old key`()
        async throws
    {
        try await withRoot { testBed in
            try testBed.installRoot()
            let first = try testBed.keyIDInUse()
            let waiting = try testBed.newWaitingKey()
            #expect(try testBed.newWaitingKey() == waiting)
            #expect(try await testBed.keyOfToken() == first)
            #expect(
                try testBed.install(try testBed.statement(waiting, days: 60))
                    == .rotated(until: testBed.clock.now + 60 * day))
            let second = try testBed.keyIDInUse()
            let answer = try await testBed.sync()
            #expect(second != first)
            #expect(try await testBed.keyOfToken() == second && answer.signingKey?.chain?.count == 1)
        }
    }

    @Test func `an offline root revokes a stolen signing key, and the next key replaces it`() async throws {
        try await withRoot { testBed in
            try testBed.installRoot()
            let stolen = try testBed.keyIDInUse()
            let waiting = try testBed.newWaitingKey()
            let list = try testBed.root.revoke([stolen], at: testBed.clock.now)
            #expect(try testBed.install(list) == .revoked([stolen], stranded: [stolen]))
            // The root hasn't signed the next key yet.
            let between = try await testBed.sync()
            #expect(between.entitlementToken == nil && between.signingKey?.revocations == list)
            try testBed.install(try testBed.statement(waiting, days: 60))
            let answer = try await testBed.sync()
            #expect(try await testBed.keyOfToken() == (try testBed.keyIDInUse()))
            #expect(answer.signingKey?.revocations == list && answer.signingKey?.chain == nil)
            let published = String(buffer: try await testBed.client.get("/.well-known/jwks.json").body)
            #expect(!published.contains(stolen))
            #expect(throws: SigningKeyError.self) { try testBed.administration.revoke(stolen, at: testBed.clock.now) }
        }
    }

    @Test func `an offline root revokes the old key after a rotation, and the chain no longer contains that key`()
        async throws
    {
        try await withRoot { testBed in
            try testBed.installRoot()
            let stolen = try testBed.keyIDInUse()
            try testBed.install(try testBed.statement(try testBed.newWaitingKey(), days: 60))
            let next = try testBed.keyIDInUse()
            try testBed.install(try testBed.root.revoke([stolen], at: testBed.clock.now))
            let answer = try await testBed.sync()
            #expect(try await testBed.keyOfToken() == next && answer.signingKey?.chain == nil)
        }
    }

    @Test func `an offline root numbers its lists of revoked keys, and an older list is refused`() async throws {
        try await withRoot { testBed in
            try testBed.installRoot()
            let lists = try ["a", "b"].map { try testBed.root.revoke([$0], at: testBed.clock.now) }
            try testBed.install(lists[1])
            #expect(throws: SigningKeyError.missingRevocations(["b"], known: 2)) { try testBed.install(lists[0]) }
            #expect(throws: SigningKeyError.olderRevocations(counter: 2, known: 2)) { try testBed.install(lists[1]) }
            let fourth = try testBed.root.revoke(["c"], counter: 4, at: testBed.clock.now)
            try testBed.install(fourth)
            let payload = try OpenedJWS(fourth).claims
            #expect(payload["counter"] as? Int == 4 && payload["revoked"] as? [String] == ["a", "b", "c"])
            // The counter never decreases, and a list has at most 200 keys.
            #expect(
                try OpenedJWS(try testBed.root.revoke([], counter: 1, at: testBed.clock.now)).claims["counter"] as? Int
                    == 5)
            #expect(throws: SigningKeyError.tooManyRevocations) {
                try testBed.root.revoke((0..<200).map { "\($0)" }, at: testBed.clock.now)
            }
            let most = try testBed.root.revoke(
                (0..<197).map { String(repeating: "k", count: 40) + "\(100 + $0)" }, at: testBed.clock.now)
            #expect(try testBed.install(most) == .revoked([], stranded: []))
        }
    }

    @Test func `a list of an offline root's older copy is refused if it lacks a key that was revoked before`()
        async throws
    {
        try await withRoot { testBed in
            try testBed.installRoot()
            let copy = testBed.folder + "/copy.json"
            let contents = try Data(contentsOf: URL(fileURLWithPath: testBed.folder + "/root.json"))
            try SecretFile(path: copy).make([UInt8](contents))
            let stolen = try testBed.keyIDInUse()
            let list = try testBed.root.revoke([stolen], at: testBed.clock.now)
            try testBed.install(list)
            let older = OfflineRoot(path: copy)
            for counter in [nil, 2] as [Int64?] {
                let lacking = try older.revoke(["another"], counter: counter, at: testBed.clock.now)
                let error = SigningKeyError.missingRevocations([stolen], known: 1)
                #expect(throws: error) { try testBed.install(lacking) }
                #expect(error.description.contains("--counter 2 -- \(stolen)`"))
            }
            #expect(try await testBed.sync().signingKey?.revocations == list)
            let complete = try older.revoke([stolen], counter: 2, at: testBed.clock.now)
            #expect(try testBed.install(complete) == .revoked([], stranded: []))
        }
    }

    @Test func `a later list of revoked keys from an offline root revokes no key a second time`() async throws {
        try await withRoot { testBed in
            try testBed.installRoot()
            let stolen = try testBed.keyIDInUse()
            let first = try testBed.root.revoke([stolen], at: testBed.clock.now)
            #expect(try testBed.install(first) == .revoked([stolen], stranded: [stolen]))
            let second = try testBed.root.revoke(["another"], at: testBed.clock.now)
            #expect(try testBed.install(second) == .revoked([], stranded: []))
        }
    }

    @Test func `only statements of the installed offline root are accepted`() async throws {
        try await withRoot { testBed in
            let key = try testBed.administration.summary().inUse
            let sound = try testBed.statement(key, days: 90)
            #expect(throws: SigningKeyError.noRoot) { try testBed.install(sound) }
            let other = OfflineRoot(path: testBed.folder + "/other.json")
            _ = try other.create()
            let foreign = try other.sign(key, until: testBed.clock.now + day, at: testBed.clock.now)
            #expect(throws: SigningKeyError.notOfRoot) { try testBed.install(foreign, first: true) }
            // The revocations alone would leave the service without a key that the root signed.
            let list = try testBed.root.revoke(["x"], at: testBed.clock.now)
            #expect(throws: SigningKeyError.listOfNewRoot) { try testBed.install(list, first: true) }
            try testBed.install(sound, first: true)
            #expect(throws: SigningKeyError.notOfRoot) { try testBed.install(foreign) }
            let stranger = try testBed.statement(testBed.publicRoot, days: 90)
            #expect(throws: SigningKeyError.self) { try testBed.install(stranger) }
            let over = try testBed.root.sign(key, until: testBed.clock.now, at: testBed.clock.now)
            #expect(throws: SigningKeyError.periodOver(testBed.clock.now)) { try testBed.install(over) }
            for text in ["", "x", "a.b.c", sound + "A", String(sound.dropLast(3)), key] {
                #expect(throws: SigningKeyError.notOfRoot) { try testBed.install(text) }
            }
            #expect(try await testBed.sync().signingKey?.root == sound)
        }
    }

    @Test func `an offline root is kept in a file that only its owner can read, and is never replaced`() async throws {
        try await withRoot { testBed in
            let path = testBed.folder + "/root.json"
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            let contents = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(try testBed.root.create() == testBed.publicRoot)
            #expect(!testBed.publicRoot.contains("PRIVATE") && !testBed.publicRoot.contains("\"d\""))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            #expect(throws: ServiceError.self) { try testBed.root.create() }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == contents)
            #expect(throws: ServiceError.self) {
                try OfflineRoot(path: testBed.folder + "/none.json").revoke([], at: testBed.clock.now)
            }
        }
    }

    @Test func `private keys that a killed command of the offline root left are removed by the next run`() throws {
        let folder = try Folder()
        let root = folder.url("root.json").path
        let changes: [() throws -> Void] = [
            { _ = try OfflineRoot(path: root).create() }, { _ = try OfflineRoot(path: root).revoke([], at: .now) },
        ]
        for change in changes {
            let leftover = root + ".12345678901234567890.partial"
            #expect(FileManager.default.createFile(atPath: leftover, contents: Data("secret".utf8)))
            try change()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["root.json"])
        }
    }

    @Test func `the service warns once a day for thirty days before the signing period of its key ends`() async throws {
        try await withRoot { testBed in
            func lines(_ log: inout SigningKeyLog) throws -> [SigningKeyLog.Line] {
                log.lines(
                    about: try SigningKeyStore(folder: testBed.folder).read(), nil, at: testBed.clock.now)
            }
            var log = SigningKeyLog(try testBed.keyIDInUse())
            #expect(try lines(&log).isEmpty)
            try testBed.installRoot(days: 40)
            #expect(try lines(&log).isEmpty)
            testBed.clock.advance(by: 10 * day)
            let warning = try #require(try lines(&log).first)
            #expect(warning.level == .warning && warning.message.contains("the signing period ends on 2026-12-30"))
            #expect(try lines(&log).isEmpty)
            testBed.clock.advance(by: day - 1)
            #expect(try lines(&log).isEmpty)
            testBed.clock.advance(by: 1)
            #expect(try lines(&log).map(\.level) == [.warning])
            testBed.clock.advance(by: 29 * day)
            let end = try lines(&log)
            #expect(end.map(\.level) == [.error] && end[0].message.contains("no entitlement tokens are issued"))
            let id = try testBed.keyIDInUse()
            try testBed.install(try testBed.root.revoke([id], at: testBed.clock.now))
            #expect(try lines(&log).map(\.level) == [.notice, .error])
        }
    }

    @Test func `an offline root can revoke a key before its use, and the key is then never used`() async throws {
        try await withRoot { testBed in
            try testBed.installRoot()
            let stolen = try testBed.keyIDInUse()
            let waiting = try testBed.newWaitingKey()
            let id = try JSONDecoder().decode(JSONWebKey.self, from: Data(waiting.utf8)).id
            let statement = try testBed.statement(waiting, days: 60)
            let list = try testBed.root.revoke([stolen, id], at: testBed.clock.now)
            #expect(try testBed.install(list) == .revoked([stolen], stranded: [stolen]))
            #expect(try testBed.keyIDInUse() != id)
            #expect(throws: SigningKeyError.revokedKey(id)) { try testBed.install(statement) }
            // The root refuses to sign the revoked key as well.
            #expect(throws: SigningKeyError.revokedKey(id)) { try testBed.statement(waiting, days: 60) }
        }
    }

    @Test func `an offline root is replaced only with an option, which also discards its list of revoked keys`()
        async throws
    {
        try await withRoot { testBed in
            try testBed.installRoot()
            try testBed.install(try testBed.root.revoke(["x"], at: testBed.clock.now))
            let other = OfflineRoot(path: testBed.folder + "/other.json")
            let publicKey = try other.create()
            let end = testBed.clock.now + 60 * day
            let statement = try other.sign(
                try testBed.administration.summary().inUse, until: end, at: testBed.clock.now)
            let before = try testBed.administration.summary().root
            #expect(throws: SigningKeyError.self) {
                try testBed.administration.install(statement, ofRoot: publicKey, at: testBed.clock.now)
            }
            #expect(try testBed.administration.summary().root == before)
            let installation = try testBed.administration.install(
                statement, ofRoot: publicKey, replacingRoot: true, at: testBed.clock.now)
            #expect(installation == .period(until: end))
            let answer = try await testBed.sync()
            #expect(answer.entitlementToken != nil)
            #expect(answer.signingKey?.root == statement && answer.signingKey?.revocations == nil)
        }
    }
}
