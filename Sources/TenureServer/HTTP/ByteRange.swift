/// What a `Range` header asks for (RFC 9110, section 14.2).
enum ByteRange: Sendable, Hashable {
    /// The whole file: there is no range, there are several ranges, the range is invalid, or the file is empty.
    case all
    /// Some bytes of the file, which the response sends with status 206.
    case part(Range<Int64>)
    /// The range begins after the end of the file, or asks for its last 0 bytes. The response is 416.
    case unsatisfiable

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - header: The value of `Range`; nil if the header is missing.
    ///   - size: The size of the file in bytes.
    init(_ header: String?, size: Int64) { self = Self.range(in: header ?? "", size: size) ?? .all }

    /// Reads one range in one of its three forms: `bytes=0-99`, `bytes=100-` and `bytes=-100`. Nil for anything else.
    private static func range(in header: String, size: Int64) -> ByteRange? {
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard size > 0, parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let spec = parts[1].drop(while: blank).prefix { !blank($0) }
        // Only blanks may follow.
        guard parts[1].drop(while: blank).dropFirst(spec.count).allSatisfy(blank) else { return nil }
        let ends = spec.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            // `-100` means the last 100 bytes.
            guard let suffix = number(ends[1]) else { return nil }
            return suffix > 0 ? .part(max(0, size - suffix)..<size) : .unsatisfiable
        }
        guard let first = number(ends[0]), let last = ends[1].isEmpty ? Int64.max : number(ends[1]), first <= last
        else { return nil }
        return first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
    }

    /// Parses a position. A number that doesn't fit in `Int64` is beyond the end of every file.
    private static func number(_ digits: Substring) -> Int64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(digits) ?? .max
    }
}
