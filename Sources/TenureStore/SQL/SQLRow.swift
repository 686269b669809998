package import Foundation

/// A row of a result, read by the positions of its columns, from 0.
///
/// A column with an unexpected type throws `StoreError.damaged`. So does NULL, except in the methods with `IfPresent`,
/// which return nil for it, and in `json` and `detail`.
package struct SQLRow: Sendable, Hashable {
    package let values: [SQLValue]

    package init(_ values: [SQLValue]) { self.values = values }

    package func integer(_ column: Int) throws(StoreError) -> Int64 {
        guard let value = try integerIfPresent(column) else { throw damaged(column) }
        return value
    }

    /// The number in a column as an `Int`, such as a count.
    func count(_ column: Int) throws(StoreError) -> Int { Int(clamping: try integer(column)) }

    package func text(_ column: Int) throws(StoreError) -> String {
        guard let value = try textIfPresent(column) else { throw damaged(column) }
        return value
    }

    package func bytes(_ column: Int) throws(StoreError) -> [UInt8] {
        guard let value = try bytesIfPresent(column) else { throw damaged(column) }
        return value
    }

    func bytesIfPresent(_ column: Int) throws(StoreError) -> [UInt8]? { try read(column) { $0.blobValue } }

    /// The value of a column that stores a time as whole milliseconds since 1970.
    func instant(_ column: Int) throws(StoreError) -> Date { Date(millisecondsSince1970: try integer(column)) }

    func integerIfPresent(_ column: Int) throws(StoreError) -> Int64? { try read(column) { $0.integerValue } }

    /// The value of a column of real numbers, in which SQLite may return a whole number as an integer.
    func numberIfPresent(_ column: Int) throws(StoreError) -> Double? {
        try read(column) { $0.realValue ?? $0.integerValue.map { Double($0) } }
    }

    func textIfPresent(_ column: Int) throws(StoreError) -> String? { try read(column) { $0.textValue } }

    func instantIfPresent(_ column: Int) throws(StoreError) -> Date? {
        try integerIfPresent(column).map { Date(millisecondsSince1970: $0) }
    }

    /// Converts the number in a column to a value, such as a kind of identity. Throws `damaged` for an unknown number.
    ///
    /// - Parameters:
    ///   - what: the name for such values in the error message, such as `kind of identity`.
    ///   - decode: returns the value with this number; nil for an unknown number.
    func codedValue<Value>(_ column: Int, _ what: String, _ decode: (UInt8) -> Value?) throws(StoreError) -> Value {
        let code = try integer(column)
        if let byte = UInt8(exactly: code), let value = decode(byte) { return value }
        throw .damaged("a row has the unknown \(what) \(code)")
    }

    /// Converts the name in a column to a value. Throws `damaged` for an unknown name.
    ///
    /// - Parameter problem: the beginning of the error message, before the name: `an event has the unknown kind`.
    func namedValue<Value: RawRepresentable<String>>(_ column: Int, _ problem: String) throws(StoreError) -> Value {
        let name = try text(column)
        guard let value = Value(rawValue: name) else { throw .damaged("\(problem) `\(name)`") }
        return value
    }

    /// Decodes the JSON in a column; nil for NULL. `problem` is the error for invalid JSON.
    func json<Value: Decodable>(_ column: Int, _ problem: String) throws(StoreError) -> Value? {
        guard let text = try textIfPresent(column) else { return nil }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw .damaged(problem)
        }
    }

    /// Decodes the column `detail` of an event, or of an entry of the audit trail; empty for NULL.
    func detail(_ column: Int) throws(StoreError) -> [String: String] {
        try json(column, "the detail of an event or an audit entry isn't a JSON object with string values") ?? [:]
    }

    /// Reads a column; nil for NULL. `convert` returns nil for a value of an unexpected type.
    private func read<Value>(_ column: Int, _ convert: (SQLValue) -> Value?) throws(StoreError) -> Value? {
        let value = try value(column)
        if case .null = value { return nil }
        guard let found = convert(value) else { throw damaged(column) }
        return found
    }

    private func value(_ column: Int) throws(StoreError) -> SQLValue {
        guard values.indices.contains(column) else { throw damaged(column) }
        return values[column]
    }

    private func damaged(_ column: Int) -> StoreError {
        .damaged("column \(column + 1) of a row has an unexpected type or value")
    }
}

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

    // The value if it has this type; otherwise nil.
    fileprivate var integerValue: Int64? { if case .integer(let number) = self { number } else { nil } }
    fileprivate var realValue: Double? { if case .real(let number) = self { number } else { nil } }
    fileprivate var textValue: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var blobValue: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(nilLiteral: ()) { self = .null }
}

extension Date {
    /// The date rounded to whole milliseconds, as columns store it.
    package var toMillisecond: Date { Date(millisecondsSince1970: millisecondsSince1970) }

    /// The date as a column stores it.
    package var millisecondsSince1970: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        // Limits dates to a range in which a Double counts milliseconds exactly.
        return milliseconds.isNaN ? 0 : Int64(min(max(milliseconds, -9e15), 9e15))
    }

    package init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
