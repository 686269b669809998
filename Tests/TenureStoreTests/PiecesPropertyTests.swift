import Foundation
import StoreContract
import TenureCore
import TenureMint
import Testing

@testable import TenureStore

@Suite struct `updates in several transactions` {
    private struct Broken: Error {}

    private static let effort = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 1 : 20

    @Test(arguments: 1...6)
    func `leave the same rows as one transaction, also with interruptions and other updates in between`(
        seed: Int
    ) async throws {
        try await withStores { pieces, whole in
            for round in 0..<Self.effort {
                var random = SeededRandom(seed: UInt64(seed + 1000 * round))
                for step in 0..<24 {
                    let now = Date(timeIntervalSince1970: 1_700_000_000 + Double(round * 100 + step) * 1000)
                    let operation = RandomOperation(number: step, using: &random)
                    var other = RandomOperation(number: step + 1000, using: &random)
                    while other.pair == operation.pair {
                        other = RandomOperation(number: step + 1000, using: &random)
                    }
                    try await other.perform(in: WholeStore(base: whole), at: now.addingTimeInterval(1))
                    try await operation.perform(in: WholeStore(base: whole), at: now)
                    try await perform(operation, beside: other, in: pieces, at: now, &random)
                    guard step % 6 == 5 else { continue }
                    let later = now.addingTimeInterval(2 * 86_400)
                    try await pieces.removeLeftovers(at: later)
                    for store in [pieces, whole] { try await store.removeOldDepartures(at: later) }
                    let (left, right) = (try await Lines(of: pieces), try await Lines(of: whole))
                    #expect(left.onlyHere(than: right) == [], "step \(step): after \(operation)")
                    #expect(right.onlyHere(than: left) == [], "step \(step): after \(operation)")
                }
            }
        }
    }

    /// Performs the operation, perhaps after interrupted attempts. The other one runs once, between two pieces if
    /// possible.
    private func perform(
        _ operation: RandomOperation, beside other: RandomOperation, in store: Store, at now: Date,
        _ random: inout SeededRandom
    ) async throws {
        let counted = Store(CountedDatabase(store.database))
        let between = Int.random(in: 1...8, using: &random)
        let isOtherDone = Once()
        let performOther: @Sendable () async throws -> Void = {
            if await isOtherDone.first() { try await other.perform(in: store, at: now.addingTimeInterval(1)) }
        }
        var isDone = false
        for _ in 0..<Int.random(in: 0...2, using: &random) where !isDone {
            let broken = Int.random(in: 1...10, using: &random)
            counted.counts.reset { number in
                if number == broken { throw Broken() }
                if number == between { try await performOther() }
            }
            do {
                try await operation.perform(in: counted, at: now)
                isDone = true
            } catch StoreError.failed {}
        }
        counted.counts.reset { if $0 == between { try await performOther() } }
        if !isDone { try await operation.perform(in: counted, at: now) }
        counted.counts.reset()
        try await performOther()
    }

    private func withStores(_ body: (Store, Store) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tenure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pieces = try Store(SQLiteDatabase(path: folder.appending(path: "pieces.sqlite").path))
        let whole = try Store(SQLiteDatabase(path: folder.appending(path: "whole.sqlite").path))
        for store in [pieces, whole] {
            _ = try await store.write(at: Date(timeIntervalSince1970: 1_699_000_000), locking: [.policies]) {
                try $0.record(policy: [1], sha256: [1])
            }
            try await store.write(at: Date(timeIntervalSince1970: 1_699_000_000), locking: [.endpoints]) {
                try $0.register([Endpoint(name: "one"), Endpoint(name: "two")], under: "terms")
            }
        }
        try await body(pieces, whole)
        try await pieces.close()
        try await whole.close()
    }
}

private actor Once {
    private var isDone = false

    func first() -> Bool {
        defer { isDone = true }
        return !isDone
    }
}

/// What acts need of a store.
private protocol Operable: Sendable {
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
        _ change: RequestedChange, on customer: CustomerName, by rederivation: Rederivation
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
            return try transaction.member(.number(id), forUpdate: false)?.publicID
        }
    }
}

/// Performs every operation in one transaction.
private struct WholeStore: Operable {
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
                update.leaveUnbound()
                update.keep(known?.facts.support ?? [])
                return (update, ())
            }
            let known = Set(try transaction.links(of: record.id))
            try transaction.unlink(record.id, from: known.subtracting(members))
            try transaction.link(record.id, to: members)
            return nil
        }
    }

    func perform(
        _ change: RequestedChange, on customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ChangeOutcome {
        try await write(at: change.at) { transaction in
            let outcome = try transaction.perform(change, on: customer, by: rederivation)
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

/// A random operation on one of four customers.
private struct RandomOperation: Sendable, CustomStringConvertible {
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
        // More syncs than other operations.
        let kinds = Kind.allCases + [.largeSync, .largeSync, .complete, .subscription, .bare, .unbound]
        kind = kinds.randomElement(using: &random) ?? .smallSync
        let first = Int.random(in: 0..<100, using: &random)
        let count = [.smallSync, .bare].contains(kind) ? 3 : Int.random(in: 40...260, using: &random)
        numbers = first..<first + count
        description = "\(kind) of \(person), \(numbers)"
    }

    /// Two persons may become one customer.
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
                Identity(unboundLedBy: .app, naming: account, showing: "\(numbers)"),
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

    /// Artifacts name their purchases.
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
        if id == nil, case .erase = change { id = await Asked.shared.id(of: person, in: store) }
        guard let id else { return }
        await Asked.shared.set(id, of: person, in: store)
        _ = try await store.perform(
            RequestedChange(change, actor: "ada", at: now), on: .publicID(id),
            by: Self.rederivation)
        await Asked.shared.set(nil, of: person, in: store)
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

/// By which public id an operation was asked for that broke off.
private actor Asked {
    static let shared = Asked()
    private var ids: [String: String] = [:]

    func id(of person: Int, in store: some Operable) -> String? { ids[key(person, store)] }
    func set(_ id: String?, of person: Int, in store: some Operable) { ids[key(person, store)] = id }

    private func key(_ person: Int, _ store: some Operable) -> String {
        let id: [UInt8]? = (store as? Store)?.databaseID ?? (store as? WholeStore)?.base.databaseID
        return "\(person) \((id ?? []).description)"
    }
}

/// All rows of a database, without what is random or depends on how often something was tried.
private struct Lines {
    private var counts: [String: Int] = [:]

    init(of store: Store) async throws {
        let rows = try await store.database.read { session throws(StoreError) -> [String] in
            var rows: [String] = []
            try DatabaseWalk(session).eachEntry { entry throws(StoreError) in
                guard !["database", "progress"].contains(entry.table.name) else { return }
                var row = entry.table.name
                for (index, column) in entry.table.columns.enumerated() {
                    let isNumber = entry.table.isNumbered && entry.table.key == [index]
                    guard !isNumber,
                        !["update_id", "digest", "erased_at", "header"].contains(column.name)
                            || entry.table.name == "audit",
                        // Random, or numbers that depend on how often something was tried.
                        !["event", "message", "delivery"].contains(column.name),
                        (entry.table.name, column.name) != ("deliveries", "customer")
                    else { continue }
                    row += " \(column.name)=\(entry.values[index])"
                }
                rows.append(row)
            }
            return rows
        }
        // Public IDs begin with the time, followed by random characters.
        let pattern = /cus_[0-9A-Za-z]+/
        let ids = Set(rows.flatMap { row in row.matches(of: pattern).map { String($0.output) } }).sorted()
        let names = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, "customer \($0)") })
        for row in rows {
            counts[row.replacing(pattern) { names[String($0.output)] ?? "no customer" }, default: 0] += 1
        }
    }

    /// At most ten.
    func onlyHere(than other: Lines) -> [String] {
        Array(counts.filter { other.counts[$0.key] != $0.value }.map { "\($0.value)× \($0.key)" }.sorted().prefix(10))
    }
}
