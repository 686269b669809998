import TenureStore
import Testing

@testable import TenurePostgres

/// Which databases share connections, without a server.
@Suite struct `the shared connections of PostgreSQL databases` {
    private func address(_ rest: String) throws -> PostgresAddress { try PostgresAddress("postgres://" + rest) }

    @Test func `databases on the same PostgreSQL servers share connections, in whatever order URLs name the servers`()
        throws
    {
        let budget = PostgresBudget.shared(for: try address("one.test:1,two.test:2/shop"))
        #expect(try PostgresBudget.shared(for: address("two.test:2,one.test:1/games")) === budget)
        for other in ["one.test:1/shop", "one.test:1,two.test:3/shop"] {
            #expect(try PostgresBudget.shared(for: address(other)) !== budget, "\(other)")
        }
    }

    @Test func `schemas of one PostgreSQL database share its connections, but other databases don't`() throws {
        let budget = PostgresBudget.shared(for: try address("schemas.test/shop"))
        let cluster = budget.cluster(for: try address("schemas.test/shop?schema=one"))
        #expect(try budget.cluster(for: address("schemas.test/shop?schema=two&connections=3")) === cluster)
        for other in ["schemas.test/games", "me@schemas.test/shop", "schemas.test/shop?allow_fsync_off=true"] {
            #expect(try budget.cluster(for: address(other)) !== cluster, "\(other)")
        }
    }

    @Test func `a PostgreSQL server's largest limit counts, and each database adds one for look-ups`() throws {
        let budget = PostgresBudget.shared(for: try address("limits.test/shop?connections=4"))
        func limits() -> [Int] { [budget.transactions, budget.lookups].map { $0.usage(ofLane: 0).limit } }
        #expect(limits() == [4, 2])
        for other in ["games?connections=9", "notes?connections=2"] {
            #expect(try PostgresBudget.shared(for: address("limits.test/" + other)) === budget)
        }
        #expect(limits() == [9, 2])
        var clusters: [PostgresCluster] = []
        var lookups: [Int] = []
        for number in 1...9 {
            clusters.append(budget.cluster(for: try address("limits.test/\(number)")))
            lookups.append(limits()[1])
        }
        #expect(lookups == [2, 3, 4, 5, 6, 7, 8, 8, 8])
        #expect(clusters.count == 9)
        let purposes = [budget.transactions, budget.lookups].map { $0.usage(ofLane: 0).purpose }
        #expect(purposes == [.transactions, .lookups])
    }
}
