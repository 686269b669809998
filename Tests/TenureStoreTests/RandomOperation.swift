import Foundation
import StoreContract
import TenureCore
import TenureMint

@testable import TenureStore

/// A random operation on one of four customers.
struct RandomOperation: Sendable, CustomStringConvertible {
    static let realm = Realm(.production)

    enum Kind: CaseIterable {
        case smallSync, largeSync, complete, subscription, bare, notification, unbound, erasure, grant, revocation,
            messages, merge, unmerge, link, transfer, unlink
    }

    let person: Int
    let description: String
    private let kind: Kind
    private let numbers: Range<Int>
    private let number: Int

    init(number: Int, using random: inout SeededRandom) {
        self.number = number
        person = Int.random(in: 0..<4, using: &random)
        // Syncs are chosen more often than other operations.
        let kinds = Kind.allCases + [.largeSync, .largeSync, .complete, .subscription, .bare, .unbound]
        kind = kinds.randomElement(using: &random) ?? .smallSync
        let first = Int.random(in: 0..<100, using: &random)
        let count = [.smallSync, .bare].contains(kind) ? 3 : Int.random(in: 40...260, using: &random)
        numbers = first..<first + count
        description = "\(kind) of \(person), \(numbers)"
    }

    /// The number of the pair to which the person belongs. The two persons of a pair may become one customer.
    var pair: Int { person / 2 }

    private var account: Identity { Identity(.appTransactionID, "person \(person)") }
    private var partner: Identity { Identity(.appTransactionID, "person \(person ^ 1)") }
    /// Each pair has two users.
    private var user: String { "user \(pair) \(number % 2)" }

    private func original(_ number: Int) -> Identity { Identity(.originalTransactionID, "\(person)-\(number)") }

    func perform(in store: some Operable, at now: Date) async throws {
        let operation = self
        switch kind {
        case .smallSync, .largeSync, .complete:
            try await store.update([account] + numbers.map(original), at: now, adding: 2 * numbers.count) {
                operation.list(of: $0, at: now)
            }
        case .subscription:
            try await store.update([account, original(0)], at: now, adding: numbers.count + 1) {
                operation.renewals(of: $0)
            }
        case .bare:
            try await store.update([original(numbers.lowerBound)], at: now, adding: 2) { known in
                var update = CustomerUpdate(of: known)
                update.add(
                    [operation.artifact(numbers.lowerBound)], purchases: [operation.purchase(numbers.lowerBound)])
                return update
            }
        case .notification:
            let notification = StoredNotification(
                realm: Self.realm, uuid: "\(number)", type: "DID_RENEW", subtype: nil, signedDate: now,
                bytes: Array("e30.\(number).c2ln".utf8))
            _ = try await store.receive(notification, about: [account, original(0)], at: now) { known in
                var update = CustomerUpdate(of: known)
                update.add([], purchases: [operation.purchase(operation.number)])
                return update
            }
        case .unbound:
            var update = list(of: nil, at: now)
            update.entitlementChange = .never
            _ = try await store.recordUnbound(
                Identity(unboundLedBy: .app, naming: account, digest: "\(numbers)"),
                naming: [account] + numbers.map(original), in: Self.realm, at: now, update)
        case .messages:
            try await store.update([account], at: now, adding: 1) { known in
                var update = CustomerUpdate(of: known)
                update.messages = operation.numbers.map { Message(.entitlementGranted, ["number": "\($0)"]) }
                return update
            }
        case .erasure: try await ask(.erase, in: store, at: now)
        case .grant: try await ask(.grant(entitlement: "everything", until: nil), in: store, at: now)
        case .revocation: try await ask(.revoke(entitlement: "everything"), in: store, at: now)
        case .merge, .unmerge:
            guard let other = try await store.memberID(of: partner) else { return }
            try await ask(kind == .merge ? .merge(other: other) : .unmerge(other: other), in: store, at: now)
        case .link: try await ask(.link(user: user, .never), in: store, at: now)
        case .transfer: try await ask(.link(user: user, .newest), in: store, at: now)
        case .unlink: try await ask(.unlink(user: user), in: store, at: now)
        }
    }

    /// Derives facts from artifacts that contain the names of their purchases.
    private static let rederivation = Rederivation { entries throws(StoreError) in
        var facts = CustomerFacts()
        facts.add(
            entries.artifacts.compactMap { artifact, _ in
                let name = String(decoding: artifact.bytes, as: UTF8.self).split(separator: ".").dropFirst().first
                return name.map { purchase(String($0)) }
            })
        return facts
    }

    private func ask(_ change: CustomerChange, in store: some Operable, at now: Date) async throws {
        var id = try await store.customers(withAnyID: account.value, in: [Self.realm]).first?.publicID
        // An interrupted change is repeated with the same ID.
        if id == nil, case .erase = change { id = await InterruptedIDs.shared.id(of: person, in: store) }
        guard let id else { return }
        await InterruptedIDs.shared.set(id, of: person, in: store)
        _ = try await store.perform(
            RequestedChange(change, actor: "ada", at: now), on: .publicID(id),
            using: Self.rederivation)
        await InterruptedIDs.shared.set(nil, of: person, in: store)
    }

    private func list(of known: Customer?, at now: Date) -> CustomerUpdate {
        var update = CustomerUpdate(of: known)
        let proof = AppProof(
            kind: .appTransaction, signedDate: nil, id: .appTransaction(account.value), originalPlatform: .iOS,
            originalAppVersion: "37", originalPurchaseDate: Date(timeIntervalSince1970: 1_400_000_000))
        update.add(numbers.map(artifact), proving: [proof], purchases: numbers.map(purchase))
        update.identify(by: numbers.map { Identity(.webOrderLineItemID, "\(person) order \($0)") })
        if kind == .complete {
            update.completePurchases()
            update.promise(
                StoredPromise(
                    entitlement: "everything",
                    acquisition: AcquisitionKey(
                        appTransactionID: account.value, downloadID: nil, originalPurchaseDate: nil),
                    policyVersion: 1, until: nil, recordedAt: now))
        }
        return update
    }

    private func renewals(of known: Customer?) -> CustomerUpdate {
        var update = CustomerUpdate(of: known)
        update.add(
            [artifact(numbers.count)],
            purchases: numbers.map { number in
                Purchase(
                    transactionID: "\(person)-renewal-\(number)", originalTransactionID: "\(person)-0",
                    productID: "com.example.calculator.yearly", type: .autoRenewable,
                    purchaseDate: Date(timeIntervalSince1970: 1_600_000_000), signedDate: nil)
            })
        return update
    }

    private func purchase(_ number: Int) -> Purchase { Self.purchase("\(person)-\(number)") }

    private static func purchase(_ id: String) -> Purchase {
        Purchase(
            transactionID: id, productID: "com.example.calculator.everything", type: .nonConsumable,
            purchaseDate: Date(timeIntervalSince1970: 1_600_000_000), signedDate: nil)
    }

    private func artifact(_ number: Int) -> Artifact {
        let bytes = Array("e30.\(person)-\(number).c2ln".utf8)
        return Artifact(
            .transaction, bytes: bytes, sha256: bytes + [UInt8](repeating: 0, count: max(0, 32 - bytes.count)),
            signedDate: nil)
    }
}

/// The public ID that an interrupted operation used, for its next attempt.
private actor InterruptedIDs {
    static let shared = InterruptedIDs()
    private var ids: [String: String] = [:]

    func id(of person: Int, in store: some Operable) -> String? { ids[key(person, store)] }
    func set(_ id: String?, of person: Int, in store: some Operable) { ids[key(person, store)] = id }

    private func key(_ person: Int, _ store: some Operable) -> String {
        let id: [UInt8]? = (store as? Store)?.databaseID ?? (store as? WholeStore)?.base.databaseID
        return "\(person) \((id ?? []).description)"
    }
}
