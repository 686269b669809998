import TenureCore
import Testing

@testable import TenureRehearsal

/// Which entitlements the first sentence of a report names, and how it names the customers.
struct HeadlineWordingTests {
    private static let owner = Answer(.granted, reason: .eraHonored)
    private static let newcomer = Answer(.denied, reason: .eraNotHonored)
    private static let doubtful = Answer(.undetermined, reason: .inDoubt)

    /// Returns the headline about customers of build 110 on iOS, with the answers of each on each entitlement.
    private func headline(
        _ entitlements: [String], _ customers: [[(before: Answer?, now: Answer)]]
    ) throws -> Headline {
        let isCompared = customers.first?.first?.before != nil
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100"),
            against: isCompared ? try Population.policy(freeFrom: "120") : nil, at: Population.now)
        var tally = Tally(entitlements: entitlements)
        for (number, answers) in customers.enumerated() {
            let effects = zip(entitlements, answers).map { name, answer in
                Effect(entitlement: name, now: answer.now, before: answer.before)
            }
            tally.add(
                RehearsedCustomer(
                    id: "\(number)",
                    Evidence(
                        environment: .production, app: [Population.appTransaction("\(number)", version: "110")],
                        purchasesAreComplete: true)),
                CustomerEffects(
                    ifPromisesEnd: effects, ifPromisesAreKept: effects, hasContradictingProofs: false,
                    productsWithoutEntitlement: []))
        }
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: isCompared ? "old.yaml" : nil, comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally
        ).headline
    }

    @Test func `a rehearsal's headline names three lost entitlements, the most frequent first, and counts the others`()
        throws
    {
        // The first customer loses all four, and the last customer loses only `d`.
        let losses = (0..<4).map { number in
            (0..<4).map { (before: Self.owner as Answer?, now: $0 >= number ? Self.newcomer : Self.owner) }
        }
        let place = "of build 110 on iOS would lose"
        #expect(
            try headline(["a", "b", "c", "d"], losses).sentence
                == "Do not ship: 4 customers \(place) `d`, 3 customers \(place) `c`, 2 customers \(place) `b` and "
                + "others would lose 1 other entitlement, 4 customers in all.")
    }

    @Test func `a rehearsal's headline names the gained entitlement only if every gaining customer gains it`() throws {
        let (gain, none) = (
            (before: Self.newcomer as Answer?, now: Self.owner), (before: Self.newcomer as Answer?, now: Self.newcomer)
        )
        let end = ": check that you intend this."
        #expect(
            try headline(["a", "b"], [[none, gain], [none, none]]).sentence
                == "No customer loses anything, and 1 of 2 customers would gain `b`\(end)")
        #expect(
            try headline(["a", "b"], [[none, gain], [gain, none]]).sentence
                == "No customer loses anything, and 2 of 2 customers would gain something\(end)")
    }

    @Test func `a rehearsal's headline is ready to ship if outcomes change without a gain or a loss`() throws {
        let change = (before: Self.newcomer as Answer?, now: Self.doubtful)
        let headline = try headline(["a"], [[change], [change]])
        #expect(headline.level == .go)
        #expect(headline.sentence == "Ready to ship: none of 2 customers gains or loses anything.")
    }

    @Test func `without an old policy, a rehearsal's headline has the share of three entitlements`() throws {
        let (has, none) = ((before: nil as Answer?, now: Self.owner), (before: nil as Answer?, now: Self.newcomer))
        #expect(
            try headline(["a", "b", "c", "d"], [[has, none, has, has], [has, none, none, has]]).sentence
                == "Of 2 customers, 100.0% have `a`, 0.00% have `b` and 50.0% have `c`.")
        let missing = try headline(["everything", "cloud"], [[none, none]])
        #expect(missing.level == .check)
        #expect(
            missing.sentence
                == "Of 1 customer, 0.00% have `everything` and 0.00% have `cloud`; no customer has `everything` and `cloud`, although they honor an era."
        )
    }

    @Test func `a version in a rehearsal report is shortened if it has more than 24 characters`() {
        let longest = String(repeating: "1", count: 24)
        #expect(longest.shortenedVersion == longest)
        #expect((longest + "1").shortenedVersion == String(repeating: "1", count: 23) + "…")
    }

    @Test func `a rehearsal counts malformed versions together, and very long versions as other`() {
        func version(_ text: String?) -> Place.Version {
            Place(
                of: Evidence(
                    environment: .production, app: [Population.appTransaction(version: text)],
                    purchasesAreComplete: true)
            ).version
        }
        let longest = String(repeating: "1", count: 32)
        #expect(version(longest) == .version(longest))
        #expect(version(longest + "1") == .other)
        #expect(version("2.0b") == .malformed && version(nil) == .none)
        let nowhere = Place(of: Evidence(environment: .production, purchasesAreComplete: true))
        #expect(nowhere == Place(platform: nil, version: .none, month: .unknown))
    }

    @Test func `the places of a rehearsal are sorted by platform, version and month, with unknown ones last`() {
        func place(_ platform: Platform?, _ version: Place.Version, _ month: String) -> Place {
            Place(platform: platform, version: version, month: Month(of: Population.date(month)))
        }
        let sorted = [
            place(.iOS, .version("9"), "2014-05-01"), place(.iOS, .version("10"), "2014-04-01"),
            place(.iOS, .version("10"), "2014-05-01"), place(.iOS, .malformed, "2014-01-01"),
            place(.iOS, .none, "2014-01-01"), place(.iOS, .other, "2014-01-01"),
            place(.macOS, .version("1.0"), "2014-01-01"), place(nil, .version("1"), "2014-01-01"),
        ]
        #expect(sorted.reversed().sorted { $0.precedes($1) } == sorted)
    }
}
