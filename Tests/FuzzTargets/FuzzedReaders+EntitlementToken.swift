import TenureJSON

// Internal symbols are visible only in modules built with `-enable-testing`: debug builds, and those of `Scripts/fuzz`.
#if DEBUG || FUZZING
    public import Foundation
    import TenureCore

    @testable import Tenure

    #if canImport(CryptoKit)
        import CryptoKit
    #else
        import Crypto
    #endif

    /// Entitlement tokens, as an app reads them.
    extension FuzzedReaders {
        /// An entitlement token from the service or from the disk. The lines after it are the statements that vouch for
        /// its key. Read by an app that pinned a key, and by one that pinned a root.
        public static func entitlementToken(_ input: [UInt8], at now: Date) {
            let lines = String(decoding: input, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
                .map(String.init)
            for ring in [KeyRing([serviceKey]), KeyRing([], root: serviceKey)] {
                let reader = EntitlementTokenReader(keys: ring, trustsTestAuthorities: true)
                let token = EntitlementTokenReader.Token(
                    text: lines[0], statements: Array(lines.dropFirst()),
                    revocations: lines.last.flatMap { ring.revocations(in: $0) })
                _ = try? reader.read(stored: token, for: EntitlementTokenReader.Holder(), at: now)
                _ = try? reader.read(
                    new: token, for: EntitlementTokenReader.Holder(), answering: "nonce", latest: now)
            }
        }

        /// The payload of a statement about a key, and of a list of revoked keys, with a valid signature.
        public static func keyStatementPayload(_ input: [UInt8]) {
            let token = sign(entitlementTokenClaims, header: entitlementTokenHeader)
            guard let text = SignedText(String(decoding: token, as: UTF8.self)) else { return }
            func signed(_ type: String) -> String {
                String(
                    decoding: sign(input, header: #"{"alg":"ES256","kid":"\#(serviceKey.id)","typ":"\#(type)"}"#),
                    as: UTF8.self)
            }
            let root = KeyRing([], root: serviceKey)
            _ = KeyRing([serviceKey]).trust(in: text, with: [signed("tenure-key+jwt")])
            _ = root.trust(in: text, with: [signed("tenure-root+jwt")])
            if let list = root.revocations(in: signed("tenure-revocations+jwt")), list.counter < 1 {
                fatalError("a list of revoked keys counts down")
            }
        }

        public static let keyStatementPayloads = [
            #"{"crv":"P-256","kty":"EC","x":"-","y":"-"}"#,
            #"{"iat":1795176000,"key":{"crv":"P-256","kty":"EC","x":"-","y":"-"},"signUntil":1826712000}"#,
            #"{"counter":1,"iat":1795176000,"revoked":["kZ6Hb0R4c9XJ2oGq3yq0o1v3kS8c4w9xv5n2b7d1e0A"]}"#,
        ].map { Array($0.utf8) }

        /// The payload of an entitlement token with a valid signature.
        public static func entitlementTokenPayload(_ input: [UInt8], at now: Date) {
            entitlementToken(sign(input, header: entitlementTokenHeader), at: now)
        }

        private static var entitlementTokenHeader: String {
            #"{"alg":"ES256","kid":"\#(serviceKey.id)","typ":"tenure-entitlement+jwt"}"#
        }

        public static let entitlementTokenClaims = Array(
            #"{"iss":"tenure","sub":"cus_1","bundleID":"com.example.calculator","environment":"Production","device":"x","appTransactionID":"704000000000000001","iat":1795176000,"exp":1826712000,"nonce":"nonce","test":true,"persona":"Ada","entitlements":{"everything":{},"cloud":{"until":1826712000,"refreshAfter":1795200000.5}}}"#
                .utf8)

        /// Valid tokens. The second one is signed by a key that the pinned key vouches for.
        public static var entitlementTokens: [[UInt8]] {
            guard let other = try? P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 0x2B, count: 32)),
                let otherKey = try? Tenure.ServiceKey(other.publicKey.pemRepresentation)
            else { return [] }
            let raw = other.publicKey.rawRepresentation
            let web =
                #"{"crv":"P-256","kty":"EC","x":"\#(Base64.urlSafe.text(raw.prefix(32)))","y":"\#(Base64.urlSafe.text(raw.suffix(32)))"}"#
            let statement = sign(
                Array(web.utf8), header: #"{"alg":"ES256","kid":"\#(serviceKey.id)","typ":"tenure-key+jwt"}"#)
            let header = #"{"alg":"ES256","kid":"\#(otherKey.id)","typ":"tenure-entitlement+jwt"}"#
            let signed = Base64.urlSafe.text(header.utf8) + "." + Base64.urlSafe.text(entitlementTokenClaims)
            guard let signature = try? other.signature(for: Data(signed.utf8)) else { return [] }
            let token = Array((signed + "." + Base64.urlSafe.text(signature.rawRepresentation)).utf8)
            let limited = sign(
                Array(#"{"iat":0,"key":\#(web),"signUntil":1826712000}"#.utf8),
                header: #"{"alg":"ES256","kid":"\#(serviceKey.id)","typ":"tenure-root+jwt"}"#)
            return [
                sign(entitlementTokenClaims, header: entitlementTokenHeader),
                token + [UInt8(ascii: "\n")] + statement, token + [UInt8(ascii: "\n")] + limited,
            ]
        }
    }
#endif
