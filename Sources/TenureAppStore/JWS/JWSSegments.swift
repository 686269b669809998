import TenureCore
import TenureJSON

/// The three segments of a compact JWS (RFC 7515, section 7.1), not yet decoded.
struct JWSSegments {
    /// The maximum size in bytes. Genuine JWS have 2 to 12 KB.
    static let maximumSize = 256 * 1024

    /// The whole JWS.
    let bytes: ArraySlice<UInt8>
    /// The ranges of the three segments in `bytes`.
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>

    /// Finds the segments. Throws `tooLarge`, or `malformed` unless there are exactly three segments, none of them
    /// empty.
    init(_ bytes: ArraySlice<UInt8>) throws(Rejection) {
        guard bytes.count <= Self.maximumSize else {
            throw Rejection(
                .tooLarge, "the JWS has \(bytes.count) bytes; a genuine one has at most \(Self.maximumSize)")
        }
        let period = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: period, from: bytes.startIndex),
            let second = bytes.firstIndex(of: period, from: first + 1), first > bytes.startIndex, second > first + 1,
            second + 1 < bytes.endIndex, bytes.firstIndex(of: period, from: second + 1) == nil
        else { throw Rejection(.malformed, "a JWS has three segments, none of them empty, separated by periods") }
        self.bytes = bytes
        header = bytes.startIndex..<first
        payload = first + 1..<second
        signature = second + 1..<bytes.endIndex
    }

    /// The bytes that the signature covers: header, period and payload.
    var signedBytes: ArraySlice<UInt8> { bytes[..<payload.upperBound] }

    /// Decodes one segment. Throws `malformed` unless it is canonical base64url without padding. `name` is the segment's
    /// name in the message.
    func decoded(_ segment: Range<Int>, as name: String) throws(Rejection) -> [UInt8] {
        guard let decoded = Base64.urlSafe.decode(bytes[segment])
        else { throw Rejection(.malformed, "the \(name) isn't canonical base64url") }
        return decoded
    }

    /// Decodes and parses the JSON object in one segment.
    func object(_ segment: Range<Int>, as name: String) throws(Rejection) -> JSONTape {
        let bytes = try decoded(segment, as: name)
        let tape: JSONTape
        do {
            tape = try JSONTape(bytes)
        } catch {
            throw Rejection(error).inside(name)
        }
        guard tape.nodes.first?.kind == .object
        else { throw Rejection(.malformed, "the \(name) isn't a JSON object") }
        return tape
    }
}

/// The header of a JWS: the algorithm, and the signer's certificates.
struct JWSHeader {
    /// The `alg` of the header; nil if it is missing.
    let algorithm: String?
    /// Whether the header has a `crit` field, which demands extensions (RFC 7515, section 4.1.11).
    let namesCriticalExtensions: Bool
    /// The certificates in standard Base64 of DER, the signer's first; nil if they are missing.
    let x5c: [String]?

    init(_ tape: JSONTape) throws(Rejection) {
        let read = FieldReader(tape: tape, index: tape.root)
        do {
            algorithm = try read("alg")
            x5c = try read("x5c")
        } catch {
            throw error.inside("header")
        }
        namesCriticalExtensions = tape.value(named: "crit", inObjectAt: tape.root) != nil
    }

    /// Throws `unsupportedAlgorithm` unless the algorithm is `ES256`, which the App Store uses, and the header demands
    /// no extensions.
    func checkAlgorithm() throws(Rejection) {
        guard algorithm == "ES256" else {
            throw Rejection(
                .unsupportedAlgorithm,
                algorithm.map { "the App Store signs with `ES256`, and not with `\($0.prefix(64))`" }
                    ?? "the header has no `alg`, and the App Store signs with `ES256`")
        }
        guard !namesCriticalExtensions else {
            throw Rejection(
                .unsupportedAlgorithm, "the header demands extensions (`crit`) that the App Store never uses")
        }
    }

    /// Returns the header's certificate chain after verifying it. Xcode sends one certificate; the App Store sends
    /// three.
    func chain(in cache: ChainCache) throws(Rejection) -> TrustedChain {
        guard let x5c else { throw Rejection(.untrustedChain, "the header has no certificates (`x5c`)") }
        switch x5c.count {
        case 1: return try cache.localChain(certificate: certificate(x5c[0], at: 0), purpose: .jws)
        case 3:
            let leaf = try certificate(x5c[0], at: 0)
            let intermediate = try certificate(x5c[1], at: 1)
            // The third certificate must be valid Base64, but isn't used: the chain must lead to a configured root.
            _ = try certificate(x5c[2], at: 2)
            return try cache.chain(leaf: leaf, intermediate: intermediate, purpose: .jws)
        default: throw Rejection(.untrustedChain, "the header has \(x5c.count) certificates (`x5c`) instead of 3")
        }
    }

    /// Returns the DER bytes of one entry of `x5c`.
    func certificate(_ entry: String, at index: Int) throws(Rejection) -> [UInt8] {
        guard !entry.isEmpty, let der = Base64.standard.decode(Array(entry.utf8)[...])
        else { throw Rejection(.malformed, "certificate \(index + 1) of the header (`x5c`) isn't canonical Base64") }
        return der
    }
}
