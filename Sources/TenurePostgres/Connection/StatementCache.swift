import CLibPQ

/// The statements that were prepared on one connection, by key (schema and text) and types of the parameters.
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

    /// The statements by key, one for each list of parameter types.
    private var statements: [String: [Statement]] = [:]
    /// The number of statements.
    private var count = 0
    /// How many times statements were used or added.
    private var uses = 0
    /// How many names `newName` has returned.
    private var names = 0
    /// The maximum number of statements. When it is reached, the statement that wasn't used for longest is removed.
    private static let limit = 256

    /// Returns the name of the statement for parameters of these types; nil if it isn't prepared yet. The type 0 (NULL)
    /// fits every type. Counts a use of the statement.
    mutating func name(for key: String, types: [Oid]) -> String? {
        guard
            let index = statements[key]?.firstIndex(where: { statement in
                statement.types.count == types.count && zip(statement.types, types).allSatisfy { $1 == 0 || $0 == $1 }
            })
        else { return nil }
        uses += 1
        statements[key]?[index].lastUse = uses
        return statements[key]?[index].name
    }

    /// Returns a name that was never used.
    mutating func newName() -> String {
        names += 1
        return "tenure\(names)"
    }

    /// Adds a statement. Returns the name of a removed statement, which must be deallocated on the server; nil if none
    /// was removed.
    mutating func insert(_ name: String, for key: String, types: [Oid]) -> String? {
        var evicted: String?
        if count >= Self.limit { evicted = removeOldest() }
        uses += 1
        count += 1
        statements[key, default: []].append(Statement(name: name, types: types, lastUse: uses))
        return evicted
    }

    mutating func removeAll() {
        statements = [:]
        count = 0
    }

    private mutating func removeOldest() -> String? {
        let all = statements.flatMap { key, variants in variants.map { (key: key, statement: $0) } }
        guard let (key, oldest) = all.min(by: { $0.statement.lastUse < $1.statement.lastUse }) else { return nil }
        statements[key]?.removeAll { $0.name == oldest.name }
        if statements[key]?.isEmpty == true { statements[key] = nil }
        count -= 1
        return oldest.name
    }
}
