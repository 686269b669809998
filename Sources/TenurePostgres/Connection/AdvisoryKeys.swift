/// The locks for the keys of a transaction (`LockKey`). The transaction takes them before it reads anything.
/// Transactions with a key in common run one after the other, in all processes that use the database.
///
/// The locks are PostgreSQL's advisory locks, which have numbers. If two keys have the same number, one transaction
/// waits for the other unnecessarily.
struct AdvisoryKeys: Hashable {
    /// The locks' numbers in ascending order, so that two transactions can't deadlock.
    let numbers: [Int64]
    /// The number of a lock that all transactions with keys share. A transaction with more than `maximum` keys holds it
    /// exclusively instead of locking each key.
    let all: Int64
    /// The number of the lock that all writing transactions share; see `writers(in:)`.
    private let writers: Int64

    /// The maximum number of keys that are locked one by one. More locks would fill the server's lock table.
    static let maximum = 64

    init(_ keys: [String], schema: String) {
        numbers = Set(keys.map { Self.number("key", schema, $0) }).sorted()
        all = Self.number("all", schema, "")
        writers = Self.writers(in: schema)
    }

    /// Returns the number of the lock that all writing transactions share. A transaction that must write alone, such as
    /// a migration, holds it exclusively. Each transaction takes this lock first, so that it never waits for it while
    /// it holds a key.
    static func writers(in schema: String) -> Int64 { number("migrations", schema, "") }

    /// The SQL that takes all locks, to append to `BEGIN`. It is a single statement, so that `statement_timeout` limits
    /// the wait for all locks together.
    var statements: String {
        let first = "; SELECT pg_advisory_xact_lock_shared(\(writers))"
        return switch numbers.count {
        case 0: first
        case ...Self.maximum:
            first + ", pg_advisory_xact_lock_shared(\(all))" + numbers.map { ", pg_advisory_xact_lock(\($0))" }.joined()
        default: first + ", pg_advisory_xact_lock(\(all))"
        }
    }

    /// Returns the number of the advisory lock for a key.
    ///
    /// The number is a hash of the kind of lock (`key`, `all` or, for writers, `migrations`), the schema and the key.
    /// The hash is FNV-1a with the final steps of MurmurHash, so that similar keys get very different numbers.
    static func number(_ kind: String, _ schema: String, _ key: String) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "tenure \(kind)\u{0}\(schema)\u{0}\(key)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3 }
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] as [UInt64] {
            hash = (hash ^ (hash >> 33)) &* factor
        }
        return Int64(bitPattern: hash ^ (hash >> 33))
    }
}
