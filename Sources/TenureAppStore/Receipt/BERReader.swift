/// Reads BER and DER from untrusted bytes, without recursion. Apple signs DER. Xcode and OpenSSL's streams write BER
/// with indefinite lengths and octet strings in chunks.
///
/// Every result is a range of `bytes`, so only chunks are copied, to join them. The number of elements and the depth
/// are limited, so that a receipt can't take much time.
struct BERReader {
    /// The maximum depth of nested elements of indefinite length, or of chunks.
    static let maximumDepth = 32
    /// The maximum number of elements that are read from one receipt.
    static let maximumElements = 60_000

    /// The input, followed by the joined contents of octet strings that are in chunks.
    private(set) var bytes: [UInt8]
    /// How many more elements may be read.
    private var elementsLeft = Self.maximumElements

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Elements

    /// Reads the element that begins at `start` and ends at or before `limit`.
    @inline(__always) mutating func element(at start: Int, before limit: Int) throws(Rejection) -> BERElement {
        try countElement()
        let header = try self.header(at: start, before: limit)
        guard let length = header.length
        else { return try indefiniteElement(tag: header.tag, start: start, contents: header.contents, before: limit) }
        let end = header.contents + length
        return BERElement(tag: header.tag, start: start, contents: header.contents..<end, end: end)
    }

    /// Reads the element that begins at `start`, which must have this tag. `name` is its name in the message.
    @inline(__always)
    mutating func element(
        _ tag: UInt8, at start: Int, before limit: Int, _ name: StaticString
    ) throws(Rejection) -> BERElement {
        let element = try self.element(at: start, before: limit)
        guard element.tag == tag else { throw .unreadable("\(name) is missing or of another type") }
        return element
    }

    /// Reads the primitive of definite length that begins at `start`, without adding it to the number of elements. Used
    /// for the parts of an attribute, which are counted as one element.
    @inline(__always) func primitive(at start: Int, before limit: Int) throws(Rejection) -> BERElement {
        let header = try self.header(at: start, before: limit)
        guard let length = header.length
        else { throw .unreadable("it has a constructed value where only a primitive is allowed") }
        let end = header.contents + length
        return BERElement(tag: header.tag, start: start, contents: header.contents..<end, end: end)
    }

    /// Counts one element. Throws if there were too many.
    @inline(__always) private mutating func countElement() throws(Rejection) {
        guard elementsLeft > 0 else { throw .unreadable("it has more than \(Self.maximumElements) elements") }
        elementsLeft -= 1
    }

    /// Reads tag and length, and returns the position of the contents. The length is nil if it is indefinite. An
    /// element with any other length ends at `limit` at the latest.
    @inline(__always)
    private func header(
        at start: Int, before limit: Int
    ) throws(Rejection) -> (tag: UInt8, contents: Int, length: Int?) {
        guard limit <= bytes.count, start >= 0, limit - start >= 2 else { throw .unreadable("it ends too early") }
        let tag = bytes[start]
        guard tag & 0x1F != 0x1F else { throw .unreadable("it has a tag of several bytes") }
        guard tag != 0 else { throw .unreadable("it has end-of-contents octets outside an indefinite length") }
        // ITU-T X.690, section 8.1.3: less than 0x80 is the length itself, 0x80 means an indefinite length, and a
        // larger byte has the number of length octets that follow.
        let lengthByte = bytes[start + 1]
        var contents = start + 2
        if lengthByte < 0x80 {
            guard Int(lengthByte) <= limit - contents else { throw .unreadable("it ends too early") }
            return (tag, contents, Int(lengthByte))
        }
        if lengthByte == 0x80 {
            guard tag & BERTag.constructed != 0 else { throw .unreadable("a primitive has an indefinite length") }
            return (tag, contents, nil)
        }
        let octets = Int(lengthByte & 0x7F)
        guard octets <= 4 else { throw .unreadable("a length has more than four bytes") }
        guard octets <= limit - contents else { throw .unreadable("it ends too early") }
        var length = 0
        for _ in 0..<octets {
            length = length << 8 | Int(bytes[contents])
            contents += 1
        }
        guard length <= limit - contents else { throw .unreadable("it ends too early") }
        return (tag, contents, length)
    }

    /// Reads an element of indefinite length: finds its end-of-contents octets, and skips the elements inside.
    private mutating func indefiniteElement(
        tag: UInt8, start: Int, contents: Int, before limit: Int
    ) throws(Rejection) -> BERElement {
        var depth = 1
        var position = contents
        while true {
            try countElement()
            guard limit - position >= 2 else { throw .unreadable("it ends too early") }
            if bytes[position] == 0, bytes[position + 1] == 0 {
                position += 2
                depth -= 1
                if depth == 0 {
                    return BERElement(tag: tag, start: start, contents: contents..<(position - 2), end: position)
                }
                continue
            }
            let header = try self.header(at: position, before: limit)
            if let length = header.length {
                position = header.contents + length
            } else {
                depth += 1
                guard depth <= Self.maximumDepth else { throw .unreadable("it is nested too deeply") }
                position = header.contents
            }
        }
    }

    // MARK: Values

    /// Returns the contents of an octet string. Chunks are joined and appended to `bytes`.
    mutating func octets(of element: BERElement) throws(Rejection) -> Range<Int> {
        if element.tag == BERTag.octetString { return element.contents }
        guard element.tag == BERTag.constructedOctetString
        else { throw .unreadable("an octet string is missing or of another type") }
        var collected: [UInt8] = []
        // The nested octet strings around the current position: where the contents of each octet string end, and where
        // the element after it begins.
        var open: [(limit: Int, next: Int)] = [(element.contents.upperBound, element.end)]
        var position = element.contents.lowerBound
        while let innermost = open.last {
            if position == innermost.limit {
                position = innermost.next
                open.removeLast()
                continue
            }
            let chunk = try self.element(at: position, before: innermost.limit)
            switch chunk.tag {
            case BERTag.octetString:
                collected += bytes[chunk.contents]
                position = chunk.end
            case BERTag.constructedOctetString:
                guard open.count < Self.maximumDepth else { throw .unreadable("it is nested too deeply") }
                open.append((chunk.contents.upperBound, chunk.end))
                position = chunk.contents.lowerBound
            default: throw .unreadable("an octet string has a chunk of another type")
            }
        }
        let start = bytes.count
        bytes += collected
        return start..<bytes.count
    }

    /// Returns a number of at most 64 bits; nil if it is negative or larger.
    @inline(__always) func unsignedInteger(in contents: Range<Int>) -> UInt64? {
        guard let first = contents.first, contents.upperBound <= bytes.count, bytes[first] < 0x80 else { return nil }
        // Nine bytes can hold a number of 64 bits if the first byte is zero.
        guard contents.count <= 8 || (contents.count == 9 && bytes[first] == 0) else { return nil }
        var value: UInt64 = 0
        for position in contents { value = value << 8 | UInt64(bytes[position]) }
        return value
    }

    /// Whether the bytes at this range are the expected bytes.
    func equal(_ range: Range<Int>, _ expected: [UInt8]) -> Bool {
        range.count == expected.count && bytes[range].elementsEqual(expected)
    }

    /// Whether the bytes at both ranges are the same.
    func equal(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        left.count == right.count && bytes[left].elementsEqual(bytes[right])
    }
}
