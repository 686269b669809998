import TenureCore
import TenureMint
import Testing

@testable import TenureRehearsal

struct TallyTests {
    private static func tally(
        _ customers: [(id: String, evidence: Evidence)], capacity: Int = Cells.standardCapacity
    ) throws -> Tally {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100", alsoNames: "themes"),
            against: try Population.policy(freeFrom: "120", alsoNames: "printing"), at: Population.now)
        var tally = Tally(entitlements: comparison.entitlements, cellCapacity: capacity)
        for customer in customers { comparison.count(customer.evidence, id: customer.id, in: &tally) }
        return tally
    }

    @Test(arguments: [1, 2, 3] as [UInt64], [7, 40, Cells.standardCapacity])
    func `a rehearsal's counts don't depend on the order of customers`(seed: UInt64, capacity: Int) throws {
        var random = SeededRandom(seed: seed)
        let customers = Population.customers(700, seed: seed)
        let whole = try Self.tally(customers, capacity: capacity)
        #expect(whole.customers == 700)
        #expect(whole.losing > 0 && whole.gaining > 0)

        let shuffled = customers.shuffled(using: &random)
        #expect(try Self.tally(shuffled, capacity: capacity) == whole)

        // Parts of any size, merged in any order and grouping.
        var parts: [Tally] = []
        var rest = shuffled[...]
        while !rest.isEmpty {
            let size = Int.random(in: 1...90, using: &random)
            parts.append(try Self.tally(Array(rest.prefix(size)), capacity: capacity))
            rest = rest.dropFirst(size)
        }
        while parts.count > 1 {
            let first = parts.remove(at: Int.random(in: parts.indices, using: &random))
            let second = Int.random(in: parts.indices, using: &random)
            parts[second].add(first)
        }
        #expect(parts.first == whole)
    }

    @Test func `a rehearsal counts every decision once in each table of the report`() throws {
        let tally = try Self.tally(Population.customers(500, seed: 9), capacity: 20)
        for (index, entitlement) in tally.byEntitlement.enumerated() {
            #expect(entitlement.counts.total == 500)
            #expect(entitlement.reasons.values.reduce(0, +) == 500)
            var cells = Counts()
            for counts in tally.cells.counts.values { cells.add(counts[index]) }
            #expect(cells == entitlement.counts)
            for change in Change.allCases where change != .same {
                let sum = entitlement.transitions.filter { $0.key.change == change }.values.reduce(0, +)
                #expect(sum == entitlement.counts[change])
            }
        }
    }

    @Test func `merging the counts of two rehearsal tasks adds customers with every kind of change`() {
        let (owner, newcomer) = (Answer(.granted, reason: .eraHonored), Answer(.denied, reason: .eraNotHonored))
        let limited = Answer(.granted, until: Population.now, reason: .eraHonored)
        let doubtful = Answer(.undetermined, reason: .inDoubt)
        let changes = [
            (owner, limited), (owner, doubtful), (owner, newcomer), (limited, owner), (newcomer, owner),
            (newcomer, doubtful), (owner, Answer(.granted, reason: .product)), (newcomer, newcomer),
        ]
        let effects = changes.map { Effect(entitlement: "everything", now: $1, before: $0) }
        var (whole, merged) = (Counts(), Counts())
        for (index, effect) in effects.enumerated() {
            whole.add(effect, change: effect.change, times: index + 1)
            var part = Counts()
            part.add(effect, change: effect.change, times: index + 1)
            merged.add(part)
        }
        #expect(merged == whole)
        #expect(whole.shortened == 1 && whole.losesToUndetermined == 2 && whole.loses == 6 && whole.gains == 9)
        #expect(whole.changesOutcome == 6 && whole.changesReason == 7 && whole.same == 8)
        #expect(Set(effects.compactMap(\.change)) == Set(Change.allCases))
    }

    @Test func `merging the losses of two rehearsal tasks keeps the removed products and the months of both`() {
        func losses(of product: String?, in month: Month) -> LossGroup {
            var group = LossGroup()
            group.add(Place(platform: .iOS, version: .none, month: month), removing: product, times: 2)
            return group
        }
        let months = ["2014-02-01", "2014-05-01"].map { Month(of: Population.date($0)) }
        for order in [months, months.reversed()] {
            var merged = losses(of: "yearly", in: order[0])
            merged.add(losses(of: "lifetime", in: order[1]))
            merged.add(losses(of: nil, in: order[0]))
            #expect(merged.count == 6 && merged.removedProducts == ["lifetime", "yearly"])
            #expect(merged.months == months[0]...months[1])
        }
    }

    @Test func `a rehearsal with too many versions combines them in one row, and counts months exactly`() throws {
        let customers = Population.customers(2000, seed: 5)
        let full = try Self.tally(customers)
        let small = try Self.tally(customers, capacity: 30)
        #expect(full.cells.level == 0)
        #expect(small.cells.counts.keys.count { if case .version = $0.version { true } else { false } } <= 30)
        func months(_ tally: Tally) -> [Month: Int] {
            tally.cells.counts.reduce(into: [:]) { $0[$1.key.month, default: 0] += $1.value[0].total }
        }
        #expect(months(full) == months(small))
    }

    @Test func `a rehearsal keeps up to 100 examples of customers who lose, and 10 of granted customers`() throws {
        let tally = try Self.tally(Population.customers(3000, seed: 2))
        let everything = tally.byEntitlement[0]
        let losers = try #require(everything.examples[.change(.loses)])
        #expect(losers.all.count == min(100, everything.counts.loses))
        #expect(losers.all.allSatisfy { $0.before?.outcome == .granted && $0.now.outcome != .granted })
        #expect(everything.examples[.outcome(.granted)]?.all.count == 10)
    }
}
