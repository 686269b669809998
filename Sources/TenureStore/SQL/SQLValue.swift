import Foundation

/// The value of a column or a parameter. SQLite and PostgreSQL both have these types.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    // These initializers turn nil into NULL.
    package init(_ number: (some BinaryInteger)?) { self = number.map { .integer(Int64(clamping: $0)) } ?? .null }
    init(_ number: Double?) { self = number.map { .real($0) } ?? .null }
    /// The instant as columns store it: whole milliseconds since 1970.
    init(_ instant: Date?) { self.init(instant?.millisecondsSince1970) }
    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    init(_ bytes: ArraySlice<UInt8>) { self = .blob([UInt8](bytes)) }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(nilLiteral: ()) { self = .null }
}
