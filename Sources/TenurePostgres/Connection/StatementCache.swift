import CLibPQ

/// The statements that were prepared on one connection, by their text and the types of their parameters.
///
/// The number of statements is limited, because the server keeps the plan of each statement in memory.
struct StatementCache {
    struct Statement {
        /// The name under which the server knows the statement.
        let name: String
        fileprivate let types: [Oid]
        /// The value of `uses` after the last use.
        fileprivate var lastUse: Int
    }

    /// The statements by schema and text, one for each list of parameter types.
    private var statements: [String: [Statement]] = [:]
    /// The number of statements.
    private var count = 0
    /// How many times statements were used or added.
    private var uses = 0
    /// How many names `newName` has returned.
    private var names = 0
    /// The maximum number of statements. When it is reached, the statement that wasn't used for longest is removed.
    private static let limit = 256

    /// The name of the statement for parameters of these types; nil if it isn't prepared yet. The type 0 (NULL) fits
    /// every type.
    mutating func name(for sql: String, types: [Oid]) -> String? {
        guard
            let index = statements[sql]?.firstIndex(where: { statement in
                statement.types.count == types.count && zip(statement.types, types).allSatisfy { $1 == 0 || $0 == $1 }
            })
        else { return nil }
        uses += 1
        statements[sql]?[index].lastUse = uses
        return statements[sql]?[index].name
    }

    /// A name that was never used.
    mutating func newName() -> String {
        names += 1
        return "tenure\(names)"
    }

    /// Adds a statement. Returns the name of a removed statement, which must be deallocated on the server; nil if none
    /// was removed.
    mutating func insert(_ name: String, for sql: String, types: [Oid]) -> String? {
        var evicted: String?
        if count >= Self.limit { evicted = removeOldest() }
        uses += 1
        count += 1
        statements[sql, default: []].append(Statement(name: name, types: types, lastUse: uses))
        return evicted
    }

    mutating func removeAll() {
        statements = [:]
        count = 0
    }

    private mutating func removeOldest() -> String? {
        let all = statements.flatMap { sql, variants in variants.map { (sql: sql, statement: $0) } }
        guard let (sql, oldest) = all.min(by: { $0.statement.lastUse < $1.statement.lastUse }) else { return nil }
        statements[sql]?.removeAll { $0.name == oldest.name }
        if statements[sql]?.isEmpty == true { statements[sql] = nil }
        count -= 1
        return oldest.name
    }
}
