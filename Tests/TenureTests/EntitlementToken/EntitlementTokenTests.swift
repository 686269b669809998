import Crypto
import Foundation
import TenureCore
import Testing

@testable import Tenure

private struct Signer {
    let key = P256.Signing.PrivateKey()

    func pinned() throws -> Tenure.ServiceKey { try Tenure.ServiceKey(key.publicKey.pemRepresentation) }

    private var jwk: String {
        let raw = key.publicKey.rawRepresentation
        return
            #"{"crv":"P-256","kty":"EC","x":"\#(Base64.urlSafe.text(raw.prefix(32)))","y":"\#(Base64.urlSafe.text(raw.suffix(32)))"}"#
    }

    func sign(_ payload: String, type: String, keys: [String] = []) throws -> String {
        let list = keys.map { "\"\($0)\"" }.joined(separator: ",")
        let header =
            #"{"alg":"ES256","kid":"\#(try pinned().id)","typ":"\#(type)"\#(keys.isEmpty ? "" : #","keys":[\#(list)]"#)}"#
        let signed = Base64.urlSafe.text(header.utf8) + "." + Base64.urlSafe.text(payload.utf8)
        return signed + "." + Base64.urlSafe.text(try key.signature(for: Data(signed.utf8)).rawRepresentation)
    }

    /// A statement that the other key is believed as this one is.
    func vouch(for other: Signer) throws -> String { try sign(other.jwk, type: "tenure-key+jwt") }

    func entitlementToken(_ change: [String: String] = [:], keys: [String] = []) throws -> String {
        var claims = [
            "iss": "\"tenure\"", "sub": "\"cus_1\"", "bundleID": "\"com.example.calculator\"",
            "environment": "\"Production\"", "device": "\"\(World.device.hashed)\"",
            "appTransactionID": "\"704000000000000001\"", "iat": "\(Int(World.now.timeIntervalSince1970))",
            "exp": "\(Int(World.now.timeIntervalSince1970) + 365 * 86_400)", "entitlements": #"{"everything":{}}"#,
        ]
        claims.merge(change) { $1 }
        let payload = "{" + claims.map { "\"\($0.key)\":\($0.value)" }.sorted().joined(separator: ",") + "}"
        return try sign(payload, type: "tenure-entitlement+jwt", keys: keys)
    }
}

private let holder = EntitlementTokenReader.Holder(
    device: World.device.hashed, bundleID: World.bundleID, appTransactionID: "704000000000000001",
    environment: .production)

private func refusal(
    _ text: String, _ keys: [Tenure.ServiceKey], isRehearsal: Bool = false, at now: Date = World.now
) -> EntitlementTokenReader.Refusal? {
    do throws(EntitlementTokenReader.Refusal) {
        _ = try EntitlementTokenReader(keys: KeyRing(keys), isRehearsal: isRehearsal).read(text, for: holder, at: now)
        return nil
    } catch {
        return error
    }
}

@Suite struct `Entitlement tokens` {
    @Test func `count where a pinned key signed them for this device, account, app and environment`() throws {
        let signer = Signer()
        let keys = [try signer.pinned()]
        #expect(refusal(try signer.entitlementToken(), keys) == nil)
        #expect(refusal(try signer.entitlementToken(["device": "\"\(World.otherDevice.hashed)\""]), keys) == .anotherDevice)
        #expect(refusal(try signer.entitlementToken(["appTransactionID": "\"7\""]), keys) == .anotherCustomer)
        #expect(refusal(try signer.entitlementToken(["bundleID": "\"com.example.other\""]), keys) == .anotherApp)
        #expect(refusal(try signer.entitlementToken(["iss": "\"somebody\""]), keys) == .malformed)
        #expect(refusal(try Signer().entitlementToken(), keys) == .notSigned)
    }

    @Test func `of the sandbox, of personas and under test authorities prove nothing to what people bought`() throws {
        let signer = Signer()
        let keys = [try signer.pinned()]
        #expect(refusal(try signer.entitlementToken(["environment": "\"Sandbox\""]), keys) == .anotherEnvironment)
        #expect(refusal(try signer.entitlementToken(["environment": "\"Xcode\""]), keys) == .anotherEnvironment)
        #expect(refusal(try signer.entitlementToken(["test": "true"]), keys) == .test)
        #expect(refusal(try signer.entitlementToken(["persona": "\"an early buyer\""]), keys) == .test)
        #expect(refusal(try signer.entitlementToken(["test": "true"]), keys, isRehearsal: true) == nil)
    }

    @Test func `from the future are not believed`() throws {
        let signer = Signer()
        let later = Int(World.now.timeIntervalSince1970) + 3 * 86_400
        #expect(
            refusal(try signer.entitlementToken(["iat": "\(later)"]), [try signer.pinned()]) == .fromTheFuture)
    }

    @Test func `with any byte changed prove nothing`() throws {
        let signer = Signer()
        let keys = [try signer.pinned()]
        let sound = Array(try signer.entitlementToken().utf8)
        for place in stride(from: 0, to: sound.count, by: 7) {
            var spoilt = sound
            spoilt[place] = spoilt[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(refusal(String(decoding: spoilt, as: UTF8.self), keys) != nil, "byte \(place)")
        }
        for text in ["", ".", "..", "a.b.c", String(repeating: "e", count: 100_000)] {
            #expect(refusal(text, keys) == .notSigned)
        }
    }

    @Test func `that another kind of text was signed as do not pass for one`() throws {
        let signer = Signer()
        let payload = String(decoding: Data(#"{"iss":"tenure"}"#.utf8), as: UTF8.self)
        #expect(refusal(try signer.sign(payload, type: "tenure-key+jwt"), [try signer.pinned()]) == .notSigned)
    }
}

@Suite struct `A new key of the service` {
    @Test func `is believed where the pinned one vouches for it, over several changes`() throws {
        let (first, second, third) = (Signer(), Signer(), Signer())
        let keys = [try first.pinned()]
        let chain = [try first.vouch(for: second), try second.vouch(for: third)]
        #expect(refusal(try second.entitlementToken(keys: [chain[0]]), keys) == nil)
        #expect(refusal(try third.entitlementToken(keys: chain), keys) == nil)
        // Without the statement it is a stranger's.
        #expect(refusal(try second.entitlementToken(), keys) == .notSigned)
        #expect(refusal(try third.entitlementToken(keys: [chain[1]]), keys) == .notSigned)
    }

    @Test func `is not believed for vouching for itself`() throws {
        let (pinned, stranger) = (Signer(), Signer())
        let forged = try stranger.vouch(for: stranger)
        #expect(refusal(try stranger.entitlementToken(keys: [forged]), [try pinned.pinned()]) == .notSigned)
        // An entitlement token is no statement about a key.
        let entitlementToken = try pinned.entitlementToken()
        #expect(refusal(try stranger.entitlementToken(keys: [entitlementToken]), [try pinned.pinned()]) == .notSigned)
    }
}

@Suite struct `A pinned key` {
    @Test func `is read as the service shows it, and in PEM`() throws {
        let key = P256.Signing.PrivateKey().publicKey
        let (x, y) = (key.rawRepresentation.prefix(32), key.rawRepresentation.suffix(32))
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(Base64.urlSafe.text(x))","y":"\#(Base64.urlSafe.text(y))"}"#
        let fromPEM = try Tenure.ServiceKey(key.pemRepresentation)
        #expect(try Tenure.ServiceKey(jwk) == fromPEM)
        #expect(try Tenure.ServiceKey(#"{"keys":[\#(jwk)]}"#) == fromPEM)
    }

    @Test(arguments: [
        "", "key", "{}", #"{"keys":[]}"#, #"{"kty":"RSA","crv":"P-256","x":"","y":""}"#,
        #"{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
        "-----BEGIN PUBLIC KEY-----\nMA==\n-----END PUBLIC KEY-----",
    ])
    func `that is none is refused with what to do`(_ text: String) {
        #expect(throws: Tenure.Error.self) { try Tenure.ServiceKey(text) }
    }
}
