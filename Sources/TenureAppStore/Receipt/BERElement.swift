/// One element of BER (tag, length and contents), as positions in the bytes of a `BERReader`.
struct BERElement {
    let tag: UInt8
    /// The position of the tag.
    let start: Int
    /// The range of the contents, without the end-of-contents octets of an indefinite length.
    let contents: Range<Int>
    /// The position after the element, where the next element may begin.
    let end: Int

    /// The range of the whole element: tag, length and contents.
    var encoding: Range<Int> { start..<end }
    /// Whether end-of-contents octets follow the contents. DER doesn't allow this.
    var hasIndefiniteLength: Bool { contents.upperBound != end }
}

/// The tags that receipts, CMS and certificates use. ITU-T X.690, section 8.1.2.
enum BERTag {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let printableString: UInt8 = 0x13
    static let ia5String: UInt8 = 0x16
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let constructedOctetString: UInt8 = 0x24
    /// `[0]`, constructed.
    static let context0: UInt8 = 0xA0
    /// `[1]`, constructed.
    static let context1: UInt8 = 0xA1
    /// The bit that every constructed tag has. A constructed value contains elements.
    static let constructed: UInt8 = 0x20
}
