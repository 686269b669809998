import Foundation
import TenureAppStore
import TenureJSON

/// Reads members of a signed payload as values. Each method returns nil if the payload has no member with this name and
/// of this kind.
extension JSONObject {
    /// Reads an instant in milliseconds since 1970. Nil for numbers beyond `Date.maximumMilliseconds`.
    func date(_ name: String) -> Date? {
        guard let milliseconds = number(name).flatMap(Double.init), abs(milliseconds) <= Date.maximumMilliseconds
        else { return nil }
        return Date(timeIntervalSince1970: milliseconds.rounded() / 1000)
    }

    /// Reads an amount of money, which the payload has in thousandths of the currency's unit.
    func amount(_ name: String) -> Decimal? {
        number(name).flatMap { Int64($0) }.map { thousandths in
            Decimal(sign: thousandths < 0 ? .minus : .plus, exponent: -3, significand: Decimal(thousandths.magnitude))
        }
    }

    func uuid(_ name: String) -> UUID? { text(name).flatMap(UUID.init(uuidString:)) }
}
