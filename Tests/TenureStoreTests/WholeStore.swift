import Foundation
import StoreContract
import TenureCore

@testable import TenureStore

/// The operations that the property tests perform on a store.
protocol Operable: Sendable {
    func update(
        _ identities: [Identity], at now: Date, adding size: Int,
        _ change: @escaping @Sendable (Customer?) -> CustomerUpdate
    ) async throws
    func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> CustomerUpdate
    ) async throws(StoreError) -> Reception
    func recordUnbound(
        _ unbound: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ update: CustomerUpdate
    ) async throws(StoreError) -> UnboundCustomer?
    func perform(
        _ change: RequestedChange, on customer: CustomerName, using rederivation: Rederivation
    ) async throws(StoreError) -> ChangeOutcome
    func customers(withAnyID id: String, in realms: [Realm]) async throws(StoreError) -> [Customer]
    func memberID(of identity: Identity) async throws(StoreError) -> String?
}

extension Store: Operable {
    func update(
        _ identities: [Identity], at now: Date, adding size: Int,
        _ change: @escaping @Sendable (Customer?) -> CustomerUpdate
    ) async throws {
        _ = try await update(identities, in: RandomOperation.realm, at: now, adding: size) { (change($0), ()) }
    }

    func customers(withAnyID id: String, in realms: [Realm]) async throws(StoreError) -> [Customer] {
        try await read { try $0.customers(withAnyID: id, in: realms) }
    }

    func memberID(of identity: Identity) async throws(StoreError) -> String? {
        try await read { transaction in
            guard let id = try transaction.member(by: identity, in: RandomOperation.realm) else { return nil }
            return try transaction.member(.rowID(id), forUpdate: false)?.publicID
        }
    }
}

/// Performs every operation in one transaction.
struct WholeStore: Operable {
    let base: Store

    private func write<Value: Sendable>(
        at now: Date, _ body: @escaping @Sendable (DatabaseTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await base.write(at: now, body)
    }

    func update(
        _ identities: [Identity], at now: Date, adding size: Int,
        _ change: @escaping @Sendable (Customer?) -> CustomerUpdate
    ) async throws {
        try await write(at: now) { transaction in
            _ = try transaction.update(identities, in: RandomOperation.realm) { (change($0), ()) }
        }
    }

    func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> CustomerUpdate
    ) async throws(StoreError) -> Reception {
        try await write(at: now) { transaction in
            if let known = try transaction.reception(of: notification, about: identities) { return known }
            let (customer, _) = try transaction.update(identities, in: notification.realm) {
                (change($0), ())
            }
            try transaction.insert(notification, about: customer)
            return Reception(isNew: true, customer: customer)
        }
    }

    func recordUnbound(
        _ unbound: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ update: CustomerUpdate
    ) async throws(StoreError) -> UnboundCustomer? {
        try await write(at: now) { transaction in
            let members = Set(try transaction.members(by: identities, in: realm).values)
            guard !members.isEmpty else { return nil }
            let (record, _) = try transaction.update([unbound], in: realm) { known in
                var update = update
                update.setUnbound()
                update.add(known?.facts.support ?? [])
                return (update, ())
            }
            let known = Set(try transaction.links(of: record.id))
            try transaction.unlink(record.id, from: known.subtracting(members))
            try transaction.link(record.id, to: members)
            return nil
        }
    }

    func perform(
        _ change: RequestedChange, on customer: CustomerName, using rederivation: Rederivation
    ) async throws(StoreError) -> ChangeOutcome {
        try await base.write(with: LargeFacts(rederivation), at: change.at, locking: []) { transaction in
            let outcome = try transaction.perform(change, on: customer)
            while let leftovers = try transaction.leftovers() {
                for (rehearsal, customers) in leftovers.rehearsals {
                    try transaction.removeExamples(of: customers, from: rehearsal)
                }
                for update in leftovers.updates { while try !transaction.remove(update) {} }
            }
            return outcome
        }
    }

    func customers(withAnyID id: String, in realms: [Realm]) async throws(StoreError) -> [Customer] {
        try await base.read { try $0.customers(withAnyID: id, in: realms) }
    }

    func memberID(of identity: Identity) async throws(StoreError) -> String? {
        try await base.memberID(of: identity)
    }
}
