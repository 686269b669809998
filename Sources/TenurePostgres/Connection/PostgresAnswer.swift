import CLibPQ
import TenureStore

/// The server's answer to one statement, in the memory of libpq, PostgreSQL's C library. The memory is freed with this
/// object. Use the object only on the dispatch queue of its connection (`PostgresWorker`).
final class PostgresAnswer {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var status: ExecStatusType { PQresultStatus(result) }
    var rowCount: Int { Int(PQntuples(result)) }
    /// The command tag, such as `COMMIT` or `INSERT 0 1`.
    var command: String { String(cString: PQcmdStatus(result)) }
    /// The number of changed rows.
    var changes: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The server's SQLSTATE and message; nil without an error.
    var serverError: (state: String, message: String)? {
        guard let state = PQresultErrorField(result, Self.sqlState) else { return nil }
        let message = PQresultErrorField(result, Self.primaryMessage).map { String(cString: $0) }
        return (String(cString: state), message ?? "")
    }

    // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY. Swift doesn't import these macros.
    private static let sqlState = Int32(UInt8(ascii: "C"))
    static let primaryMessage = Int32(UInt8(ascii: "M"))

    /// The type of a parameter, if this is the answer to `PQsendDescribePrepared`.
    func parameterType(_ index: Int) -> Oid { PQparamtype(result, Int32(truncatingIfNeeded: index)) }

    /// Copies all rows out of libpq's memory.
    func rows() throws(PostgresFailure) -> [SQLRow] {
        let columns = Int(PQnfields(result))
        var rows: [SQLRow] = []
        rows.reserveCapacity(rowCount)
        for row in 0..<rowCount {
            var values: [SQLValue] = []
            values.reserveCapacity(columns)
            for column in 0..<columns { values.append(try value(row, column)) }
            rows.append(SQLRow(values))
        }
        return rows
    }

    /// The bytes of a column, valid as long as this object; nil for NULL, and for a row or column that doesn't exist.
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
        guard (0..<PQntuples(result)).contains(row), (0..<PQnfields(result)).contains(column),
            PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column)
        else { return nil }
        return UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
    }

    /// The value of a column of the type `int8` (8 bytes); nil for NULL and for other types.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        guard PQftype(result, Int32(truncatingIfNeeded: column)) == PostgresType.int8 else { return nil }
        return bytes(row, column)?.bigEndian(Int64.self)
    }

    /// Decodes a column from PostgreSQL's binary format.
    private func value(_ row: Int, _ column: Int) throws(PostgresFailure) -> SQLValue {
        guard let bytes = bytes(row, column) else { return .null }
        let type = PQftype(result, Int32(truncatingIfNeeded: column))
        let value: SQLValue?
        switch type {
        case PostgresType.int8: value = bytes.bigEndian(Int64.self).map { .integer($0) }
        case PostgresType.int4: value = bytes.bigEndian(Int32.self).map { .integer(Int64($0)) }
        case PostgresType.int2: value = bytes.bigEndian(Int16.self).map { .integer(Int64($0)) }
        case PostgresType.oid: value = bytes.bigEndian(UInt32.self).map { .integer(Int64($0)) }
        case PostgresType.bool: value = bytes.bigEndian(UInt8.self).map { .integer($0 == 0 ? 0 : 1) }
        case PostgresType.numeric: value = bytes.wholeNumeric.map { .integer($0) }
        case PostgresType.float8: value = bytes.bigEndian(UInt64.self).map { .real(Double(bitPattern: $0)) }
        case PostgresType.float4: value = bytes.bigEndian(UInt32.self).map { .real(Double(Float(bitPattern: $0))) }
        case PostgresType.text, PostgresType.varchar, PostgresType.name:
            value = .text(String(decoding: bytes, as: UTF8.self))
        case PostgresType.bytea: value = .blob([UInt8](bytes))
        case PostgresType.void: value = .null
        default: throw PostgresFailure(.defect("a result has a column with the unknown type \(type)"))
        }
        guard let value else {
            throw PostgresFailure(.damaged("column \(column + 1) of a row has a value that doesn't match its type"))
        }
        return value
    }
}

extension UnsafeRawBufferPointer {
    /// All bytes as one big-endian number; nil for another length.
    fileprivate func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type) -> Number? {
        guard count * 8 == Number.bitWidth else { return nil }
        return Number(bigEndian: loadUnaligned(as: Number.self))
    }

    /// The value of a `numeric`; nil if it isn't a whole number that fits into 64 bits. PostgreSQL's `numeric_send`
    /// writes words of 16 bits: the number of digits, the weight of the first digit, the sign, the scale, and the
    /// digits to the base of 10,000. The weight is the digit's power of 10,000. The sign is 0 for a positive number,
    /// and 0x4000 for a negative one.
    fileprivate var wholeNumeric: Int64? {
        guard count >= 8, count.isMultiple(of: 2) else { return nil }
        let words = stride(from: 0, to: count, by: 2).map {
            Int16(bigEndian: loadUnaligned(fromByteOffset: $0, as: Int16.self))
        }
        let (weight, digits) = (Int(words[1]), words[4...])
        guard Int(words[0]) == digits.count, weight < 5, digits.count <= weight + 1 || digits.isEmpty
        else { return nil }
        let isNegative = words[2] == 0x4000
        guard isNegative || words[2] == 0 else { return nil }
        var number: Int64 = 0
        for position in 0..<(digits.isEmpty ? 0 : weight + 1) {
            let digit = position < digits.count ? Int64(digits[digits.startIndex + position]) : 0
            let (product, overflow) = number.multipliedReportingOverflow(by: 10_000)
            let (next, carry) = product.addingReportingOverflow(isNegative ? -digit : digit)
            guard (0..<10_000).contains(digit), !overflow, !carry else { return nil }
            number = next
        }
        return number
    }
}
