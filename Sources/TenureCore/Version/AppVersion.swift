/// A version of an app as the App Store reports it: a CFBundleVersion or a CFBundleShortVersionString.
///
/// A version consists of numbers, separated by single periods. ASCII blanks before and after it are ignored. Versions
/// are compared number by number, and a missing number is treated as zero: `1 == 1.0` and `9 < 120`. A number may have
/// any length.
public struct AppVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The version as it was written, without the blanks around it.
    public let description: String
    /// The first three components in one number if each of them fits and all others are zero; otherwise `unpackable`.
    private let packed: UInt64

    private static let unpackable = UInt64.max
    private static let bitsPerComponent = 21

    /// Reads a version. Nil if the text isn't a version.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard let first = bytes.firstIndex(where: { !$0.isASCIIWhitespace }),
            let last = bytes.lastIndex(where: { !$0.isASCIIWhitespace })
        else { return nil }
        let trimmed = bytes[first...last]
        var previous = UInt8(ascii: ".")
        for byte in trimmed {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            guard isDigit || (byte == UInt8(ascii: ".") && previous != byte) else { return nil }
            previous = byte
        }
        guard previous != UInt8(ascii: ".") else { return nil }
        description = trimmed.count == bytes.count ? text : String(Substring(trimmed))
        packed = Self.packed(description)
    }

    /// Packs a version into one number, so that comparisons are fast. Almost every version fits: it has at most three
    /// components, each less than two million.
    private static func packed(_ text: String) -> UInt64 {
        var packed: UInt64 = 0
        var shift = 2 * bitsPerComponent
        for component in IteratorSequence(Components(text)) {
            if !component.isZero {
                // More than seven digits don't fit.
                guard shift >= 0, component.digits.count <= 7 else { return unpackable }
                let number: UInt64 = component.digits.reduce(0) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
                guard number < 1 << UInt64(bitsPerComponent) else { return unpackable }
                packed |= number << UInt64(shift)
            }
            shift -= bitsPerComponent
        }
        return packed
    }

    /// Whether both versions have the same components: `1` equals `1.0` (rule A4 of Docs/decision-rules.md).
    public static func == (left: AppVersion, right: AppVersion) -> Bool {
        if left.packed != unpackable, right.packed != unpackable { return left.packed == right.packed }
        return left.description == right.description || compare(left, right) == 0
    }

    /// Compares component by component, as numbers (rule A4).
    public static func < (left: AppVersion, right: AppVersion) -> Bool {
        if left.packed != unpackable, right.packed != unpackable { return left.packed < right.packed }
        return compare(left, right) < 0
    }

    /// Returns a negative number if `left` is earlier than `right`, zero if they are equal, otherwise a positive
    /// number.
    private static func compare(_ left: AppVersion, _ right: AppVersion) -> Int {
        var left = Components(left.description)
        var right = Components(right.description)
        while true {
            switch (left.next(), right.next()) {
            case (nil, nil): return 0
            case (let mine?, let other?):
                let order = mine.compared(to: other)
                if order != 0 { return order }
            case (let mine?, nil): if !mine.isZero { return 1 }
            case (nil, let other?): if !other.isZero { return -1 }
            }
        }
    }

    /// Equal versions have equal hashes, however they are written.
    public func hash(into hasher: inout Hasher) {
        var zeros = 0
        for component in IteratorSequence(Components(description)) {
            if component.isZero {
                zeros += 1
                continue
            }
            // Hash zeros only if another component follows them, because `1.0` equals `1`.
            for _ in 0..<zeros { hasher.combine(UInt8(0)) }
            zeros = 0
            for digit in component.digits { hasher.combine(digit) }
            hasher.combine(UInt8(ascii: "."))
        }
    }
}

/// The numeric components of a version's text, without leading zeros.
private struct Components: IteratorProtocol {
    struct Component {
        /// The digits without leading zeros. Empty means zero.
        let digits: Substring.UTF8View

        var isZero: Bool { digits.isEmpty }

        /// Returns a negative number, zero or a positive number, as `compare` does.
        func compared(to other: Component) -> Int {
            let lengths = digits.count - other.digits.count
            if lengths != 0 { return lengths }
            var others = other.digits.makeIterator()
            for digit in digits {
                guard let otherDigit = others.next() else { return 1 }
                if digit != otherDigit { return Int(digit) - Int(otherDigit) }
            }
            return 0
        }
    }

    private var rest: Substring.UTF8View
    private var isDone = false

    init(_ text: String) { rest = Substring(text).utf8 }

    mutating func next() -> Component? {
        guard !isDone else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "."))
        let component = rest[..<(end ?? rest.endIndex)]
        if let end { rest = rest[rest.index(after: end)...] } else { isDone = true }
        return Component(digits: component.drop { $0 == UInt8(ascii: "0") })
    }
}
