// What is not `package` is seen only where modules are built for testing: in debug builds, and as `Scripts/fuzz` says.
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
        /// An entitlement token as it came from the service or from the disk.
        public static func entitlementToken(_ input: [UInt8], at now: Date) {
            let reader = EntitlementTokenReader(keys: KeyRing([serviceKey]), isRehearsal: true)
            _ = try? reader.read(String(decoding: input, as: UTF8.self), for: EntitlementTokenReader.Holder(), at: now)
        }

        /// The payload of one under a sound signature.
        public static func entitlementTokenPayload(_ input: [UInt8], at now: Date) {
            entitlementToken(sign(input, header: entitlementTokenHeader), at: now)
        }

        private static var entitlementTokenHeader: String {
            #"{"alg":"ES256","kid":"\#(serviceKey.id)","typ":"tenure-entitlement+jwt"}"#
        }

        public static let entitlementTokenClaims = Array(
            #"{"iss":"tenure","sub":"cus_1","bundleID":"com.example.calculator","environment":"Production","device":"x","appTransactionID":"704000000000000001","iat":1795176000,"exp":1826712000,"test":true,"persona":"Ada","entitlements":{"everything":{},"cloud":{"until":1826712000,"refreshAfter":1795200000.5}}}"#
                .utf8)

        /// Sound ones; the second is of a key that the pinned one vouches for.
        public static var entitlementTokens: [[UInt8]] {
            guard let other = try? P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 0x2B, count: 32)),
                let otherKey = try? Tenure.ServiceKey(other.publicKey.pemRepresentation)
            else { return [] }
            let raw = other.publicKey.rawRepresentation
            let web =
                #"{"crv":"P-256","kty":"EC","x":"\#(Base64.urlSafe.text(raw.prefix(32)))","y":"\#(Base64.urlSafe.text(raw.suffix(32)))"}"#
            let statement = sign(
                Array(web.utf8), header: #"{"alg":"ES256","kid":"\#(serviceKey.id)","typ":"tenure-key+jwt"}"#)
            let header =
                #"{"alg":"ES256","kid":"\#(otherKey.id)","typ":"tenure-entitlement+jwt","keys":["\#(String(decoding: statement, as: UTF8.self))"]}"#
            let signed = Base64.urlSafe.text(header.utf8) + "." + Base64.urlSafe.text(entitlementTokenClaims)
            guard let signature = try? other.signature(for: Data(signed.utf8)) else { return [] }
            return [
                sign(entitlementTokenClaims, header: entitlementTokenHeader),
                Array((signed + "." + Base64.urlSafe.text(signature.rawRepresentation)).utf8),
            ]
        }
    }
#endif
