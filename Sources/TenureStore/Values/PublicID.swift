package import Foundation

/// The ids that the world sees: what they name, an underscore, and 24 letters and digits, none of which looks like
/// another.
package enum PublicID: String {
    case customer = "cus_"
    case event = "evt_"
    case persona = "per_"
    case rehearsal = "reh_"

    // In the order of their bytes, so that texts sort as the numbers do that they spell.
    private static let alphabet = Array("23456789abcdefghijkmnpqrstuvwxyz".utf8)
    private static let size = 24
    private static let instantSize = 9

    /// 120 random bits.
    package func random() -> String { text(beginning: []) }

    /// 45 bits of the instant in milliseconds, then 75 random ones. An index of them grows at its end, where one of
    /// random ids would be written all over (ADR 30). An instant before 1970 counts as that,
    /// and after the year 3084 the order begins again.
    package func ordered(at instant: Date) -> String {
        let milliseconds = UInt64(max(0, instant.millisecondsSince1970))
        return text(
            beginning: (1...Self.instantSize).map { place in
                Self.alphabet[Int(milliseconds >> UInt64(5 * (Self.instantSize - place)) & 31)]
            })
    }

    /// Whether a text has the form of one of these.
    package func names(_ text: String) -> Bool {
        text.hasPrefix(rawValue) && text.utf8.count == rawValue.utf8.count + Self.size
            && text.utf8.dropFirst(rawValue.utf8.count).allSatisfy(Self.alphabet.contains)
    }

    private func text(beginning: [UInt8]) -> String {
        var text = Array(rawValue.utf8) + beginning
        var missing = Self.size - beginning.count
        while missing > 0 {
            // Each draw asks the system, and holds twelve letters.
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
