import Testing

@testable import TenurePostgres

/// Which prepared statements a connection keeps, without a server.
@Suite struct `the cache of prepared statements` {
    @Test func `a prepared statement is reused for the same text and types, and NULL has any type`() {
        var cache = StatementCache()
        let names = [cache.newName(), cache.newName()]
        #expect(names == ["tenure1", "tenure2"])
        let evicted = [
            cache.insert(names[0], for: "a", types: [20, 25]), cache.insert(names[1], for: "a", types: [25, 25]),
        ]
        #expect(evicted == [nil, nil])
        let found = [
            cache.name(for: "a", types: [20, 25]), cache.name(for: "a", types: [25, 25]),
            cache.name(for: "a", types: [20, 0]), cache.name(for: "a", types: [25, 0]),
        ]
        #expect(found == ["tenure1", "tenure2", "tenure1", "tenure2"])
        let others = [
            cache.name(for: "a", types: [20]), cache.name(for: "a", types: [20, 17]), cache.name(for: "a", types: []),
            cache.name(for: "b", types: [20, 25]),
        ]
        #expect(others == [nil, nil, nil, nil])
    }

    @Test func `the prepared statement that wasn't used for longest makes room for a new one`() {
        var cache = StatementCache()
        var evicted: [String?] = []
        func insert(_ key: String) {
            let name = cache.newName()
            evicted.append(cache.insert(name, for: key, types: []))
        }
        for number in 1...256 { insert("\(number)") }
        #expect(evicted.allSatisfy { $0 == nil })
        // The oldest statement is used again.
        let first = cache.name(for: "1", types: [])
        #expect(first == "tenure1")
        insert("257")
        insert("258")
        #expect(Array(evicted.suffix(2)) == ["tenure2", "tenure3"])
        let kept = ["1", "2", "3", "4", "258"].map { cache.name(for: $0, types: []) }
        #expect(kept == ["tenure1", nil, nil, "tenure4", "tenure258"])

        cache.removeAll()
        let removed = cache.name(for: "1", types: [])
        #expect(removed == nil)
        // The cache has room again, and names aren't used twice.
        insert("1")
        #expect(evicted.last == .some(nil))
        let renewed = cache.name(for: "1", types: [])
        #expect(renewed == "tenure259")
    }
}
