import Foundation
import TenureAppStore
import TenureJSON

/// Reads members of a JSON object as values. Each method returns nil, or an empty array, if the object has no member
/// with this name and of this kind.
extension JSONObject {
    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

    /// The digits, as written.
    func number(_ name: String) -> String? { if case .number(let digits)? = self[name] { digits } else { nil } }

    func integer(_ name: String) -> Int? { number(name).flatMap { Int($0) } }

    func flag(_ name: String) -> Bool? { if case .boolean(let flag)? = self[name] { flag } else { nil } }

    /// Reads an instant in milliseconds since 1970. Nil for instants more than 100,000,000 days before or after 1970.
    func date(_ name: String) -> Date? {
        guard let milliseconds = number(name).flatMap(Double.init), abs(milliseconds) <= 8.64e15 else { return nil }
        return Date(timeIntervalSince1970: milliseconds.rounded() / 1000)
    }

    /// Reads an amount in thousandths.
    func amount(_ name: String) -> Decimal? {
        guard let milliunits = number(name).flatMap({ Int64($0) }) else { return nil }
        return Decimal(milliunits: milliunits)
    }

    func uuid(_ name: String) -> UUID? { text(name).flatMap(UUID.init(uuidString:)) }

    func object(_ name: String) -> JSONObject? { if case .object(let object)? = self[name] { object } else { nil } }

    func objects(_ name: String) -> [JSONObject] {
        guard case .array(let elements)? = self[name] else { return [] }
        return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
    }

    func texts(_ name: String) -> [String] {
        guard case .array(let elements)? = self[name] else { return [] }
        return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}

extension Decimal {
    init(milliunits: Int64) {
        self.init(sign: milliunits < 0 ? .minus : .plus, exponent: -3, significand: Decimal(milliunits.magnitude))
    }
}
