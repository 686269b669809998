import Foundation
import TenureCore

extension SQLStore {
    /// What support does to a customer of whom much is known is worked out while others write.
    func support(
        _ act: RequestedAct, on customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ActOutcome {
        try await retrying { () throws(StoreError) -> Attempt<ActOutcome> in
            let prepared = try await read { session throws(StoreError) in
                try Ledger(session, at: act.at).prepareSupport(act, on: customer)
            }
            return try await write(locking: act.keys) { session throws(StoreError) in
                var ledger = Ledger(session, at: act.at)
                guard try ledger.use(prepared, of: customer) else { return .unfinished }
                return .done(try ledger.perform(act, on: customer, by: rederivation))
            }
        }
    }

    /// Repeats what rests on a customer whom others change meanwhile.
    func retrying<Value: Sendable>(
        _ body: () async throws(StoreError) -> Attempt<Value>
    ) async throws(StoreError) -> Value {
        for number in 0..<20 {
            if number > 2 { try? await Task.sleep(for: .milliseconds(Int.random(in: 1...10 * number))) }
            if case .done(let value) = try await body() { return value }
        }
        throw .busy
    }
}

/// What is known of a customer before and after an act, as bytes too.
struct PreparedFacts: Sendable {
    let customer: Int64
    let former: EncodedFacts
    let next: EncodedFacts
}

extension Ledger {
    /// Nil where little is known of the customer, or there is none.
    fileprivate func prepareSupport(
        _ request: RequestedAct, on name: CustomerName
    ) throws(StoreError) -> PreparedFacts? {
        guard let support = request.support, let id = try largeCustomer(name), let known = try customer(id) else {
            return nil
        }
        let facts = known.facts.adding(support)?.facts ?? known.facts
        return PreparedFacts(customer: id, former: EncodedFacts(known.facts), next: EncodedFacts(facts))
    }

    /// False where it rests on what others changed, or where more is known of the customer by now.
    fileprivate mutating func use(_ prepared: PreparedFacts?, of name: CustomerName) throws(StoreError) -> Bool {
        guard let large = try largeCustomer(name) else { return true }
        guard let prepared, prepared.customer == large else { return false }
        let row = try session.row(
            "SELECT facts FROM customers WHERE id = $1", [.integer(large)])
        guard let row, prepared.former.hasSameBytes(as: try row.bytes(0)) else { return false }
        remembered[large] = prepared.former
        self.prepared = prepared.next
        return true
    }

    /// The number of the one whom this one turned out to be, where much is known of them.
    private func largeCustomer(_ name: CustomerName) throws(StoreError) -> Int64? {
        guard let member = try member(name, forUpdate: false) else { return nil }
        let sizes = try roots(of: [member.id], largerThan: Self.mostFactsInOnePiece)
        return sizes[member.id]
    }
}

extension RequestedAct {
    /// What support does, where it is that.
    var support: SupportAct? {
        switch act {
        case .grant(let entitlement, let until): SupportAct(.grant, of: entitlement, date: at, until: until)
        case .revoke(let entitlement): SupportAct(.revocation, of: entitlement, date: at)
        case .link, .unlink, .merge, .unmerge, .erase: nil
        }
    }
}
