import Crypto
import Foundation
package import TenureAppStore
import TenureJSON
import X509

/// Defects of a JWS with a valid chain, and unusual but valid variants. The raw values are names for
/// `tenure mint --defect`; `corrupt` makes each defect.
package enum JWSDefect: String, CaseIterable, Sendable, Hashable {
    // The header.
    case noAlgorithm, algorithmNone, algorithmLowerCase, algorithmES384, algorithmRS256
    /// HMAC with the signer's public key as the secret.
    case algorithmHS256
    /// The header has a critical extension (`crit`).
    case criticalHeader
    /// The header has no `x5c`, or an `x5c` without certificates or with one, two or four instead of three.
    case noX5C, noCertificates, oneCertificate, twoCertificates, fourCertificates
    case urlSafeCertificate, newlineInCertificate, trailingCertificateByte, unreadableCertificate, x5cOfNumbers
    // The signature. `foreignSignature` is the signature of other bytes.
    case derSignature, foreignSignature, shortSignature
    case flippedHeaderBit, flippedPayloadBit, flippedSignatureBit
    // The encoding: the Base64 of the segments, and their number.
    case paddedSegment, nonCanonicalSignature, standardAlphabet, trailingNewline, fourthSegment, twoSegments
    // The payload.
    case payloadIsNoObject, duplicateKey, escapedDuplicateKey, deepNesting, oversized, invalidUTF8, trailingJSON
    /// The signing date is a string, a number that is too large, or in the future.
    case textDate, endlessDate, futureSigning
    /// The claims of RFC 7519: `aud`, `exp` in the past, and `iat` and `nbf` in the future.
    case audience, endedClaim, futureIssue, futureBeginning
    /// The bundle ID is another app's, in upper case, in another Unicode encoding, or missing.
    case wrongBundle, wrongBundleCase, decomposedBundle, noBundle
    /// The environment is Sandbox, the unknown `LocalTesting`, or null.
    case wrongEnvironment, localTesting, noEnvironment
    case wrongAppAppleID, noAppAppleID
    // Notifications, in which the nested transaction has the defect.
    case nestedOtherApp, nestedOtherEnvironment, nestedOtherSubscription, nestedUnsigned
    // Unusual, but valid.
    /// The last certificate in `x5c` can't be read. Verifiers use their own root instead of that one.
    case garbageRoot
    case extraHeaderKeys, fractionalDate
    /// A field has a value, or the payload has a field, that Apple may add later.
    case unknownEnum, unknownField
    /// The notification has `summary` besides `data`. Verifiers read `data`.
    case dataAndSummary

    /// The kinds of artifact that can have the defect.
    package var kinds: [JWSKind] {
        switch self {
        case .nestedOtherApp, .nestedOtherEnvironment, .nestedOtherSubscription, .nestedUnsigned, .dataAndSummary:
            [.notification]
        case .wrongBundle, .wrongBundleCase, .decomposedBundle, .noBundle:
            [.appTransaction, .transaction, .notification]
        case .wrongAppAppleID, .noAppAppleID: [.appTransaction, .notification]
        case .unknownEnum: [.appTransaction, .transaction, .renewalInfo]
        // Renewal info can have the defects of the environment, too, although it never names its app.
        default: [.appTransaction, .transaction, .renewalInfo, .notification]
        }
    }

    /// Applies the defect to a valid draft.
    func corrupt(_ draft: inout JWSDraft, kind: JWSKind, by minter: JWSMinter) throws {
        switch self {
        case .noAlgorithm: draft.algorithm = nil
        case .algorithmNone:
            draft.algorithm = "none"
            // A single zero byte takes the place of the signature.
            draft.finish = { $0.prefix(through: $0.lastIndex(of: UInt8(ascii: ".")) ?? 0) + Array("AA".utf8) }
        case .algorithmLowerCase: draft.algorithm = "es256"
        case .algorithmES384: draft.algorithm = "ES384"
        case .algorithmRS256: draft.algorithm = "RS256"
        case .algorithmHS256:
            draft.algorithm = "HS256"
            let secret = SymmetricKey(data: Array(draft.key.publicKey.subjectPublicKeyInfoBytes))
            draft.makeSignature = { Array(HMAC<SHA256>.authenticationCode(for: $0, using: secret)) }
        case .criticalHeader:
            draft.headerMembers = [
                .init(name: "crit", value: .array([.string("b64")])), .init(name: "b64", value: .boolean(true)),
            ]
        case .noX5C: draft.showsCertificates = false
        case .noCertificates: draft.certificates = []
        case .oneCertificate: draft.certificates = Array(draft.certificates.prefix(1))
        case .twoCertificates: draft.certificates = Array(draft.certificates.prefix(2))
        case .fourCertificates: draft.certificates += draft.certificates.suffix(1)
        case .urlSafeCertificate: draft.x5c = draft.certificates.map { Base64.urlSafe.text($0) }
        case .newlineInCertificate:
            draft.x5c = draft.certificates.map { Base64.standard.text($0) }.map {
                $0.prefix(64) + "\n" + $0.dropFirst(64)
            }
        case .trailingCertificateByte: draft.certificates[0].append(0)
        case .unreadableCertificate: draft.certificates[0] = [0x30, 0x03, 0x02, 0x01, 0x01]
        case .x5cOfNumbers:
            draft.showsCertificates = false
            draft.headerMembers = [.init(name: "x5c", value: .array([.integer(1), .integer(2), .integer(3)]))]
        case .derSignature:
            guard case .p256(let key) = draft.key else { return }
            draft.makeSignature = { Array(try key.signature(for: SHA256.hash(data: $0)).derRepresentation) }
        case .foreignSignature: draft.makeSignature = { [key = draft.key] in try key.rawSignature(of: $0 + [0]) }
        case .shortSignature:
            draft.makeSignature = { [key = draft.key] in Array(try key.rawSignature(of: $0).dropLast()) }
        case .flippedHeaderBit:
            // Flip a bit in the signature of the signer's certificate.
            let last = draft.certificates[0].count - 1
            draft.certificates[0][last] ^= 1
        case .flippedPayloadBit: draft.finish = { try Self.flip($0, segment: 1) }
        case .flippedSignatureBit: draft.finish = { try Self.flip($0, segment: 2) }
        case .paddedSegment: draft.finish = { $0 + Array("==".utf8) }
        case .nonCanonicalSignature:
            // With 64 bytes, the last character has four unused bits.
            draft.finish = { text in
                var text = text
                guard let last = text.popLast() else { return text }
                let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
                return text + [alphabet[((alphabet.firstIndex(of: last) ?? 0) + 1) % 64]]
            }
        case .standardAlphabet:
            draft.finish = { text in
                // Change a character that differs between the alphabets. If no character differs, add an invalid
                // character.
                guard let index = text.firstIndex(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }) else {
                    return text + [UInt8(ascii: "+")]
                }
                var text = text
                text[index] = text[index] == UInt8(ascii: "-") ? UInt8(ascii: "+") : UInt8(ascii: "/")
                return text
            }
        case .trailingNewline: draft.finish = { $0 + [0x0A] }
        case .fourthSegment: draft.finish = { $0 + Array(".AAAA".utf8) }
        case .twoSegments: draft.finish = { Array($0.prefix(upTo: $0.lastIndex(of: UInt8(ascii: ".")) ?? 0)) }
        case .payloadIsNoObject: draft.payload = Array("[1]".utf8)
        case .duplicateKey: Self.append(#""version":1,"version":2"#, to: &draft)
        case .escapedDuplicateKey:
            Self.append(#""bundle\u0049d":"com.example.other","bundleId":"com.example.other""#, to: &draft)
        case .deepNesting:
            let depth = 50_000
            let nest = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            Self.append("\"nest\":\(nest)", to: &draft)
        case .oversized: Self.append("\"filler\":\"\(String(repeating: "x", count: 1 << 20))\"", to: &draft)
        case .invalidUTF8:
            draft.payload.removeLast()
            draft.payload += Array(",\"filler\":\"".utf8) + [0xC0, 0x80] + Array("\"}".utf8)
        case .trailingJSON: draft.payload += Array("{}".utf8)
        case .textDate: try set(Self.dateName(of: kind), .string("yesterday"), in: &draft)
        case .endlessDate: try set(Self.dateName(of: kind), .number("1e300"), in: &draft)
        case .futureSigning:
            try set(Self.dateName(of: kind), .instant(minter.signingDate.addingTimeInterval(86400)), in: &draft)
        case .audience: try set("aud", .string("com.example.calculator"), in: &draft)
        case .endedClaim: try set("exp", minter.numericDate(-60), in: &draft)
        case .futureIssue: try set("iat", minter.numericDate(3600), in: &draft)
        case .futureBeginning: try set("nbf", minter.numericDate(3600), in: &draft)
        case .wrongBundle: try setAppField("bundleId", .string("com.example.other"), in: &draft, of: kind)
        case .wrongBundleCase:
            try setAppField("bundleId", .string(minter.app.bundleID.uppercased()), in: &draft, of: kind)
        // A verifier for `com.example.café`, with `é` as a single character, must reject this bundle ID.
        case .decomposedBundle: try setAppField("bundleId", .string("com.example.cafe\u{301}"), in: &draft, of: kind)
        case .noBundle: try setAppField("bundleId", nil, in: &draft, of: kind)
        case .wrongEnvironment:
            try setAppField(Self.environmentName(of: kind), .string("Sandbox"), in: &draft, of: kind)
        case .localTesting:
            try setAppField(Self.environmentName(of: kind), .string("LocalTesting"), in: &draft, of: kind)
        case .noEnvironment: try setAppField(Self.environmentName(of: kind), .null, in: &draft, of: kind)
        case .wrongAppAppleID: try setAppField("appAppleId", .integer(1), in: &draft, of: kind)
        case .noAppAppleID: try setAppField("appAppleId", nil, in: &draft, of: kind)
        case .nestedOtherApp: try nest(["bundleId": .string("com.example.other")], in: &draft, by: minter)
        case .nestedOtherEnvironment: try nest(["environment": .string("Sandbox")], in: &draft, by: minter)
        case .nestedOtherSubscription:
            try nest(["originalTransactionId": .string("410000000000099")], in: &draft, by: minter)
        case .nestedUnsigned:
            let unsigned = try minter.mint(.transaction, with: .algorithmNone)
            try setNested("signedTransactionInfo", .string(Self.text(unsigned)), in: &draft)
        case .garbageRoot: draft.certificates[2] = Array("no certificate".utf8)
        case .extraHeaderKeys:
            draft.headerMembers = [
                .init(name: "typ", value: .string("JWT")), .init(name: "kid", value: .string("any")),
            ]
        case .fractionalDate:
            let milliseconds = minter.signingDate.timeIntervalSince1970 * 1000 + 0.7297
            try set(Self.dateName(of: kind), .number("\(milliseconds)"), in: &draft)
        case .unknownEnum:
            switch kind {
            case .renewalInfo: try set("expirationIntent", .integer(77), in: &draft)
            case .transaction: try set("type", .string("Something of 2031"), in: &draft)
            default: try set("originalPlatform", .string("Something of 2031"), in: &draft)
            }
        case .unknownField: Self.append(#""somethingOf2031":{"deep":[1,2.5,null]}"#, to: &draft)
        case .dataAndSummary:
            let summary: JSONObject = ["bundleId": .string("com.example.other"), "environment": .string("Sandbox")]
            try set("summary", .object(summary), in: &draft)
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the field with the signing date.
    private static func dateName(of kind: JWSKind) -> String {
        kind == .appTransaction ? "receiptCreationDate" : "signedDate"
    }

    /// Returns the field with the environment.
    private static func environmentName(of kind: JWSKind) -> String {
        kind == .appTransaction ? "receiptType" : "environment"
    }

    /// Appends members, as JSON text, to the payload.
    private static func append(_ members: String, to draft: inout JWSDraft) {
        draft.payload.removeLast()
        draft.payload += Array(",\(members)}".utf8)
    }

    /// Sets a field of the payload; nil removes it.
    private func set(_ name: String, _ value: JSONValue?, in draft: inout JWSDraft) throws {
        guard case .object(var object) = try JSONValue(parsing: draft.payload) else { return }
        object[name] = value
        draft.payload = JSONValue.object(object).bytes
    }

    /// Sets a field about the app or the environment; nil removes it. Notifications have these fields in `data`.
    private func setAppField(
        _ name: String, _ value: JSONValue?, in draft: inout JWSDraft, of kind: JWSKind
    ) throws {
        if kind == .notification {
            try setNested(name, value, in: &draft)
        } else {
            try set(name, value, in: &draft)
        }
    }

    /// Sets a field of `data` in the payload of a notification; nil removes it.
    private func setNested(_ name: String, _ value: JSONValue?, in draft: inout JWSDraft) throws {
        guard case .object(let object) = try JSONValue(parsing: draft.payload), case .object(var data)? = object["data"]
        else {
            throw MintingError(
                "the defect `\(rawValue)` is only for notifications with nested artifacts; use `tenure mint notification`"
            )
        }
        data[name] = value
        try set("data", .object(data), in: &draft)
    }

    /// Replaces the transaction in a notification by a signed transaction with changed fields.
    private func nest(_ fields: [String: JSONValue], in draft: inout JWSDraft, by minter: JWSMinter) throws {
        var transaction = minter.nestedTransaction
        for (name, value) in fields { transaction[name] = value }
        try setNested("signedTransactionInfo", .string(Self.text(minter.mint(payload: transaction))), in: &draft)
    }

    /// Flips the lowest bit of the middle byte of a segment, and encodes the segment again.
    private static func flip(_ text: [UInt8], segment: Int) throws -> [UInt8] {
        var segments = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        guard segments.indices.contains(segment), var bytes = Base64.urlSafe.decode(segments[segment][...]),
            !bytes.isEmpty
        else {
            throw MintingError(
                "segment \(segment + 1) of the JWS has no bit to flip: it is missing, empty or not Base64")
        }
        bytes[bytes.count / 2] ^= 1
        segments[segment] = Base64.urlSafe.encode(bytes)
        return Array(segments.joined(separator: [UInt8(ascii: ".")]))
    }
}

extension JWSMinter {
    /// Returns a time `offset` seconds after the signing date, as a NumericDate (RFC 7519, section 2): in seconds since
    /// 1970.
    fileprivate func numericDate(_ offset: TimeInterval) -> JSONValue {
        .integer(Int64(signingDate.timeIntervalSince1970 + offset))
    }
}
