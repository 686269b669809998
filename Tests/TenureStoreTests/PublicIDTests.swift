import Foundation
import Testing

@testable import TenureStore

@Suite struct PublicIDTests {
    @Test func `public IDs of customers sort by the instants at which the customers were stored`() {
        let seconds = [-86_400, 0, 0.001, 0.031, 0.032, 1, 1_400_000_000, 1_800_000_000, 1_800_000_000.001, 9e9]
        let ids = seconds.map { PublicID.customer.ordered(at: Date(timeIntervalSince1970: $0)) }
        let instants = ids.map { String($0.dropFirst(4).prefix(9)) }
        #expect(instants == instants.sorted())
        // All dates before 1970 are encoded as the same instant.
        #expect(instants[0] == instants[1] && Set(instants).count == seconds.count - 1)
    }

    @Test(arguments: [1e300, -.infinity, .infinity, .nan])
    func `a public ID is created even if the clock's time is invalid`(seconds: Double) {
        #expect(PublicID.customer.ordered(at: Date(timeIntervalSince1970: seconds)).utf8.count == 28)
    }

    @Test func `public IDs begin with the kind of their object, and IDs of the same instant differ`() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let ids = (0..<1000).map { _ in PublicID.customer.ordered(at: now) }
        #expect(Set(ids).count == 1000)
        let letters = Set("23456789abcdefghijkmnpqrstuvwxyz")
        for id in ids + [PublicID.event.random(), PublicID.persona.random(), PublicID.rehearsal.random()] {
            #expect(id.utf8.count == 28)
            #expect(id.dropFirst(4).allSatisfy(letters.contains))
        }
        #expect(ids.allSatisfy { $0.hasPrefix("cus_") })
        #expect(PublicID.rehearsal.random().hasPrefix("reh_"))
        #expect(PublicID.persona.random().hasPrefix("per_"))
        #expect(PublicID.event.random().hasPrefix("evt_"))
    }
}
