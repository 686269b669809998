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

    private static let owner = Answer(.granted, reason: .eraHonored)
    private static let newcomer = Answer(.denied, reason: .eraNotHonored)
    private static let buyer = Answer(.granted, reason: .product)
    private static let doubtful = Answer(.undetermined, reason: .inDoubt)

    private static func place(_ platform: Platform?) -> Place {
        Place(platform: platform, version: .none, month: .unknown)
    }

    @Test func `a customer who gains one entitlement and loses another is in both numbers, and once among the changed`()
    {
        func tally(_ changes: (before: Answer, now: Answer)..., keeping kept: Bool = false) -> Tally {
            let names = changes.indices.map { "entitlement\($0)" }
            let effects = zip(names, changes).map { Effect(entitlement: $0, now: $1.now, before: $1.before) }
            var tally = Tally(entitlements: names)
            tally.add(
                CustomerEffects(
                    ifPromisesEnd: effects, ifPromisesAreKept: kept ? [] : effects, hasContradictingProofs: kept,
                    productsWithoutEntitlement: []), in: Self.place(.iOS), times: 3)
            return tally
        }
        func numbers(_ tally: Tally) -> [Int] {
            [tally.customers, tally.gaining, tally.losing, tally.changed, tally.changingReason]
        }
        let (gain, loss) = ((before: Self.newcomer, now: Self.owner), (before: Self.owner, now: Self.newcomer))
        let (reason, same) = ((before: Self.owner, now: Self.buyer), (before: Self.owner, now: Self.owner))
        #expect(numbers(tally(gain, loss)) == [3, 3, 3, 3, 0])
        #expect(numbers(tally(reason, same)) == [3, 0, 0, 0, 3])
        #expect(numbers(tally(reason, gain)) == [3, 3, 0, 3, 0])
        #expect(numbers(tally(same, same)) == [3, 0, 0, 0, 0])
        #expect(tally(loss).losingWithPromises == 3 && tally(loss).contradicting == 0)
        #expect(tally(loss, keeping: true).losingWithPromises == 0 && tally(loss, keeping: true).contradicting == 3)
    }

    @Test func `the reasons of a rehearsal are sorted by their number of customers, then by outcome and reason`() {
        var tally = EntitlementTally()
        for now in [Self.doubtful, Self.buyer, Self.owner, Answer(.denied, reason: .noPurchase), Self.newcomer] {
            tally.add(Effect(entitlement: "a", now: now, before: nil), change: nil, in: Self.place(.iOS), times: 2)
        }
        let promised = Effect(entitlement: "a", now: Answer(.granted, reason: .promise), before: nil)
        tally.add(promised, change: nil, in: Self.place(.iOS), times: 3)
        #expect(
            tally.sortedReasons.map { "\($0.key.outcome.rawValue) \($0.key.reason.name) \($0.count)" } == [
                "granted promise 3", "denied eraNotHonored 2", "denied noPurchase 2", "granted eraHonored 2",
                "granted product 2", "undetermined inDoubt 2",
            ])
    }

    @Test func `the changes of a rehearsal are sorted by their kind before their number, and losses by platform too`() {
        var tally = EntitlementTally()
        func add(_ before: Answer, _ now: Answer, on platform: Platform? = .iOS, times: Int) {
            let effect = Effect(entitlement: "a", now: now, before: before)
            tally.add(effect, change: effect.change, in: Self.place(platform), times: times)
        }
        add(Self.owner, Self.buyer, times: 9)
        add(Self.newcomer, Self.doubtful, times: 5)
        add(Self.newcomer, Self.owner, times: 4)
        for platform in [Platform.macOS, nil, .iOS] { add(Self.owner, Self.newcomer, on: platform, times: 1) }
        add(Self.owner, Self.newcomer, on: .tvOS, times: 2)
        add(Self.owner, Self.owner, times: 7)
        #expect(tally.sortedTransitions.map(\.key.change) == [.loses, .gains, .changesOutcome, .changesReason])
        #expect(tally.sortedTransitions.map(\.count) == [5, 4, 5, 9])
        #expect(tally.sortedLosses.map(\.cause.platform) == [.tvOS, nil, .iOS, .macOS])
        #expect(tally.sortedLosses.map(\.group.count) == [2, 1, 1, 1])
    }
}
