import Testing

@testable import TenureAppStore
@testable import TenureMint

/// Anyone could add unsigned parts to a receipt in endless variants, and each variant would look like a new receipt.
struct ReceiptStructureTests {
    /// The forms of a length of two: in one byte, and in one to four bytes after their number (X.690, section 8.1.3).
    @Test(arguments: [[2], [0x81, 2], [0x82, 0, 2], [0x84, 0, 0, 0, 2]] as [[UInt8]])
    func `an element must end within the element that contains it`(length: [UInt8]) throws {
        let inner: [UInt8] = [BERTag.octetString] + length + [7, 8]
        var reader = BERReader(inner)
        #expect(try reader.element(at: 0, before: inner.count).contents.count == 2)
        // The bytes go on after the outer element.
        #expect(throws: Rejection.self) { try reader.element(at: 0, before: inner.count - 1) }
        #expect(throws: Rejection.self) { try reader.primitive(at: 0, before: inner.count - 1) }
    }

    @Test(arguments: [false, true])
    func `a receipt with an additional part at any place outside of its certificates is malformed`(
        hasSignedAttributes: Bool
    ) throws {
        let minter = try ReceiptTestBed.minter()
        let verifier = try ReceiptTestBed.verifier()
        let receipt = try minter.mint(
            minter.defaultReceipt, style: ReceiptStyle(hasSignedAttributes: hasSignedAttributes))
        var rest = receipt[...]
        let tree = try DERElement(&rest)
        #expect(tree.encoded == receipt && rest.isEmpty)
        #expect(try ReceiptTestBed.rejection(of: receipt, by: verifier) == nil)
        let places = tree.places.filter { $0.count <= 3 || !$0.starts(with: DERElement.certificates) }
        #expect(places.count > 15)
        for place in places {
            var changed = tree
            changed.append(DERElement(tag: 0x05), at: place[...])
            let found = try ReceiptTestBed.rejection(of: changed.encoded, by: verifier)
            #expect(found?.code == .malformed, "\(place): \(found?.detail ?? "accepted")")
        }
    }

    @Test func `a receipt with a part that is longer than the part around it is malformed`() throws {
        let receipt = try ReceiptTestBed.minter().mint()
        // The outer sequence has two octets of length.
        try #require(receipt[1] == 0x82)
        for count in 0..<200 {
            let cut = DERWriter.element(0x30, Array(receipt.dropFirst(4).prefix(count)))
            #expect(try ReceiptTestBed.rejection(of: cut)?.code == .malformed, "\(count) bytes")
        }
    }

    @Test func `only a constructed part of a receipt can have an indefinite length`() throws {
        let receipt = try ReceiptTestBed.minter().mint()
        // The content: a sequence with a tagged octet string.
        for (place, code) in [([1, 0, 2], nil), ([1, 0, 2, 1], nil), ([1, 0, 2, 1, 0], .malformed)]
            as [([Int], Rejection.Code?)]
        {
            var rest = receipt[...]
            var tree = try DERElement(&rest)
            tree.setIndefiniteLength(at: place[...])
            #expect(try ReceiptTestBed.rejection(of: tree.encoded)?.code == code, "\(place)")
        }
    }

    @Test func `an attribute of a receipt needs a type and a version that are numbers, and one value`() throws {
        let minter = try ReceiptTestBed.minter()
        let (number, text) = (DERWriter.integer(77), DERWriter.octetString([1]))
        for (parts, code) in [
            ([number, number, text], nil), ([text, number, text], .malformed), ([number, text, text], .malformed),
            ([number, number], .malformed), ([number, number, number], .malformed),
            ([number, number, text, text], .malformed),
        ] as [([[UInt8]], Rejection.Code?)] {
            var assembly = try minter.assembly(minter.defaultReceipt)
            let attribute = DERWriter.element(0x30, parts.flatMap { $0 })
            assembly.content = DERWriter.set(minter.defaultReceipt.encodedAttributes(sorted: true) + [attribute])
            #expect(try ReceiptTestBed.rejection(of: assembly.bytes())?.code == code, "\(parts)")
        }
    }

    @Test func `parts of a receipt may be nested to 32 levels`() throws {
        let detail = "the receipt can't be read: it is nested too deeply"
        for (depth, isAccepted) in [(32, true), (33, false)] {
            let indefinite: [UInt8] =
                Array(repeating: [BERTag.sequence, 0x80], count: depth).flatMap { $0 }
                + Array(repeating: 0, count: 2 * depth)
            var reader = BERReader(indefinite)
            let end = try? reader.element(at: 0, before: indefinite.count).end
            #expect(end == (isAccepted ? 4 * depth : nil))
            // Chunks of chunks.
            var chunks = DERWriter.octetString([7])
            for _ in 0..<depth { chunks = DERWriter.element(BERTag.constructedOctetString, chunks) }
            reader = BERReader(chunks)
            let element = try reader.element(at: 0, before: chunks.count)
            var joined: [UInt8]?
            var found: String?
            do throws(Rejection) {
                let octets = try reader.octets(of: element)
                joined = Array(reader.bytes[octets])
            } catch {
                found = error.detail
            }
            #expect(joined == (isAccepted ? [7] : nil))
            #expect(found == (isAccepted ? nil : detail))
        }
    }

    @Test func `a receipt may have 60,000 elements`() throws {
        var reader = BERReader([BERTag.null, 0])
        for _ in 0..<60_000 { _ = try reader.element(at: 0, before: 2) }
        let rejection = #expect(throws: Rejection.self) { try reader.element(at: 0, before: 2) }
        #expect(rejection?.detail == "the receipt can't be read: it has more than 60000 elements")
        // The parts of an attribute don't count.
        #expect(throws: Never.self) { try reader.primitive(at: 0, before: 2) }
    }

    @Test func `the end of an indefinite length isn't a separate element`() {
        var reader = BERReader([0, 0])
        let rejection = #expect(throws: Rejection.self) { try reader.element(at: 0, before: 2) }
        #expect(
            rejection?.detail == "the receipt can't be read: it has end-of-contents octets outside an indefinite length"
        )
    }
}

/// An ASN.1 element in DER.
private struct DERElement {
    /// Where a receipt has its certificates.
    static let certificates = [1, 0, 3]

    var tag: UInt8
    /// The contents of a primitive element.
    var contents: [UInt8] = []
    /// The elements in a constructed element.
    var parts: [DERElement] = []
    var hasIndefiniteLength = false

    init(tag: UInt8) { self.tag = tag }

    /// Reads the first element of the input, and removes it from the input.
    init(_ input: inout ArraySlice<UInt8>) throws {
        let head = try #require(input.count >= 2 ? Array(input.prefix(2)) : nil)
        input = input.dropFirst(2)
        tag = head[0]
        var length = Int(head[1])
        if length >= 0x80 {
            let octets = input.prefix(length - 0x80)
            length = octets.reduce(0) { $0 << 8 | Int($1) }
            input = input.dropFirst(octets.count)
        }
        var rest = input.prefix(length)
        input = input.dropFirst(length)
        if isConstructed {
            while !rest.isEmpty { parts.append(try DERElement(&rest)) }
        } else {
            contents = Array(rest)
        }
    }

    var isConstructed: Bool { tag & 0x20 != 0 }

    var encoded: [UInt8] {
        let contents = isConstructed ? parts.flatMap(\.encoded) : contents
        return hasIndefiniteLength ? DERWriter.indefinite(tag, contents) : DERWriter.element(tag, contents)
    }

    /// The places of all constructed elements, as the positions on the way to them.
    var places: [[Int]] {
        guard isConstructed else { return [] }
        return [[]] + parts.enumerated().flatMap { index, part in part.places.map { [index] + $0 } }
    }

    mutating func setIndefiniteLength(at place: ArraySlice<Int>) {
        if let first = place.first {
            parts[first].setIndefiniteLength(at: place.dropFirst())
        } else {
            hasIndefiniteLength = true
        }
    }

    mutating func append(_ element: DERElement, at place: ArraySlice<Int>) {
        if let first = place.first {
            parts[first].append(element, at: place.dropFirst())
        } else {
            parts.append(element)
        }
    }
}
