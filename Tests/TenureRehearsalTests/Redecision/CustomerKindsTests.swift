import Foundation
import TenureCore
import Testing

@testable import TenureRehearsal

/// The table of the kinds of customers, and the order in which results of tasks are handled.
struct CustomerKindsTests {
    @Test func `kinds of customers with one hash are distinguished by their keys, and found after the table has grown`()
        throws
    {
        let comparison = Comparison(of: try Population.policy(freeFrom: "100"), at: Population.now)
        let customer = try #require(Population.customers(1, seed: 1).first)
        let kind = CustomerKinds.Kind(
            customerEffects: comparison.customerEffects(on: customer.evidence),
            place: RehearsedCustomer(id: customer.id, customer.evidence).place)
        var kinds = CustomerKinds()
        let keys: [[UInt8]] = [[1], [2], [1, 2], [2, 1]]
        for key in keys { key.withUnsafeBytes { kinds.add(kind, as: $0, hash: 7) } }
        func index(of key: [UInt8], hash: UInt64 = 7) -> Int? {
            key.withUnsafeBytes { kinds.index(of: $0, hash: hash) }
        }
        #expect(keys.map { index(of: $0) } == [0, 1, 2, 3])
        #expect(index(of: [3]) == nil && index(of: [1, 2, 1]) == nil && index(of: [1], hash: 8) == nil)
        // The table has 1024 slots in the beginning.
        let more = (0..<2000).map { number in [UInt8(number / 256), UInt8(number % 256), 9] }
        for (number, key) in more.enumerated() {
            key.withUnsafeBytes { kinds.add(kind, as: $0, hash: UInt64(number)) }
        }
        #expect(kinds.count == 2004)
        let found = more.enumerated().filter { number, key in index(of: key, hash: UInt64(number)) == number + 4 }
        #expect(found.count == 2000)
        #expect(keys.map { index(of: $0) } == [0, 1, 2, 3])
        var passed: [[UInt8]] = []
        kinds.forEach { _, _, key, _ in passed.append(Array(key)) }
        #expect(passed == keys + more)
    }

    @Test func `results of tasks on all cores are handled in the order of the tasks`() async throws {
        var next = 0
        var handled: [Int] = []
        func makeNext() -> Int? {
            guard next < 200 else { return nil }
            next += 1
            return next
        }
        func handle(_ number: Int) { handled.append(number) }
        let work = { @Sendable (number: Int) async -> Int in
            // Some tasks take longer than the tasks after them.
            for _ in 0..<(number % 7 * 10) { await Task.yield() }
            return number * 2
        }
        try await inOrder(makeNext: makeNext, work, handle)
        #expect(handled == (1...200).map { $0 * 2 })
    }

    @Test func `if a result can't be handled, no later result is handled`() async throws {
        let (made, handled) = (Locked(0), Locked<[Int]>([]))
        await #expect(throws: RehearsalError.damagedArchive) {
            try await inOrder(
                makeNext: {
                    made.withLock { (count: inout Int) -> Int? in
                        count += 1
                        return count
                    }
                }, { @Sendable (number: Int) async -> Int in number }
            ) { number in
                handled.withLock { $0.append(number) }
                if number == 3 { throw RehearsalError.damagedArchive }
            }
        }
        #expect(handled.withLock { $0 } == [1, 2, 3])
    }
}
