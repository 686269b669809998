import TenureCore
import TenureJSON

/// The three segments of a compact JWS (RFC 7515, section 7.1), not yet decoded.
struct JWSSegments {
    /// The maximum size in bytes. Genuine JWS have 2 to 12 KB.
    static let maximumSize = 256 * 1024

    /// The whole JWS.
    let bytes: ArraySlice<UInt8>
    // The ranges of the three segments in `bytes`.
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>

    /// Finds the segments. Throws `tooLarge`, or `malformed` if there aren't exactly three segments or one is empty.
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

    /// Decodes one segment. Throws `malformed` if it isn't canonical base64url without padding. `name` is the
    /// segment's name in the message.
    func decoded(_ segment: Range<Int>, as name: String) throws(Rejection) -> [UInt8] {
        guard let decoded = Base64.urlSafe.decode(bytes[segment])
        else { throw Rejection(.malformed, "the \(name) isn't canonical base64url") }
        return decoded
    }

    /// Decodes and parses the JSON object in one segment. Throws `malformed` if the segment isn't a JSON object.
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
