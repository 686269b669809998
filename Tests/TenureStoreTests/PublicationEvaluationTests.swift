import Foundation
import TenureCore
import Testing

@testable import TenureStore

/// What an evaluation counts, and which customers have promises to mark.
@Suite struct `the evaluation of a publication` {
    private static let position = DatabasePosition(last: [:], unfinishedMembers: [])

    private func subject(_ id: Int64, isUnbound: Bool = false) -> CustomerToEvaluate {
        let customer = Customer(
            id: id, realm: Realm(.production), publicID: "cus_\(id)", createdAt: Date(timeIntervalSince1970: 0),
            facts: CustomerFacts())
        return CustomerToEvaluate(customer: customer, isUnbound: isUnbound, restored: [])
    }

    private func changes(_ ids: Set<Int64>, at last: Int64 = 1) -> ChangedCustomers {
        ChangedCustomers(
            position: DatabasePosition(last: ["events": last], unfinishedMembers: []), customers: ids.sorted(),
            outdatedCustomers: ids)
    }

    @Test func `an evaluation counts each customer once, without unbound customers, also after changes`() {
        var evaluation = PublicationEvaluation(at: Self.position)
        for id: Int64 in [2, 4, 6] { evaluation.add(subject(id), PublicationImpact()) }
        evaluation.add(subject(7, isUnbound: true), PublicationImpact())
        #expect(evaluation.customers == 3)
        // The customers 3 and 7 weren't counted, so they aren't subtracted.
        evaluation.removeImpacts(of: changes([3, 4, 6, 7], at: 8))
        #expect(evaluation.customers == 1)
        #expect(evaluation.position == DatabasePosition(last: ["events": 8], unfinishedMembers: []))
        evaluation.update(subject(4), PublicationImpact())
        evaluation.update(subject(3), PublicationImpact())
        evaluation.update(subject(7, isUnbound: true), PublicationImpact())
        #expect(evaluation.customers == 3)
        evaluation.removeImpacts(of: changes([3]))
        #expect(evaluation.customers == 2)
        evaluation.update(subject(3), PublicationImpact())
        evaluation.update(subject(9), PublicationImpact())
        #expect(evaluation.customers == 4)
    }

    @Test func `an evaluation has the impacts that aren't empty, and only of customers that didn't change since`() {
        var evaluation = PublicationEvaluation(at: Self.position)
        let (gain, loss) = (PublicationImpact(gains: true), PublicationImpact(loses: true))
        for (id, impact) in [(1, gain), (2, loss), (3, PublicationImpact()), (4, loss)] as [(Int64, PublicationImpact)]
        {
            evaluation.add(subject(id), impact)
        }
        #expect(evaluation.impacts == [1: gain, 2: loss, 4: loss])
        evaluation.removeImpacts(of: changes([2, 3]))
        #expect(evaluation.impacts == [1: gain, 4: loss])
        evaluation.update(subject(3), gain)
        evaluation.update(subject(4), PublicationImpact())
        #expect(evaluation.impacts == [1: gain, 3: gain])
        let ending = PublicationImpact(ending: ["everything"])
        evaluation.setImpact(ending, of: 5)
        #expect(evaluation.impacts == [1: gain, 3: gain, 5: ending])
        #expect(evaluation.customers == 3, "only the customers that were read, without the one that wasn't read again")
    }

    @Test func `a changed customer is marked again only after the publication began to mark promises`() {
        let ending = PublicationImpact(ending: ["everything"])
        var evaluation = PublicationEvaluation(at: Self.position)
        #expect(evaluation.mark > 0)
        evaluation.add(subject(1), PublicationImpact(loses: true))
        let isBegunWithoutPromises = evaluation.beginMarking()
        #expect(!isBegunWithoutPromises)
        evaluation.add(subject(2), ending)
        evaluation.add(subject(3), ending)
        #expect(evaluation.unmarkedCustomers == [2, 3])
        evaluation.removeImpacts(of: changes([3, 4]))
        #expect(evaluation.unmarkedCustomers == [2])
        let attempts = [evaluation.beginMarking(), evaluation.beginMarking()]
        #expect(attempts == [true, false])
        evaluation.unmarkedCustomers = []
        evaluation.removeImpacts(of: changes([2, 5]))
        #expect(evaluation.unmarkedCustomers == [2, 5])
    }
}
