/// What a bucket stores about a line of an evidence file until all lines are read:
/// - an entry: what the line proves, under the most reliable name in the line
/// - an alias, which leads from another name in the line to the most reliable one
///
/// Names are IDs of the customer, such as `appTransactionId`. Some kinds are more reliable than others
/// (`CustomerNameKind`).
///
/// The encoding is the length of the rest (4 bytes), the kind (0: an entry, 1: an alias, 2: an entry with a second
/// name), the names and the content. Invalid encodings, which only a damaged disk can cause, are skipped.
struct SpillRecord {
    /// The facts that one or several lines of a customer prove.
    struct Entry {
        /// The `id` in the line; nil if the line has no `id`.
        let exportedID: String?
        /// If the entry's name is an `id`: the next name in the line, which is used if the `id` turns out to be a
        /// placeholder. Otherwise nil.
        let nextName: CustomerName?
        /// The encoded `CustomerFacts`.
        let facts: ArraySlice<UInt8>
    }

    /// What is stored under a name.
    enum Content {
        /// The facts of lines with this name.
        case entry(Entry)
        /// The more reliable name in a line with this name.
        case alias(CustomerName)
    }

    /// The customer's name under which a bucket stores the entry or alias.
    let name: CustomerName
    let content: Content

    /// Appends the encoded record.
    func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: [0, 0, 0, 0])
        switch content {
        case .entry(let entry):
            bytes.append(entry.nextName == nil ? 0 : 2)
            Self.append(name, to: &bytes)
            if let nextName = entry.nextName { Self.append(nextName, to: &bytes) }
            Self.append(entry.exportedID ?? "", to: &bytes)
            bytes.append(contentsOf: entry.facts)
        case .alias(let target):
            bytes.append(1)
            Self.append(name, to: &bytes)
            Self.append(target, to: &bytes)
        }
        let length = UInt32(clamping: bytes.count - start - 4)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
    }

    /// Reads the entry or alias at `position`, and moves `position` behind it. Nil at the end of the bytes, or if the
    /// encoding is invalid.
    init?(_ bytes: [UInt8], at position: inout Int) {
        guard let length = Self.length(of: bytes, at: position), position + 4 + length <= bytes.count else {
            return nil
        }
        var rest = bytes[(position + 4)..<(position + 4 + length)]
        position += 4 + length
        guard let tag = rest.popFirst(), let name = Self.name(&rest) else { return nil }
        self.name = name
        if tag != 1 {
            let nextName = tag == 2 ? Self.name(&rest) : nil
            guard tag != 2 || nextName != nil, let id = Self.text(&rest) else { return nil }
            content = .entry(Entry(exportedID: id.isEmpty ? nil : id, nextName: nextName, facts: rest))
        } else {
            guard let target = Self.name(&rest) else { return nil }
            content = .alias(target)
        }
    }

    init(_ name: CustomerName, _ content: Content) {
        self.name = name
        self.content = content
    }

    /// Returns the length of an encoded record without its first four bytes, which contain the length; nil if these
    /// four bytes are incomplete.
    static func length(of bytes: [UInt8], at position: Int) -> Int? {
        guard position + 4 <= bytes.count else { return nil }
        return (0..<4).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
    }

    /// Appends a name: its kind, its environment and its text.
    private static func append(_ name: CustomerName, to bytes: inout [UInt8]) {
        bytes.append(name.kind.rawValue)
        bytes.append(name.environmentIndex)
        append(name.text, to: &bytes)
    }

    /// Appends a string: its length in two bytes, then its UTF-8. A string of more than 65,535 bytes is cut.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let utf8 = text.utf8.prefix(Int(UInt16.max))
        bytes.append(UInt8(truncatingIfNeeded: utf8.count))
        bytes.append(UInt8(truncatingIfNeeded: utf8.count >> 8))
        bytes.append(contentsOf: utf8)
    }

    /// Reads the name at the beginning of `rest`, and removes it from `rest`; nil if the encoding is invalid.
    private static func name(_ rest: inout ArraySlice<UInt8>) -> CustomerName? {
        guard let code = rest.popFirst(), let kind = CustomerNameKind(rawValue: code),
            let environmentIndex = rest.popFirst(), let text = text(&rest)
        else { return nil }
        return CustomerName(kind: kind, environmentIndex: environmentIndex, text: text)
    }

    /// Reads the text at the beginning of `rest`, and removes it from `rest`; nil if the encoding is invalid.
    private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let low = rest.popFirst(), let high = rest.popFirst() else { return nil }
        let count = Int(low) | Int(high) << 8
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }
}
