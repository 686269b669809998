import Foundation
import TenureCore
import TenureMint
import Testing

@testable import TenureStore

/// Random signed proofs of one customer, and random policies.
private struct Signings {
    static let start = Date(timeIntervalSince1970: 1_388_534_400)  // 2014-01-01
    static let bought = start.addingTimeInterval(86_400)
    var random: SeededRandom

    init(_ seed: UInt64) { random = SeededRandom(seed: seed &* 2_654_435_761 &+ 1) }

    mutating func instant(withinDays days: Int) -> Date {
        Self.start.addingTimeInterval(Double(Int.random(in: 0..<days * 24, using: &random)) * 3600)
    }

    mutating func flip(_ one: Int, of all: Int) -> Bool { Int.random(in: 0..<all, using: &random) < one }

    /// - Parameter revocations: how many of the proofs are revoked.
    mutating func proofs(_ count: Int, revocations: Int, withinDays days: Int) -> [AppProof] {
        var proofs: [AppProof] = []
        for place in 0..<count {
            let signed = instant(withinDays: days)
            let isRevoked = place < revocations
            let kind: AppProof.Kind =
                isRevoked || flip(8, of: 10) ? .appTransaction : flip(1, of: 2) ? .receipt : .serverAppTransaction
            let revoked = signed.addingTimeInterval(-Double(Int.random(in: -48..<480, using: &random)) * 3600)
            proofs.append(
                AppProof(
                    kind: kind, signedDate: signed, id: kind == .receipt ? .download("9") : .appTransaction("704"),
                    originalPlatform: kind == .receipt ? nil : .iOS, originalAppVersion: "37",
                    originalPurchaseDate: Self.bought, revocationDate: isRevoked ? revoked : nil))
        }
        return proofs
    }

    /// Returns a policy with alternating paid and free eras. Each one begins at a random hour, or at the start of a
    /// month.
    mutating func policy(beginningWithMonths: Bool) throws -> Policy {
        var begins = (0..<3).map { _ in
            beginningWithMonths
                ? Date(year: 2014, month: Int.random(in: 2...12, using: &random)) : instant(withinDays: 360)
        }
        begins = Set(begins).sorted()
        let names = ["first", "second", "third", "fourth"]
        var eras = [Era(name: names[0], model: .paid)]
        for (place, begin) in begins.enumerated() {
            eras.append(
                Era(
                    name: names[place + 1], model: place.isMultiple(of: 2) ? .free : .paid,
                    begins: [.iOS: .at(version: AppVersion("\(100 * (place + 1))"), date: begin)],
                    changeover: beginningWithMonths ? Changeover.noWindow : .window(from: -7200, until: 7200)))
        }
        var entitlements: [Entitlement] = []
        for number in 0..<4 {
            let honors = eras.filter { _ in flip(1, of: 2) }.map { era in
                let isDated = !beginningWithMonths && flip(2, of: 3)
                let limits = [instant(withinDays: 360), instant(withinDays: 400)].sorted()
                return Honor(
                    era: era.name, boughtSince: isDated && flip(1, of: 2) ? limits[0] : nil,
                    boughtBefore: isDated && flip(1, of: 2) ? limits[1].addingTimeInterval(86_400) : nil,
                    length: isDated && flip(1, of: 3) ? CalendarPeriod(months: 3) : nil,
                    until: isDated && flip(1, of: 3) ? instant(withinDays: 500) : nil)
            }
            entitlements.append(Entitlement(name: "right\(number)", honors: honors))
        }
        return try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134), eras: eras,
            buildNumbers: .increasing, entitlements: entitlements,
            inDoubt: flip(1, of: 2) ? .favorCustomer : .undetermined)
    }
}

extension Date {
    fileprivate init(year: Int, month: Int) {
        self.init(timeIntervalSince1970: Double(CivilDay(year: year, month: month, day: 1).number) * 86_400)
    }
}

@Suite struct `condensed proofs` {
    private static func evidence(_ proofs: [AppProof]) -> Evidence { Evidence(environment: .production, app: proofs) }

    private func oneByOne(_ proofs: [AppProof]) -> CustomerFacts {
        var facts = CustomerFacts()
        for proof in proofs { facts.add([proof]) }
        return facts
    }

    @Test(arguments: 0..<300) func `condensed proofs give the same decisions as all proofs, in any order of arrival`(
        seed: UInt64
    )
        throws
    {
        var signings = Signings(seed)
        let count = Int.random(in: 1...60, using: &signings.random)
        let proofs = signings.proofs(
            count, revocations: min(count, [0, 1, 1, 2, 5].randomElement(using: &signings.random) ?? 0), withinDays: 400
        )
        let all = Self.evidence(proofs)
        // The last proof may be a revocation that a notification brings later.
        let orders = [
            proofs.shuffled(using: &signings.random), Array(proofs.reversed()),
            proofs.sorted { ($0.signedDate ?? .distantPast) < ($1.signedDate ?? .distantPast) },
        ]
        let halves = orders[0].chunks(of: max(1, count / 2)).map { oneByOne(Array($0)) }
        var merged = CustomerFacts()
        for half in halves { merged.add(half) }
        let known = orders.map { oneByOne($0) } + [merged]
        for facts in known {
            #expect(facts.evidence(in: .production) == all)
            #expect(facts == known[0])
        }
        for _ in 0..<5 {
            let policy = try signings.policy(beginningWithMonths: false)
            let now = signings.instant(withinDays: 600)
            #expect(
                decide(known[0].evidence(in: .production), under: policy, at: now)
                    == decide(all, under: policy, at: now))
        }
    }

    // Only the first and the last proof of each month, and the newest 64 proofs, are kept. If eras begin with months,
    // the removed proofs can't change a decision.
    @Test(arguments: 0..<40) func `thousands of app proofs condense to a few proofs that give the same decisions`(
        seed: UInt64
    ) throws {
        var signings = Signings(seed)
        let proofs = signings.proofs(4000, revocations: Int(seed % 4), withinDays: 365)
        var facts = CustomerFacts()
        for chunk in proofs.shuffled(using: &signings.random).chunks(of: 200) { facts.add(Array(chunk)) }
        // App transactions, app transactions of the server, and receipts are condensed separately. Each revoked proof
        // is kept.
        #expect(facts.proofs.count <= 3 * (2 * 12 + 64) + 3)
        var together = CustomerFacts()
        together.add(proofs)
        #expect(together == facts)
        let (all, kept) = (Self.evidence(proofs), facts.evidence(in: .production))
        for _ in 0..<5 {
            let policy = try signings.policy(beginningWithMonths: true)
            let now = signings.instant(withinDays: 600)
            let decisions = (decide(all, under: policy, at: now), decide(kept, under: policy, at: now))
            #expect(decisions.0.map(\.outcome) == decisions.1.map(\.outcome))
            #expect(decisions.0.map(\.until) == decisions.1.map(\.until))
        }
    }

    // The proofs of an owner who bought again after a refund, with an app transaction that is signed again months
    // later.
    @Test func `condensed proofs keep the app transaction that restores a right after a refund`() throws {
        func signed(_ month: Int, _ day: Double, revoked: Bool = false) -> AppProof {
            let date = Date(year: 2015, month: month).addingTimeInterval(day * 86_400)
            return AppProof(
                kind: .appTransaction, signedDate: date, id: .appTransaction("704"), originalPlatform: .iOS,
                originalAppVersion: "37", originalPurchaseDate: Date(year: 2014, month: 5),
                revocationDate: revoked ? date.addingTimeInterval(-86_400) : nil)
        }
        let proofs = [signed(5, 0), signed(5, 10, revoked: true), signed(5, 19), signed(7, 0)]
        let policy = try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [.iOS: .at(version: AppVersion("120"), date: Date(year: 2015, month: 6))],
                    changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
        for last in proofs {
            let facts = oneByOne(proofs.filter { $0 != last } + [last])
            let decisions = decide(
                facts.evidence(in: .production), under: policy, at: Date(year: 2016, month: 1))
            #expect(decisions.map(\.outcome) == [.granted])
            #expect(decisions.first?.reasons.first?.code == "boughtAgain")
        }
    }
}
