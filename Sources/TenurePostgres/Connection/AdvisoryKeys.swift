/// The locks that a transaction takes before it reads anything. Transactions with a key in common run one after the
/// other, in all processes that use the database.
///
/// PostgreSQL identifies a lock by a number. If two keys have the same number, one transaction waits for the other
/// unnecessarily.
struct AdvisoryKeys: Hashable {
    /// The locks' numbers in ascending order, so that two transactions can't deadlock.
    let numbers: [Int64]
    /// A lock that all transactions with keys share, and that a transaction with too many keys holds exclusively.
    let all: Int64
    /// See `writers(in:)`.
    private let writers: Int64

    /// The maximum number of locks. More locks would fill the server's lock table, so the exclusive lock replaces them.
    static let maximum = 64

    init(_ keys: [String], schema: String) {
        let numbers = Set(keys.map { Self.number("key", schema, $0) })
        self.numbers = numbers.sorted()
        all = Self.number("all", schema, "")
        writers = Self.writers(in: schema)
    }

    /// The lock that all transactions that write share, and that a migration holds exclusively. A transaction takes
    /// this lock first, so that it doesn't wait for the lock while it holds a key.
    static func writers(in schema: String) -> Int64 { number("migrations", schema, "") }

    /// The statement after `BEGIN` that takes all locks: one statement, so that `statement_timeout` limits the wait for
    /// all locks together.
    var statements: String {
        let first = "; SELECT pg_advisory_xact_lock_shared(\(writers))"
        return switch numbers.count {
        case 0: first
        case ...Self.maximum:
            first + ", pg_advisory_xact_lock_shared(\(all))"
                + numbers.map { ", pg_advisory_xact_lock(\($0))" }.joined()
        default: first + ", pg_advisory_xact_lock(\(all))"
        }
    }

    /// Returns the number of the PostgreSQL advisory lock for a key.
    ///
    /// The number is a hash of the kind, the schema and the key: FNV-1a with the final steps of MurmurHash, so that
    /// similar keys get very different numbers.
    static func number(_ kind: String, _ schema: String, _ key: String) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "tenure \(kind)\u{0}\(schema)\u{0}\(key)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3 }
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] as [UInt64] {
            hash = (hash ^ (hash >> 33)) &* factor
        }
        return Int64(bitPattern: hash ^ (hash >> 33))
    }
}
