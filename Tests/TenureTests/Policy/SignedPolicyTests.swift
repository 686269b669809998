import Crypto
import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile
import Testing

@testable import Tenure

/// A developer with a signing key, and policies of one app with different boundaries.
struct PolicySigner {
    let key = P256.Signing.PrivateKey()
    var pin: PinnedKey { PinnedKey(key.publicKey) }

    static func policy(build: String = "120", bundleID: String = "com.example.calculator") throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: bundleID, appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [.iOS: .at(version: AppVersion(build), date: Date(rfc3339: "2015-06-10T18:00:00Z"))],
                    changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
    }

    func sign(_ policy: Policy, counter: Int64) throws -> SignedPolicy {
        try SignedPolicy(policy, counter: counter, issuedAt: Date(timeIntervalSince1970: 1_433_959_200), by: key)
    }

    /// Signs any header and payload.
    func sign(header: String = #"{"alg":"ES256","typ":"tenure-policy+jwt"}"#, payload: String) throws -> String {
        let signed = Base64.urlSafe.text(header.utf8) + "." + Base64.urlSafe.text(payload.utf8)
        let signature = try key.signature(for: Data(signed.utf8))
        return signed + "." + Base64.urlSafe.text(signature.rawRepresentation)
    }
}

@Suite struct SignedPolicyTests {
    private let signer = PolicySigner()

    private func refusal(
        _ text: String, keys: [PinnedKey]? = nil, bundleID: String = "com.example.calculator"
    ) -> SignedPolicyError? {
        do throws(SignedPolicyError) {
            _ = try SignedPolicy.verify(text.utf8, keys: keys ?? [signer.pin], bundleID: bundleID)
            return nil
        } catch {
            return error
        }
    }

    @Test func `verifying a signed policy returns the policy, its counter and its time`() throws {
        for (file, policy) in try RepositoryFolder.policies() {
            let signed = try signer.sign(policy, counter: 7)
            let verified = try SignedPolicy.verify(
                signed.text.utf8, keys: [signer.pin], bundleID: policy.app.bundleID)
            #expect(verified == signed && verified.policy == policy, "\(file)")
            #expect(verified.counter == 7 && verified.issuedAt == Date(timeIntervalSince1970: 1_433_959_200))
        }
    }

    @Test func `a signed policy with a line break at its end is valid`() throws {
        let signed = try signer.sign(PolicySigner.policy(), counter: 1)
        #expect(refusal(signed.text + "\n") == nil && refusal(signed.text + "\r\n") == nil)
        #expect(refusal(signed.text + " ") != nil)
    }

    @Test func `a signed policy is valid only if one of the pinned keys signed it`() throws {
        let other = PolicySigner()
        let text = try signer.sign(PolicySigner.policy(), counter: 1).text
        #expect(refusal(text, keys: [other.pin, signer.pin]) == nil)
        #expect(refusal(text, keys: [other.pin]) == .wrongSignature)
        #expect(refusal(text, keys: []) == .wrongSignature)
    }

    @Test func `one changed byte makes a signed policy invalid`() throws {
        let text = Array(try signer.sign(PolicySigner.policy(), counter: 1).text.utf8)
        for index in text.indices {
            var changed = text
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(refusal(String(decoding: changed, as: UTF8.self)) != nil, "byte \(index)")
        }
    }

    @Test func `a signed policy's header never chooses how it is verified`() throws {
        let payload = String(
            decoding: try #require(
                Base64.urlSafe.decode(
                    try signer.sign(PolicySigner.policy(), counter: 1).text.split(separator: ".")[1])),
            as: UTF8.self)
        #expect(refusal(try signer.sign(payload: payload)) == nil)
        for header in [
            #"{"alg":"none"}"#, #"{"alg":"HS256","typ":"tenure-policy+jwt"}"#,
            #"{"typ":"tenure-policy+jwt","alg":"ES256"}"#, #"{"alg":"ES256","typ":"tenure-entitlement+jwt"}"#,
            #"{"alg":"ES256","typ":"tenure-policy+jwt","jwk":{}}"#, "",
        ] {
            let text = try signer.sign(header: header, payload: payload)
            #expect(
                refusal(text) == .notSigned(#"its header isn't `{"alg":"ES256","typ":"tenure-policy+jwt"}`"#),
                "\(header)")
            let unsigned = text.split(separator: ".").dropLast().joined(separator: ".") + "."
            #expect(refusal(unsigned) != nil)
        }
    }

    @Test(arguments: ["", ".", "..", "...", "a.b.c", "eyJhbGciOiJFUzI1NiJ9", "{}", "<!DOCTYPE html><title>404</title>"])
    func `a text that isn't a signed policy is refused`(_ text: String) {
        guard case .notSigned? = refusal(text) else {
            Issue.record("\(text)")
            return
        }
    }

    @Test func `a signed policy with missing, repeated or invalid claims is refused`() throws {
        let policy = String(decoding: PolicyFile.compile(try PolicySigner.policy()), as: UTF8.self)
        func refusal(_ payload: String) throws -> SignedPolicyError? {
            self.refusal(try signer.sign(payload: payload))
        }
        #expect(try refusal(#"{"counter":1,"iat":1,"policy":\#(policy)}"#) == nil)
        #expect(try refusal(#"{"counter":9007199254740992,"iat":0,"policy":\#(policy)}"#) == nil)
        #expect(try refusal(#"{"counter":1,"iat":9007199254740992,"policy":\#(policy)}"#) == nil)
        for wrong in [
            #"{"counter":"1","iat":1,"policy":\#(policy)}"#, #"{"counter":1.0,"iat":1,"policy":\#(policy)}"#,
            #"{"counter":1,"counter":9,"iat":1,"policy":\#(policy)}"#, #"{"iat":1,"policy":\#(policy)}"#,
            #"{"counter":1,"policy":\#(policy)}"#, #"{"counter":1,"iat":1}"#, #"{"counter":1,"iat":1,"policy":{}}"#,
            #"{"counter":1,"iat":1,"policy":\#(policy),"exp":1}"#, #"[1]"#, "app: {}",
            #"{"counter":99999999999999999999,"iat":1,"policy":\#(policy)}"#,
        ] {
            guard case .invalidPolicy? = try refusal(wrong) else {
                Issue.record("\(wrong)")
                continue
            }
        }
        for wrong in [
            #"{"counter":0,"iat":1,"policy":\#(policy)}"#, #"{"counter":-1,"iat":1,"policy":\#(policy)}"#,
            #"{"counter":9007199254740993,"iat":1,"policy":\#(policy)}"#,
            #"{"counter":1,"iat":-1,"policy":\#(policy)}"#,
            #"{"counter":1,"iat":9007199254740993,"policy":\#(policy)}"#,
        ] {
            #expect(try refusal(wrong) == .notSigned("its counter or its time is out of range"))
        }
    }

    @Test func `a signed policy of another app is refused with an error that names its bundle ID`() throws {
        let text = try signer.sign(PolicySigner.policy(bundleID: "com.example.planner"), counter: 1).text
        let error = refusal(text)
        #expect(error == .wrongApp(found: "com.example.planner", wanted: "com.example.calculator"))
        #expect(error?.description.contains("`com.example.planner`") == true)
    }

    @Test func `a signed policy that is too large is refused unread, and can't be created`() throws {
        let size = SignedPolicy.maximumTextSize + 1
        #expect(refusal(String(repeating: "a", count: size)) == .tooLarge(bytes: size))
        let products = (0..<40_000).map { Entitlement.Product(id: "com.example.calculator.product\($0)") }
        let policy = try Policy(
            app: Policy.App(bundleID: "com.example.calculator"), eras: [Era(name: "paid", model: .paid)],
            entitlements: [Entitlement(name: "everything", products: products)])
        #expect(throws: SignedPolicyError.self) { try signer.sign(policy, counter: 1) }
    }

    @Test func `the reason why a text isn't a signed policy is the first thing that is wrong with it`() throws {
        let text = try signer.sign(PolicySigner.policy(), counter: 1).text
        let parts = text.split(separator: ".").map(String.init)
        let threeParts = SignedPolicyError.notSigned("it isn't a compact JWS, which has three parts")
        #expect(refusal(parts[0] + "." + parts[1]) == threeParts && refusal(text + ".") == threeParts)
        let signature = SignedPolicyError.notSigned("its signature can't be read")
        // 63 bytes, 65 bytes, and padding.
        for wrong in [String(repeating: "A", count: 84), String(repeating: "A", count: 87), parts[2] + "=="] {
            #expect(refusal([parts[0], parts[1], wrong].joined(separator: ".")) == signature, "\(wrong)")
        }
        // The payload of a text with a wrong signature isn't read.
        let other = try signer.sign(PolicySigner.policy(), counter: 2).text.split(separator: ".").map(String.init)
        #expect(refusal([parts[0], "!", parts[2]].joined(separator: ".")) == .wrongSignature)
        #expect(refusal([parts[0], parts[1], other[2]].joined(separator: ".")) == .wrongSignature)
        #expect(
            throws: SignedPolicyError.notSigned("its counter or its time is out of range")
        ) { try signer.sign(PolicySigner.policy(), counter: 0) }
    }

    @Test(
        arguments: [
            (
                .tooLarge(bytes: 5),
                "the signed policy has 5 bytes; it may have at most 1399124; check that the URL is that of the signed policy"
            ),
            (.notSigned("it is empty"), "this isn't a signed policy: it is empty; write one with `tenure policy sign`"),
            (.wrongSignature, "none of the pinned keys signed this policy; sign it with the key that the app pins"),
            (
                .wrongApp(found: "a", wanted: "b"),
                "the signed policy is for the app `a`, but this app is `b`; publish each app's policy at its own URL"
            ),
            (
                .older(counter: 3, known: 4),
                "the signed policy has the counter 3, which is lower than the known counter 4; sign the policy with a higher counter"
            ),
            (
                .sameCounter(4),
                "another signed policy already has the counter 4; sign each change with a higher counter"
            ),
        ] as [(SignedPolicyError, String)])
    func `each reason to refuse a signed policy says what to do`(error: SignedPolicyError, text: String) {
        #expect(error.description == text)
    }

    @Test func `a pinned policy signing key is read as text and as a JSON Web Key`() throws {
        let text = signer.pin.text
        #expect(text.utf8.count == 86)
        #expect(PinnedKey(text)?.text == text && PinnedKey(text + "\n")?.text == text)
        let raw = signer.key.publicKey.rawRepresentation
        let x = Base64.urlSafe.text(raw.prefix(32))
        let y = Base64.urlSafe.text(raw.suffix(32))
        #expect(PinnedKey(#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"a"}"#)?.text == text)
        #expect(PinnedKey(#"{"kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(y)"}"#) == nil)
        #expect(PinnedKey(#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(x)"}"#) == nil)
        for wrong in ["", "a", String(repeating: "A", count: 86), String(text.dropLast()), text + "A", "{}"] {
            #expect(PinnedKey(wrong) == nil, "\(wrong)")
        }
    }
}
