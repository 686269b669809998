import Foundation

/// The parts of an app receipt that the client reads: its type, and whether it has a hash of the device.
///
/// The signature isn't verified, so the attributes prove nothing. The client uses them only to decide what to request
/// and what to send to the service. A receipt is CMS around a `SET OF SEQUENCE { type INTEGER, version INTEGER, value
/// OCTET STRING }`. The App Store writes DER, Xcode writes BER with indefinite lengths.
struct ReceiptAttributes: Sendable, Hashable {
    /// Attribute 0, such as `Production` or `ProductionSandbox`.
    private(set) var type: String?
    /// Whether the receipt has attribute 5: SHA-1 of the device's identifier, the opaque value and the bundle ID.
    private(set) var hasDeviceHash = false

    /// Reads the attributes. Nil if the bytes aren't a receipt.
    init?(_ receipt: Data) {
        guard let content = BERReader(bytes: [UInt8](receipt)).content else { return nil }
        let attributes = BERReader(bytes: content)
        guard let set = attributes.element(at: 0, before: content.count), set.tag == BERReader.set,
            let elements = attributes.elements(in: set.contents)
        else { return nil }
        for element in elements {
            guard let (type, value) = attributes.attribute(in: element) else { return nil }
            switch type {
            case [0]: self.type = attributes.text(in: value)
            case [5]: hasDeviceHash = true
            default: break
            }
        }
    }
}

/// Reads elements of DER, and of BER with indefinite lengths. Each step advances by at least one byte and never passes
/// its limit. So the time is linear, and untrusted bytes can't cause a read out of bounds.
private struct BERReader {
    // Tags of elements (ITU-T X.690).
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let ia5String: UInt8 = 0x16
    static let constructedOctetString: UInt8 = 0x24
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let context0: UInt8 = 0xA0

    /// An element of ASN.1: a tag and its contents.
    struct Element {
        let tag: UInt8
        /// Where the element's contents are in `bytes`.
        let contents: Range<Int>
        /// Where the next element begins.
        let end: Int
    }

    let bytes: [UInt8]

    // MARK: The path to the attributes

    /// The content that the receipt's signature covers, nested in `ContentInfo`, `SignedData` and
    /// `EncapsulatedContentInfo`. Nil if the bytes don't have this structure.
    var content: [UInt8]? {
        guard let info = element(at: 0, before: bytes.count), info.tag == Self.sequence,
            let signed = children(of: info, [Self.objectIdentifier, Self.context0])?.last,
            let signedData = children(of: signed, [Self.sequence])?.last,
            let wrapper = children(of: signedData, [Self.integer, Self.set, Self.sequence])?.last,
            let explicit = children(of: wrapper, [Self.objectIdentifier, Self.context0])?.last,
            let octets = element(at: explicit.contents.lowerBound, before: explicit.contents.upperBound)
        else { return nil }
        switch octets.tag {
        case Self.octetString: return Array(bytes[octets.contents])
        case Self.constructedOctetString:
            // The octet string is written in several chunks.
            guard let chunks = elements(in: octets.contents), chunks.allSatisfy({ $0.tag == Self.octetString })
            else { return nil }
            return chunks.flatMap { bytes[$0.contents] }
        default: return nil
        }
    }

    /// Returns the type of a receipt's attribute (the bytes of an integer), and where its value is in `bytes`. Nil if
    /// the element isn't an attribute.
    func attribute(in element: Element) -> (type: [UInt8], value: Range<Int>)? {
        guard element.tag == Self.sequence,
            let children = children(of: element, [Self.integer, Self.integer, Self.octetString])
        else { return nil }
        return (Array(bytes[children[0].contents]), children[2].contents)
    }

    /// Reads the UTF-8 or IA5 string at `range`. Nil for any other element.
    func text(in range: Range<Int>) -> String? {
        guard let element = element(at: range.lowerBound, before: range.upperBound),
            element.tag == Self.utf8String || element.tag == Self.ia5String
        else { return nil }
        return String(bytes: bytes[element.contents], encoding: .utf8)
    }

    // MARK: Elements

    /// Returns the first elements in an element, one for each tag. Nil if they don't have these tags in this order.
    private func children(of element: Element, _ tags: [UInt8]) -> [Element]? {
        let children = elements(in: element.contents, atMost: tags.count)
        return children?.map(\.tag) == tags ? children : nil
    }

    /// Reads the elements in a range, or only the first `count` of them. Nil if one of these is invalid.
    func elements(in range: Range<Int>, atMost count: Int = .max) -> [Element]? {
        var elements: [Element] = []
        var position = range.lowerBound
        while position < range.upperBound, elements.count < count {
            guard let element = element(at: position, before: range.upperBound) else { return nil }
            elements.append(element)
            position = element.end
        }
        return elements
    }

    /// Reads the element that begins at `start`. Nil if it is invalid or ends after `limit`.
    func element(at start: Int, before limit: Int) -> Element? {
        guard let header = header(at: start, before: limit) else { return nil }
        if let length = header.length {
            let end = header.contents + length
            return Element(tag: header.tag, contents: header.contents..<end, end: end)
        }
        // Two zero bytes end an element of indefinite length. Inner elements of indefinite length end first.
        var position = header.contents
        var openElements = 1
        while limit - position >= 2 {
            if bytes[position] == 0, bytes[position + 1] == 0 {
                openElements -= 1
                if openElements == 0 {
                    return Element(tag: header.tag, contents: header.contents..<position, end: position + 2)
                }
                position += 2
            } else {
                guard let inner = self.header(at: position, before: limit) else { return nil }
                if inner.length == nil { openElements += 1 }
                position = inner.contents + (inner.length ?? 0)
            }
        }
        return nil
    }

    /// Reads the tag of an element, where its contents begin, and their length. The length is nil if it is indefinite.
    /// An element with any other length ends at `limit` or before. Returns nil if the header is invalid.
    private func header(at start: Int, before limit: Int) -> (tag: UInt8, contents: Int, length: Int?)? {
        guard limit - start >= 2 else { return nil }
        let first = bytes[start + 1]
        var contents = start + 2
        var length = Int(first)
        if first == 0x80 { return (bytes[start], contents, nil) }
        if first > 0x80 {
            let octets = Int(first & 0x7F)
            guard octets <= 4, limit - contents >= octets else { return nil }
            length = bytes[contents..<contents + octets].reduce(0) { $0 << 8 | Int($1) }
            contents += octets
        }
        guard length <= limit - contents else { return nil }
        return (bytes[start], contents, length)
    }
}
