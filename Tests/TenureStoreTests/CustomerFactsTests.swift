import Foundation
import TenureCore
import TenureMint
import Testing

@testable import TenureStore

@Suite struct `a customer's facts` {
    @Test(arguments: 0..<200) func `decoding a customer's encoded facts returns equal facts`(seed: UInt64) throws {
        let facts = CustomerFacts.random(seed)
        #expect(try CustomerFacts(decoding: facts.encoded) == facts)
    }

    @Test func `decoding a customer's facts with missing or extra bytes is an error`() throws {
        let bytes = CustomerFacts.random(7).encoded
        for count in bytes.indices {
            #expect(throws: StoreError.self, "cut at \(count)") { try CustomerFacts(decoding: Array(bytes[..<count])) }
        }
        #expect(throws: StoreError.self) { try CustomerFacts(decoding: bytes + [0]) }
    }

    @Test func `decoding corrupted facts of a customer never crashes`() {
        var random = SeededRandom(seed: 42)
        let sound = CustomerFacts.random(3).encoded
        for _ in 0..<20_000 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            // Some of these bytes decode, as other facts. None may crash the decoder.
            _ = try? CustomerFacts(decoding: bytes)
        }
        for length in [9, 10, 11, 64] {
            #expect(throws: StoreError.self) {
                try CustomerFacts(decoding: [1, 0] + [UInt8](repeating: 0xFF, count: length))
            }
        }
    }

    // A rehearsal decides once for all customers with equal plain facts.
    @Test func `plain facts are equal if the promises of both or of neither are for the customer's own acquisition`()
        throws
    {
        let bought = Date(timeIntervalSince1970: 1_400_000_000)
        func key(_ id: AcquisitionID, _ promised: AcquisitionKey) throws -> [UInt8] {
            var facts = CustomerFacts()
            facts.add([AppProof(kind: .receipt, signedDate: bought, id: id, originalPurchaseDate: bought)])
            facts.add([
                StoredPromise(
                    entitlement: "everything", acquisition: promised, policyVersion: 1, until: nil, recordedAt: bought)
            ])
            var buffer = [UInt8](repeating: 0, count: 200)
            let size = facts.encoded.withUnsafeBytes { bytes in
                buffer.withUnsafeMutableBytes { PlainFacts.writeKey(of: bytes, in: 0, to: $0) { _ in 0 } }
            }
            return Array(buffer.prefix(try #require(size)))
        }
        func acquisition(_ id: String?, _ download: String?, _ seconds: Double?) -> AcquisitionKey {
            AcquisitionKey(
                appTransactionID: id, downloadID: download,
                originalPurchaseDate: seconds.map { bought.addingTimeInterval($0) })
        }
        let own = try key(.download("5"), acquisition(nil, "5", 0))
        let other = try key(.download("5"), acquisition(nil, "6", 0))
        #expect(own != other)
        for mine in [AcquisitionID.download("5"), .appTransaction("5")] {
            let mineKey = mine == .download("5") ? acquisition(nil, "5", 0) : acquisition("5", nil, 0)
            for promised in [
                acquisition(nil, "5", nil), acquisition(nil, "55", 0), acquisition("5", nil, nil),
                acquisition("6", nil, 0), acquisition("6", "5", 0), acquisition("5", "6", 0),
                acquisition("5", "5", nil),
                acquisition(nil, nil, 0), acquisition(nil, nil, 1_000_000), acquisition(nil, nil, -1_000_000),
                acquisition(nil, nil, 2), acquisition(nil, nil, -2), acquisition(nil, nil, 2.001),
            ] {
                let isOwn = mineKey.matches(promised)
                #expect(try key(mine, promised) == (isOwn ? own : other), "\(mine), \(promised)")
            }
        }
    }

    @Test func `a huge list length in a customer's encoded facts is an error, and reserves no memory`() {
        // These nine bytes claim a list of 2^62 entries.
        let bytes: [UInt8] = [1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40]
        #expect(throws: StoreError.self) { try CustomerFacts(decoding: bytes) }
    }

    @Test
    func `a refund known by acquisition ID applies to an unbound customer known by date, if a third artifact has both`()
    {
        let bought = Date(timeIntervalSince1970: 1_400_000_000)
        func proof(_ id: AcquisitionID?, _ date: Date?, refunded: Date? = nil) -> AppProof {
            AppProof(
                kind: .appTransaction, signedDate: bought.addingTimeInterval(refunded == nil ? 60 : 7200), id: id,
                originalPlatform: .iOS, originalAppVersion: "37", originalPurchaseDate: date, revocationDate: refunded)
        }
        func facts(_ proofs: AppProof...) -> CustomerFacts {
            var facts = CustomerFacts()
            facts.add(proofs)
            return facts
        }
        // The unbound artifact has only a date, and the refunded artifact has only an ID. A third artifact has both.
        let (unbound, refund) = (facts(proof(nil, bought)), bought.addingTimeInterval(3600))
        let known = facts(proof(.appTransaction("1"), bought), proof(.appTransaction("1"), nil, refunded: refund))
        let limited = unbound.limited(by: [known], in: .production)
        #expect(limited.evidence(in: .production).acquisitions.map { $0.refund != nil } == [true])
        let other = facts(proof(.appTransaction("2"), nil, refunded: refund))
        #expect(unbound.limited(by: [other], in: .production).proofs == unbound.proofs)
    }

    // A customer who opens the app every day for years must not make each look-up slower.
    @Test func `a customer's stored facts stay small if the same facts are signed every day`() {
        var facts = CustomerFacts()
        for day in 0..<1000 {
            facts.add([AppProof.signed(Date(timeIntervalSince1970: 1_400_000_000 + Double(day) * 86_400))])
        }
        // The first and the last proof of each month are kept, and the newest 64 proofs.
        #expect(facts.proofs.count <= 2 * 34 + 64)
    }

    @Test(arguments: 0..<50) func `a customer's facts are the same in any order of arrival`(seed: UInt64) {
        var random = SeededRandom(seed: seed &+ 1)
        let proofs = (0..<60).map { _ in
            AppProof.signed(
                Date(timeIntervalSince1970: 1_400_000_000 + Double(Int.random(in: 0..<90, using: &random)) * 43_200),
                version: ["37", "38"].randomElement(using: &random) ?? "37")
        }
        var together = CustomerFacts()
        together.add(proofs)
        var oneByOne = CustomerFacts()
        for proof in proofs.shuffled(using: &random) { oneByOne.add([proof]) }
        #expect(together == oneByOne)
        #expect(together.encoded == oneByOne.encoded)
    }

    @Test(arguments: 0..<50) func `condensed proofs of a customer give the same evidence as all proofs`(seed: UInt64) {
        var random = SeededRandom(seed: seed &+ 1)
        let proofs = (0..<40).map { _ in
            AppProof.signed(
                Date(timeIntervalSince1970: 1_400_000_000 + Double(Int.random(in: 0..<200, using: &random)) * 86_400),
                version: ["37", "38", nil].randomElement(using: &random) ?? nil)
        }
        var facts = CustomerFacts()
        facts.add(proofs)
        let all = Evidence(environment: .production, app: proofs)
        #expect(facts.evidence(in: .production) == all)
    }

    @Test func `if a promise to a customer is recorded twice, the earlier record stays`() {
        func promise(recordedAfter seconds: TimeInterval) -> StoredPromise {
            StoredPromise(
                entitlement: "everything",
                acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
                policyVersion: 1, until: nil, recordedAt: Date(timeIntervalSince1970: 1_700_000_000 + seconds))
        }
        for order in [[0.0, 60], [60, 0]] {
            var facts = CustomerFacts()
            for seconds in order { facts.add([promise(recordedAfter: seconds)]) }
            #expect(facts.promises == [promise(recordedAfter: 0)])
        }
    }

    @Test func `a support grant that is added twice to a customer's facts is kept once`() {
        var facts = CustomerFacts()
        let grant = SupportGrant(.grant, of: "everything", date: Date(timeIntervalSince1970: 1_700_000_000))
        for _ in 0..<2 { facts.add(grant) }
        #expect(facts.support == [grant])
    }

    @Test func `a customer's support grants are sorted by date, entitlement and kind, in any order of arrival`() {
        func grant(_ entitlement: String, _ seconds: Double, _ kind: SupportGrant.Kind = .grant) -> SupportGrant {
            SupportGrant(kind, of: entitlement, date: Date(timeIntervalSince1970: 1_700_000_000 + seconds))
        }
        let sorted = [
            grant("z", 0), grant("a", 1), grant("a", 5), grant("a", 5, .revocation), grant("b", 5), grant("a", 6),
        ]
        let orders: [[SupportGrant]] = [
            sorted, sorted.reversed(), [sorted[3], sorted[1], sorted[5], sorted[0], sorted[4], sorted[2]],
        ]
        for order in orders {
            var facts = CustomerFacts()
            for grant in order { facts.add(grant) }
            #expect(facts.support == sorted)
        }
    }

    @Test func `a customer's promises are sorted by date, version and entitlement, in any order of arrival`() {
        func promise(_ entitlement: String, _ version: Int64, _ seconds: Double, until: Double? = nil) -> StoredPromise
        {
            let date = Date(timeIntervalSince1970: 1_700_000_000)
            return StoredPromise(
                entitlement: entitlement,
                acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
                policyVersion: version, until: until.map { date.addingTimeInterval($0) },
                recordedAt: date.addingTimeInterval(seconds))
        }
        let sorted = [
            promise("z", 9, 0), promise("y", 1, 5), promise("a", 2, 5), promise("b", 2, 5), promise("a", 3, 5),
            promise("a", 1, 6), promise("a", 1, 7, until: 9),
        ]
        var (together, oneByOne) = (CustomerFacts(), CustomerFacts())
        together.add(sorted.reversed())
        for promise in sorted.shuffled() { oneByOne.add([promise]) }
        #expect(together.promises == sorted)
        #expect(oneByOne.promises == sorted)
        oneByOne.removePromises(of: ["a", "y"])
        #expect(oneByOne.promises == [sorted[0], sorted[3]])
    }

    @Test func `promises repeat each other only if nothing but their dates of recording differs`() {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        func promise(
            _ entitlement: String = "e", _ version: Int64 = 1, account: String? = "1", bought: Double? = nil,
            until: Double? = nil, recorded: Double = 0
        ) -> StoredPromise {
            StoredPromise(
                entitlement: entitlement,
                acquisition: AcquisitionKey(
                    appTransactionID: account, downloadID: nil,
                    originalPurchaseDate: bought.map { date.addingTimeInterval($0) }),
                policyVersion: version, until: until.map { date.addingTimeInterval($0) },
                recordedAt: date.addingTimeInterval(recorded))
        }
        let first = promise()
        for other in [promise(recorded: 5), promise(bought: 7)] { #expect(other.repeats(first)) }
        for other in [
            promise("f"), promise("e", 2), promise(account: "2"), promise(until: 1), promise(account: nil, bought: 7),
        ] { #expect(!other.repeats(first)) }
    }
}

extension AppProof {
    static func signed(_ date: Date, version: String? = "37") -> AppProof {
        AppProof(
            kind: .appTransaction, signedDate: date, id: .appTransaction("704"), originalPlatform: .iOS,
            originalAppVersion: version, originalPurchaseDate: Date(timeIntervalSince1970: 1_399_000_000))
    }
}

extension CustomerFacts {
    static func random(_ seed: UInt64) -> CustomerFacts {
        var random = SeededRandom(seed: seed &* 2_654_435_761 &+ 1)
        func flip() -> Bool { Bool.random(using: &random) }
        func text(_ prefix: String) -> String {
            prefix + String(UInt64.random(in: 0...UInt64.max, using: &random)) + (flip() ? "é\u{0}" : "")
        }
        func date() -> Date {
            Date(timeIntervalSince1970: Double.random(in: -62_135_769_600...4_000_000_000, using: &random))
        }
        func maybe<Value>(_ value: Value) -> Value? { flip() ? value : nil }
        var facts = CustomerFacts()
        facts.add(
            (0..<4).map { _ in
                AppProof(
                    kind: [.appTransaction, .serverAppTransaction, .receipt].randomElement(using: &random) ?? .receipt,
                    signedDate: maybe(date()), id: maybe(flip() ? .appTransaction(text("a")) : .download(text("d"))),
                    originalPlatform: maybe(Platform.allCases.randomElement(using: &random) ?? .iOS),
                    originalAppVersion: maybe(text("1.")), originalPurchaseDate: maybe(date()),
                    preorderDate: maybe(date()),
                    revocationDate: maybe(date()), expirationDate: maybe(date()))
            })
        facts.add(
            (0..<5).map { index in
                Purchase(
                    transactionID: text("t\(index)"), originalTransactionID: maybe(text("o")), productID: text("p"),
                    type: maybe(
                        [.nonConsumable, .consumable, .nonRenewing, .autoRenewable, .unknown(text("New "))]
                            .randomElement(using: &random) ?? .consumable),
                    purchaseDate: maybe(date()), expiresDate: maybe(date()), revocationDate: maybe(date()),
                    isUpgraded: flip(), isFamilyShared: flip(), signedDate: maybe(date()))
            })
        facts.add(
            (0..<2).map { _ in
                Renewal(
                    originalTransactionID: text("o"), productID: maybe(text("p")),
                    gracePeriodExpiresDate: maybe(date()),
                    isInBillingRetryPeriod: flip(), signedDate: maybe(date()))
            })
        facts.add(
            (0..<2).map { index in
                StoredPromise(
                    entitlement: text("e"),
                    acquisition: AcquisitionKey(
                        appTransactionID: maybe(text("a")), downloadID: maybe(text("d")),
                        originalPurchaseDate: maybe(date())),
                    policyVersion: Int64(index + 1), until: maybe(date()), recordedAt: date())
            })
        facts.add(SupportGrant(flip() ? .grant : .revocation, of: text("e"), date: date(), until: maybe(date())))
        facts.purchasesAreComplete = flip()
        return facts
    }
}
