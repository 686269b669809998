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

    init(_ values: [SQLValue]) throws(PostgresFailure) {
        for value in values { try append(value) }
    }

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
            guard !text.utf8.contains(0) else {
                throw PostgresFailure(.failed("a string contains a NUL character, which PostgreSQL can't store"))
            }
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

    /// PostgreSQL's limit for one value.
    private static let maximumValue = 0x3fff_ffff

    private mutating func append(_ type: Oid, _ value: some Collection<UInt8>) throws(PostgresFailure) {
        guard value.count < Self.maximumValue - bytes.count else {
            throw PostgresFailure(.failed("a value has \(value.count) bytes; PostgreSQL's limit is 1 GB"))
        }
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
            return pointers.withUnsafeBufferPointer { pointers in
                lengths.withUnsafeBufferPointer { lengths in
                    formats.withUnsafeBufferPointer { formats in
                        body(pointers.baseAddress, lengths.baseAddress, formats.baseAddress)
                    }
                }
            }
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

/// The object IDs of types, from PostgreSQL's `pg_type.dat`. They never change.
enum PostgresType {
    static let bool: Oid = 16
    static let bytea: Oid = 17
    static let name: Oid = 19
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25
    static let oid: Oid = 26
    static let float4: Oid = 700
    static let float8: Oid = 701
    static let int8Array: Oid = 1016
    static let varchar: Oid = 1043
    /// The type of sums of integers.
    static let numeric: Oid = 1700
    static let void: Oid = 2278
}
