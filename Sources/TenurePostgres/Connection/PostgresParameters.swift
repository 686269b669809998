import CLibPQ
import TenureStore

/// The parameters of a statement in PostgreSQL's binary format, in one block of memory.
struct PostgresParameters {
    private var bytes: [UInt8] = []
    /// Where each value begins in `bytes`; nil for NULL.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    /// The object IDs of the types; 0 for NULL, which lets the server choose the type.
    private(set) var types: [Oid] = []

    init() {}

    init(_ values: [SQLValue]) throws(PostgresFailure) { for value in values { try append(value) } }

    /// Appends one value in PostgreSQL's binary format.
    mutating func append(_ value: SQLValue) throws(PostgresFailure) {
        switch value {
        case .null:
            offsets.append(nil)
            lengths.append(0)
            types.append(0)
        case .integer(let number): append(number)
        case .real(let number): append(PostgresType.float8, 8) { $0.appendBigEndian(number.bitPattern) }
        case .text(let text):
            guard !text.utf8.contains(0)
            else { throw PostgresFailure(.failed("a string contains a NUL character, which PostgreSQL can't store")) }
            try append(PostgresType.text, text.utf8)
        case .blob(let blob): try append(PostgresType.bytea, blob)
        }
    }

    mutating func append(_ number: Int64) {
        append(PostgresType.int8, 8) { $0.appendBigEndian(UInt64(bitPattern: number)) }
    }

    /// Appends one array of 8-byte integers.
    mutating func append(_ numbers: some Collection<Int64>) {
        append(PostgresType.int8Array, 20 + 12 * numbers.count) { bytes in
            // One dimension, no NULLs, type int8, the count, lower bound 1.
            for word in [1, 0, PostgresType.int8, UInt32(truncatingIfNeeded: numbers.count), 1] {
                bytes.appendBigEndian(word)
            }
            for number in numbers {
                bytes.appendBigEndian(UInt32(8))
                bytes.appendBigEndian(UInt64(bitPattern: number))
            }
        }
    }

    /// The maximum size of all values together, in bytes: PostgreSQL accepts no larger message.
    private static let maximumSize = 0x3fff_ffff

    private mutating func append(_ type: Oid, _ value: some Collection<UInt8>) throws(PostgresFailure) {
        guard value.count < Self.maximumSize - bytes.count
        else { throw PostgresFailure(.failed("a value has \(value.count) bytes; PostgreSQL's limit is 1 GB")) }
        append(type, value.count) { $0.append(contentsOf: value) }
    }

    private mutating func append(_ type: Oid, _ length: Int, _ write: (inout [UInt8]) -> Void) {
        offsets.append(bytes.count)
        lengths.append(Int32(truncatingIfNeeded: length))
        types.append(type)
        write(&bytes)
    }

    /// Calls `body` with libpq's arguments: pointers, lengths and formats. The pointers are valid until `body` returns.
    func withPointers<Value>(
        _ body: (
            _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> Value
    ) -> Value {
        let formats = [Int32](repeating: 1, count: lengths.count)
        // An empty array may have no address, but an empty string must not be NULL. So one byte is appended.
        return (bytes + [0]).withUnsafeBytes { bytes in
            let start = bytes.bindMemory(to: CChar.self).baseAddress
            let pointers: [UnsafePointer<CChar>?] = offsets.map { offset in
                offset.flatMap { offset in start.map { $0 + offset } }
            }
            return body(pointers, lengths, formats)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian<Number: FixedWidthInteger>(_ number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}
