import Crypto
import Foundation
import TenureCore
import TenureJSON
import Testing

@testable import Tenure

/// A key that signs entitlement tokens and statements about other keys.
struct Signer {
    var key = P256.Signing.PrivateKey()

    func pinned() throws -> Tenure.ServiceKey { try Tenure.ServiceKey(key.publicKey.pemRepresentation) }

    private var jwk: String {
        let raw = key.publicKey.rawRepresentation
        return
            #"{"crv":"P-256","kty":"EC","x":"\#(Base64.urlSafe.text(raw.prefix(32)))","y":"\#(Base64.urlSafe.text(raw.suffix(32)))"}"#
    }

    func sign(_ payload: String, type: String) throws -> String {
        let header = #"{"alg":"ES256","kid":"\#(try pinned().id)","typ":"\#(type)"}"#
        return try sign(payload, header: header)
    }

    func sign(_ payload: String, header: String) throws -> String {
        let signed = Base64.urlSafe.text(header.utf8) + "." + Base64.urlSafe.text(payload.utf8)
        return signed + "." + Base64.urlSafe.text(try key.signature(for: Data(signed.utf8)).rawRepresentation)
    }

    /// This key's statement that the other key is trusted.
    func vouch(for other: Signer) throws -> String { try sign(other.jwk, type: "tenure-key+jwt") }

    /// A root's statement that the other key may sign until an instant.
    func vouch(for other: Signer, until end: Date, type: String = "tenure-root+jwt") throws -> String {
        let seconds = Int(end.timeIntervalSince1970)
        return try sign(#"{"iat":0,"key":\#(other.jwk),"signUntil":\#(seconds)}"#, type: type)
    }

    func revoke(_ others: [Signer], counter: Int) throws -> String {
        let ids = try others.map { "\"\(try $0.pinned().id)\"" }.joined(separator: ",")
        return try sign(#"{"counter":\#(counter),"iat":0,"revoked":[\#(ids)]}"#, type: "tenure-revocations+jwt")
    }

    func claims(_ change: [String: String] = [:]) -> String {
        var claims = [
            "iss": "\"tenure\"", "sub": "\"cus_1\"", "bundleID": "\"com.example.calculator\"",
            "environment": "\"Production\"", "device": "\"\(InventedApp.device.hashed)\"", "nonce": "\"1\"",
            "appTransactionID": "\"704000000000000001\"", "iat": "\(Int(InventedApp.now.timeIntervalSince1970))",
            "exp": "\(Int(InventedApp.now.timeIntervalSince1970) + 365 * 86_400)",
            "entitlements": #"{"everything":{}}"#,
        ]
        claims.merge(change) { $1 }
        return "{" + claims.map { "\"\($0.key)\":\($0.value)" }.sorted().joined(separator: ",") + "}"
    }

    func entitlementToken(_ change: [String: String] = [:]) throws -> String {
        try sign(claims(change), type: "tenure-entitlement+jwt")
    }
}

private let holder = EntitlementTokenReader.Holder(
    device: InventedApp.device.hashed, bundleID: InventedApp.bundleID, appTransactionID: "704000000000000001",
    environment: .production)

private func refusal(
    _ text: String, _ keys: [Tenure.ServiceKey], with statements: [String] = [], trustsTestAuthorities: Bool = false,
    at now: Date = InventedApp.now
) -> EntitlementTokenReader.Refusal? {
    let reader = EntitlementTokenReader(keys: KeyRing(keys), trustsTestAuthorities: trustsTestAuthorities)
    do throws(EntitlementTokenReader.Refusal) {
        _ = try reader.read(stored: .init(text: text, statements: statements), for: holder, at: now)
        return nil
    } catch {
        return error
    }
}

/// Why an app that pinned a root doesn't accept a new token.
private func refusal(
    _ text: String, root: Signer, with statements: [String], revocations: String? = nil,
    answering nonce: String = "1", latest: Date = InventedApp.now
) throws -> EntitlementTokenReader.Refusal? {
    let ring = KeyRing([], root: try root.pinned())
    let token = EntitlementTokenReader.Token(
        text: text, statements: statements, revocations: revocations.flatMap { ring.revocations(in: $0) })
    do throws(EntitlementTokenReader.Refusal) {
        _ = try EntitlementTokenReader(keys: ring, trustsTestAuthorities: false)
            .read(new: token, for: holder, answering: nonce, latest: latest)
        return nil
    } catch {
        return error
    }
}

@Suite struct `Entitlement tokens` {
    @Test func `entitlement tokens are accepted only if a pinned key signed them for this device, account and app`()
        throws
    {
        let signer = Signer()
        let keys = [try signer.pinned()]
        #expect(refusal(try signer.entitlementToken(), keys) == nil)
        #expect(
            refusal(try signer.entitlementToken(["device": "\"\(InventedApp.otherDevice.hashed)\""]), keys)
                == .anotherDevice)
        #expect(refusal(try signer.entitlementToken(["appTransactionID": "\"7\""]), keys) == .anotherCustomer)
        #expect(refusal(try signer.entitlementToken(["bundleID": "\"com.example.other\""]), keys) == .anotherApp)
        #expect(refusal(try signer.entitlementToken(["iss": "\"somebody\""]), keys) == .malformed)
        #expect(refusal(try Signer().entitlementToken(), keys) == .notSigned)
    }

    @Test func `entitlement tokens of the sandbox, personas and test authorities are refused in production`() throws {
        let signer = Signer()
        let keys = [try signer.pinned()]
        #expect(refusal(try signer.entitlementToken(["environment": "\"Sandbox\""]), keys) == .anotherEnvironment)
        #expect(refusal(try signer.entitlementToken(["environment": "\"Xcode\""]), keys) == .anotherEnvironment)
        #expect(refusal(try signer.entitlementToken(["test": "true"]), keys) == .test)
        #expect(refusal(try signer.entitlementToken(["persona": "\"an early buyer\""]), keys) == .test)
        #expect(refusal(try signer.entitlementToken(["test": "true"]), keys, trustsTestAuthorities: true) == nil)
    }

    @Test func `entitlement tokens with a date more than a day in the future are rejected`() throws {
        let signer = Signer()
        let tomorrow = Int(InventedApp.now.timeIntervalSince1970) + 86_400
        for (issued, expected) in [(tomorrow, nil), (tomorrow + 1, EntitlementTokenReader.Refusal.fromTheFuture)] {
            #expect(
                refusal(try signer.entitlementToken(["iat": "\(issued)"]), [try signer.pinned()]) == expected)
        }
    }

    @Test func `entitlement tokens with a changed byte are rejected`() throws {
        let signer = Signer()
        let keys = [try signer.pinned()]
        let sound = Array(try signer.entitlementToken().utf8)
        for place in stride(from: 0, to: sound.count, by: 7) {
            var corrupted = sound
            corrupted[place] = corrupted[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(refusal(String(decoding: corrupted, as: UTF8.self), keys) != nil, "byte \(place)")
        }
        for text in ["", ".", "..", "a.b.c", String(repeating: "e", count: 100_000)] {
            #expect(refusal(text, keys) == .notSigned)
        }
    }

    @Test func `entitlement tokens of another signed type are rejected`() throws {
        let signer = Signer()
        let payload = String(decoding: Data(#"{"iss":"tenure"}"#.utf8), as: UTF8.self)
        #expect(refusal(try signer.sign(payload, type: "tenure-key+jwt"), [try signer.pinned()]) == .notSigned)
    }
}

@Suite struct `A header of an entitlement token` {
    @Test(arguments: [
        #"{"typ":"tenure-entitlement+jwt","kid":"KEY","alg":"ES256"}"#,
        #"{"alg":"none","kid":"KEY","typ":"tenure-entitlement+jwt"}"#,
        #"{"alg":"ES256","kid":"KEY","typ":"tenure-entitlement+jwt","crit":["exp"],"exp":1}"#,
        #"{"alg":"ES256","kid":"KEY","typ":"tenure-entitlement+jwt","jwk":{}}"#,
        #"{"alg":"ES256","kid":"KEY","typ":"JWT"}"#, "{}",
    ])
    func `an entitlement token is invalid if its header isn't the one that services write`(_ header: String) throws {
        let signer = Signer()
        let keys = [try signer.pinned()]
        let header = header.replacingOccurrences(of: "KEY", with: keys[0].id)
        #expect(refusal(try signer.sign(signer.claims(), header: header), keys) == .notSigned)
    }
}

@Suite struct `A token without a nonce` {
    @Test func `rights from an entitlement token without a nonce end with the token, even permanent rights`() throws {
        let signer = Signer()
        let (exp, later) = (InventedApp.now.addingTimeInterval(3600), InventedApp.now.addingTimeInterval(86_400))
        var change = [
            "exp": "\(Int(exp.timeIntervalSince1970))",
            "entitlements":
                #"{"era":{"refreshAfter":1},"long":{"until":\#(Int(later.timeIntervalSince1970))},"short":{"until":1}}"#,
        ]
        let reader = EntitlementTokenReader(keys: KeyRing([try signer.pinned()]), trustsTestAuthorities: false)
        let bound = try reader.read(
            stored: .init(text: try signer.entitlementToken(change)), for: holder, at: InventedApp.now)
        #expect(bound.rights["era"]?.until == nil && bound.rights["long"]?.until == later)
        change["nonce"] = "null"
        let free = try reader.read(
            stored: .init(text: try signer.entitlementToken(change)), for: holder, at: InventedApp.now)
        #expect(free.rights["era"]?.until == exp && free.rights["long"]?.until == exp)
        #expect(free.rights["short"]?.until == Date(timeIntervalSince1970: 1))
    }
}

@Suite struct `A new key of the service` {
    @Test func `a new signing key is trusted if the pinned key vouches for it, over up to fifteen rotations`() throws {
        let signers = (0..<16).map { _ in Signer() }
        let chain = try zip(signers, signers.dropFirst()).map { try $0.vouch(for: $1) }
        let token = try signers[15].entitlementToken()
        for pinned in signers { #expect(refusal(token, [try pinned.pinned()], with: chain) == nil) }
        #expect(refusal(token, try signers.prefix(3).map { try $0.pinned() }, with: chain) == nil)
        // Each statement is needed, in order.
        for missing in chain.indices {
            var broken = chain
            broken.remove(at: missing)
            #expect(refusal(token, [try signers[0].pinned()], with: broken) == .notSigned, "\(missing)")
        }
        #expect(refusal(token, [try signers[0].pinned()], with: chain.reversed()) == .notSigned)
    }

    @Test func `a new signing key is trusted at the end of a second chain that begins with another pinned key`()
        throws
    {
        let (first, second, third, fourth) = (Signer(), Signer(), Signer(), Signer())
        // The statement of the second key about the third key is missing.
        let chains = [try first.vouch(for: second), try third.vouch(for: fourth)]
        let token = try fourth.entitlementToken()
        for pinned in [[first, third], [third, first], [third]] {
            #expect(refusal(token, try pinned.map { try $0.pinned() }, with: chains) == nil)
        }
        #expect(refusal(token, [try first.pinned()], with: chains) == .notSigned)
    }

    @Test func `a new signing key isn't trusted after seventeen rotations`() throws {
        let signers = (0..<18).map { _ in Signer() }
        let chain = try zip(signers, signers.dropFirst()).map { try $0.vouch(for: $1) }
        #expect(chain.count == 17)
        #expect(refusal(try signers[17].entitlementToken(), [try signers[0].pinned()], with: chain) == .notSigned)
    }

    @Test func `a signing key that vouches only for itself isn't trusted`() throws {
        let (pinned, stranger) = (Signer(), Signer())
        let keys = [try pinned.pinned()]
        let token = try stranger.entitlementToken()
        #expect(refusal(token, keys, with: [try stranger.vouch(for: stranger)]) == .notSigned)
        // Neither an entitlement token nor a root's statement is a statement about a key.
        let claims = try pinned.entitlementToken()
        let limited = try pinned.vouch(for: stranger, until: .distantFuture)
        for statement in [claims, limited, "", ".", "a.b.c", String(repeating: "e", count: 2000)] {
            #expect(refusal(token, keys, with: [statement]) == .notSigned)
        }
        // A stolen statement about one key doesn't vouch for another key.
        #expect(refusal(token, keys, with: [try pinned.vouch(for: Signer())]) == .notSigned)
    }
}

@Suite struct `An offline root` {
    private let root = Signer()
    private let online = Signer()
    private let end = InventedApp.now.addingTimeInterval(90 * InventedApp.day)

    @Test func `an app that pinned an offline root trusts tokens of keys that the root signed, within their period`()
        throws
    {
        let statements = [try root.vouch(for: online, until: end)]
        let token = try online.entitlementToken()
        #expect(try refusal(token, root: root, with: statements) == nil)
        // The service sends its chain first, for apps that pinned a signing key.
        #expect(try refusal(token, root: root, with: [try Signer().vouch(for: online)] + statements) == nil)
        #expect(try refusal(token, root: root, with: statements, latest: end) == nil)
        #expect(
            try refusal(token, root: root, with: statements, latest: end.addingTimeInterval(1)) == .afterSigningPeriod)
        // The token's own date is used if it is later than the latest instant that the device knows.
        let ahead = try online.entitlementToken(["iat": "\(Int(end.timeIntervalSince1970) + 1)"])
        #expect(try refusal(ahead, root: root, with: statements) == .afterSigningPeriod)
        #expect(try refusal(token, root: root, with: []) == .notSigned)
        #expect(try refusal(token, root: Signer(), with: statements) == .notSigned)
        #expect(try refusal(token, root: root, with: statements, answering: "2") == .replayed)
        #expect(try refusal(try online.entitlementToken(["nonce": "null"]), root: root, with: statements) == .replayed)
    }

    @Test func `a token that was accepted within the signing period stays valid after the period`() throws {
        let reader = EntitlementTokenReader(keys: KeyRing([], root: try root.pinned()), trustsTestAuthorities: false)
        let token = EntitlementTokenReader.Token(
            text: try online.entitlementToken(), statements: [try root.vouch(for: online, until: end)])
        let later = end.addingTimeInterval(700 * InventedApp.day)
        #expect(try reader.read(stored: token, for: holder, at: later).rights["everything"] != nil)
    }

    @Test func `tokens signed by an offline root itself, or by a key that a signed key vouches for, are refused`()
        throws
    {
        #expect(try refusal(try root.entitlementToken(), root: root, with: []) == .notSigned)
        let thief = Signer()
        let statements = [
            try root.vouch(for: online, until: end), try online.vouch(for: thief),
            try online.vouch(for: thief, until: end), try root.vouch(for: thief, until: end, type: "tenure-key+jwt"),
        ]
        #expect(try refusal(try thief.entitlementToken(), root: root, with: statements) == .notSigned)
        #expect(try refusal(try online.entitlementToken(), root: root, with: statements) == nil)
    }

    @Test func `an offline root's revocation of a key ends the key's tokens, also stored tokens`() throws {
        let statements = [try root.vouch(for: online, until: end)]
        let token = try online.entitlementToken()
        let list = try root.revoke([online], counter: 1)
        #expect(try refusal(token, root: root, with: statements, revocations: list) == .revoked)
        let forged = try online.revoke([online], counter: 1)
        #expect(try refusal(token, root: root, with: statements, revocations: forged) == nil)
        let others = try root.revoke([Signer()], counter: 2)
        #expect(try refusal(token, root: root, with: statements, revocations: others) == nil)
        let ring = KeyRing([], root: try root.pinned())
        let stored = EntitlementTokenReader.Token(
            text: token, statements: statements, revocations: ring.revocations(in: list))
        #expect(throws: EntitlementTokenReader.Refusal.revoked) {
            try EntitlementTokenReader(keys: ring, trustsTestAuthorities: false).read(
                stored: stored, for: holder, at: InventedApp.now)
        }
    }

    @Test func `the client keeps all keys that an offline root revoked, in any order of arrival`() throws {
        let ring = KeyRing([], root: try root.pinned())
        let older = try #require(ring.revocations(in: try root.revoke([online], counter: 1)))
        let newer = try #require(ring.revocations(in: try root.revoke([Signer()], counter: 2)))
        let both = KeyRevocations(root: older.root, counter: 2, keys: older.keys.union(newer.keys))
        #expect(older.merging(newer) == both && newer.merging(older) == both)
        #expect(both.keys.count == 2)
        #expect(ring.revocations(in: try root.revoke([online], counter: 0)) == nil)
        let most = try root.revoke((0..<200).map { _ in online }, counter: 3)
        #expect(ring.revocations(in: most)?.counter == 3)
        let many = try root.revoke((0..<201).map { _ in online }, counter: 3)
        #expect(ring.revocations(in: many) == nil)
        // Another root's list isn't used.
        let other = KeyRing([], root: try Signer().pinned())
        #expect(ring.isRevoked(try online.pinned().id, by: older))
        #expect(!other.isRevoked(try online.pinned().id, by: older))
    }
}

@Suite struct `A pinned key` {
    @Test func `a pinned key is read as a JSON Web Key, as a key set of the service, and in PEM`() throws {
        let key = P256.Signing.PrivateKey().publicKey
        let (x, y) = (key.rawRepresentation.prefix(32), key.rawRepresentation.suffix(32))
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(Base64.urlSafe.text(x))","y":"\#(Base64.urlSafe.text(y))"}"#
        let fromPEM = try Tenure.ServiceKey(key.pemRepresentation)
        #expect(try Tenure.ServiceKey(jwk) == fromPEM)
        #expect(try Tenure.ServiceKey(#"{"keys":[\#(jwk)]}"#) == fromPEM)
        // After a rotation, the service lists several keys, and the first one isn't always the right one.
        let error = #expect(throws: Tenure.Error.self) { try Tenure.ServiceKey(#"{"keys":[\#(jwk),\#(jwk)]}"#) }
        #expect(error?.description.contains("the set has 2 keys; pin one of them") == true)
    }

    @Test(arguments: [
        ("", "it is neither JSON with `kty`, `crv`, `x` and `y` nor PEM"),
        ("key", "it is neither JSON with `kty`, `crv`, `x` and `y` nor PEM"),
        ("{}", "it is neither JSON with `kty`, `crv`, `x` and `y` nor PEM"),
        (#"{"keys":[]}"#, "the set has 0 keys; pin one of them"),
        (#"{"kty":"RSA","crv":"P-256","x":"","y":""}"#, "it isn't a P-256 key"),
        (
            #"{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            "its point isn't on the curve"
        ),
        ("-----BEGIN PUBLIC KEY-----\nMA==\n-----END PUBLIC KEY-----", "it isn't a P-256 key in PEM"),
    ])
    func `a pinned key that can't be read is refused with its reason and advice`(_ text: String, _ reason: String) {
        let error = #expect(throws: Tenure.Error.key(reason)) { try Tenure.ServiceKey(text) }
        #expect(error?.description.contains("add the key that `tenure signing-key list` prints") == true)
    }
}
