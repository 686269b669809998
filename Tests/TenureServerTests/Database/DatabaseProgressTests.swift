import Foundation
import TenureAppStore
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the progress of work on a whole database` {
    @Test func `checks, dumps and rebuilds report their progress up to the number of all customers`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let (total, living, artifacts) = try await store.database.read { session throws(StoreError) in
                (
                    try session.row("SELECT count(*) FROM customers")?.integer(0) ?? 0,
                    try session.row("SELECT count(*) FROM customers WHERE merged_into IS NULL")?.integer(0) ?? 0,
                    try session.row("SELECT count(*) FROM artifacts")?.integer(0) ?? 0
                )
            }
            #expect(living > 15)
            let trust = try DatabaseTestBed.trust()
            let whole = (1...total).map { [$0, total] }

            let checked = Collected<[Int64]>()
            let check = try await DatabaseCheck.run(
                on: store, trust: trust, progress: { checked.append([$0, $1]) }, report: { _ in })
            #expect(checked.all == whole && check.customers == total && check.findings == 0)
            #expect(Int64(check.artifacts) == artifacts && artifacts > 15)

            let dumped = Collected<[Int64]>()
            let lines = Collected<[UInt8]>()
            let count = try await DatabaseDump.write(
                of: store, progress: { dumped.append([$0, $1]) }, to: { lines.append($0) })
            #expect(dumped.all == whole)
            #expect(lines.all.joined().count { $0 == UInt8(ascii: "\n") } == count)

            let rebuilt = Collected<[Int64]>()
            let outcome = try await DatabaseRebuild.run(
                on: store, trust: trust, isTrial: true, progress: { rebuilt.append([$0, $1]) }, report: { _ in })
            // One batch has up to 64 customers.
            #expect(rebuilt.all == [[total, total]])
            #expect(outcome == .init(customers: living, changed: 0, failed: 0))
        }
    }
}
