import Foundation

/// A public ID: a prefix for its kind, an underscore, and 24 letters and digits that can't be mistaken for each other.
package enum PublicID: String {
    case customer = "cus_"
    case event = "evt_"
    case persona = "per_"
    case rehearsal = "reh_"

    /// The letters and digits of an ID, sorted by byte value, so that IDs sort like the numbers that they encode.
    private static let alphabet = Array("23456789abcdefghijkmnpqrstuvwxyz".utf8)
    /// The number of characters after the prefix.
    private static let size = 24
    /// How many of these characters encode the instant in an ID from `ordered`, five bits each.
    private static let instantSize = 9

    /// Returns an ID of 120 random bits.
    package func random() -> String { text(beginning: []) }

    /// Returns an ID of 45 bits for the instant in milliseconds since 1970, then 75 random bits. A database's index of
    /// such IDs grows at its end, while an index of random IDs is written at random positions
    /// (Docs/adr/0030-customer-ids.md). Instants before 1970 count as 1970. After the year 3084, the order begins
    /// again.
    func ordered(at instant: Date) -> String {
        let milliseconds = UInt64(max(0, instant.millisecondsSince1970))
        return text(
            beginning: (1...Self.instantSize).map { place in
                Self.alphabet[Int(milliseconds >> UInt64(5 * (Self.instantSize - place)) & 31)]
            })
    }

    /// Whether a string has the form of an ID of this kind.
    package func matches(_ text: String) -> Bool {
        text.hasPrefix(rawValue) && text.utf8.count == rawValue.utf8.count + Self.size
            && text.utf8.dropFirst(rawValue.utf8.count).allSatisfy(Self.alphabet.contains)
    }

    /// Returns the prefix, these letters, and random letters up to the size of an ID.
    private func text(beginning: [UInt8]) -> String {
        var text = Array(rawValue.utf8) + beginning
        var missing = Self.size - beginning.count
        while missing > 0 {
            // Each random number is a system call, and gives twelve letters.
            var random = UInt64.random(in: .min ... .max)
            for _ in 0..<min(missing, 12) {
                text.append(Self.alphabet[Int(random & 31)])
                random >>= 5
            }
            missing -= 12
        }
        return String(decoding: text, as: UTF8.self)
    }
}
