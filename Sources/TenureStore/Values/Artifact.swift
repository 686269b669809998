package import Foundation

/// One signed artifact, byte for byte as received. All facts can be computed again from the artifacts.
package struct Artifact: Sendable, Hashable {
    /// The kinds of artifacts, by the codes in the database.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case appTransaction = 1
        case transaction = 2
        case renewalInfo = 3
        case receipt = 4

        /// Whether the artifact is a compact JWS: three segments joined by dots. Most artifacts have the same first
        /// segment.
        var isJWS: Bool { self != .receipt }
    }

    package let kind: Kind
    /// The artifact as received: a compact JWS, or a receipt.
    package let bytes: [UInt8]
    /// The hash of the signed part. Two artifacts that differ only in unsigned bytes count as the same artifact.
    package let sha256: [UInt8]
    /// When the App Store signed the artifact; nil if the artifact doesn't say.
    package let signedDate: Date?

    package init(_ kind: Kind, bytes: [UInt8], sha256: [UInt8], signedDate: Date?) {
        self.kind = kind
        self.bytes = bytes
        self.sha256 = sha256
        self.signedDate = signedDate
    }

    /// The header of a JWS (nil for a receipt), and the remaining bytes. A header has 4.5 KB of certificates. Most
    /// artifacts have the same header, so the database stores each header only once.
    var parts: (header: ArraySlice<UInt8>?, rest: ArraySlice<UInt8>) {
        kind.isJWS ? bytes.partsOfJWS : (nil, bytes[...])
    }
}

extension [UInt8] {
    /// The header of a compact JWS (nil if the bytes contain no dot), and the remaining bytes, from the dot on.
    var partsOfJWS: (header: ArraySlice<UInt8>?, rest: ArraySlice<UInt8>) {
        // A header has 4.5 KB: `memchr` searches it thirty times as fast as a loop does.
        let dot = withUnsafeBytes { bytes in
            bytes.baseAddress.flatMap { start in
                memchr(start, Int32(UInt8(ascii: ".")), bytes.count).map { UnsafeRawPointer($0) - start }
            }
        }
        guard let dot else { return (nil, self[...]) }
        return (self[..<dot], self[dot...])
    }
}
