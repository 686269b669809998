import Foundation
import StoreContract
import TenureCore
import TenureMint
import Testing

@testable import TenureStore

@Suite struct `acts that are written in pieces` {
    private struct Broken: Error {}

    private static let effort = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 1 : 20

    @Test(arguments: 1...6)
    func `leave the same record as in single transactions, whatever breaks off and comes between`(
        seed: Int
    ) async throws {
        try await withRecords { pieces, whole in
            for round in 0..<Self.effort {
                var random = SeededRandom(seed: UInt64(seed + 1000 * round))
                for step in 0..<24 {
                    let now = Date(timeIntervalSince1970: 1_700_000_000 + Double(round * 100 + step) * 1000)
                    let act = RandomAct(number: step, using: &random)
                    var other = RandomAct(number: step + 1000, using: &random)
                    while other.person == act.person { other = RandomAct(number: step + 1000, using: &random) }
                    try await other.perform(in: WholeStore(base: whole), at: now.addingTimeInterval(1))
                    try await act.perform(in: WholeStore(base: whole), at: now)
                    try await perform(act, beside: other, in: pieces, at: now, &random)
                    guard step % 6 == 5 else { continue }
                    try await pieces.removeLeftovers(at: now.addingTimeInterval(2 * 86_400))
                    let (left, right) = (try await Lines(of: pieces), try await Lines(of: whole))
                    #expect(left.onlyHere(than: right) == [], "step \(step): after \(act)")
                    #expect(right.onlyHere(than: left) == [], "step \(step): after \(act)")
                }
            }
        }
    }

    /// Breaks the act off some times, repeats it, and lets the other one happen once, between two pieces if it comes so
    /// far.
    private func perform(
        _ act: RandomAct, beside other: RandomAct, in store: SQLiteStore, at now: Date, _ random: inout SeededRandom
    ) async throws {
        let counted = CountedStore(store)
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
                try await act.perform(in: counted, at: now)
                isDone = true
            } catch StoreError.failed {}
        }
        counted.counts.reset { if $0 == between { try await performOther() } }
        if !isDone { try await act.perform(in: counted, at: now) }
        counted.counts.reset()
        try await performOther()
    }

    private func withRecords(_ body: (SQLiteStore, SQLiteStore) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tenure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pieces = try SQLiteStore(path: folder.appending(path: "pieces.sqlite").path)
        let whole = try SQLiteStore(path: folder.appending(path: "whole.sqlite").path)
        for store in [pieces, whole] {
            _ = try await store.record(policy: [1], sha256: [1], at: Date(timeIntervalSince1970: 1_699_000_000))
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
private protocol Actable: Sendable {
    func amend(
        _ identities: [Identity], at now: Date, adding size: Int,
        _ change: @escaping @Sendable (Customer?) -> Amendment
    ) async throws
    func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> Amendment
    ) async throws(StoreError) -> Reception
    func recordUnbound(
        _ visit: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ amendment: Amendment
    ) async throws(StoreError) -> UnboundRecord?
    func perform(
        _ act: RequestedAct, on customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ActOutcome
    func customers(withAnyID id: String, in realms: [Realm]) async throws(StoreError) -> [Customer]
}

extension Actable where Self: Store {
    func amend(
        _ identities: [Identity], at now: Date, adding size: Int,
        _ change: @escaping @Sendable (Customer?) -> Amendment
    ) async throws {
        _ = try await amend(identities, in: RandomAct.realm, at: now, adding: size) { (change($0), ()) }
    }
}

extension SQLiteStore: Actable {}
extension CountedStore: Actable {}

/// Every act in one transaction.
private struct WholeStore: Actable {
    let base: SQLiteStore

    private func write<Value: Sendable>(
        at now: Date, _ body: @escaping @Sendable (Ledger) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await base.write(locking: []) { session throws(StoreError) in try body(Ledger(session, at: now)) }
    }

    func amend(
        _ identities: [Identity], at now: Date, adding size: Int,
        _ change: @escaping @Sendable (Customer?) -> Amendment
    ) async throws {
        try await write(at: now) { ledger throws(StoreError) in
            _ = try ledger.amend(identities, in: RandomAct.realm, adopting: { _ in true }) { (change($0), ()) }
        }
    }

    func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> Amendment
    ) async throws(StoreError) -> Reception {
        try await write(at: now) { ledger throws(StoreError) in
            if let known = try ledger.reception(of: notification, about: identities) { return known }
            let (customer, _) = try ledger.amend(identities, in: notification.realm, adopting: { _ in true }) {
                (change($0), ())
            }
            try ledger.insert(notification, about: customer)
            return Reception(isNew: true, customer: customer)
        }
    }

    func recordUnbound(
        _ visit: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ amendment: Amendment
    ) async throws(StoreError) -> UnboundRecord? {
        try await write(at: now) { ledger throws(StoreError) in
            let members = Set(try ledger.members(by: identities, in: realm).values)
            guard !members.isEmpty else { return nil }
            let (record, _) = try ledger.amend([visit], in: realm, adopting: { _ in true }) { known in
                var amendment = amendment
                amendment.leaveUnbound()
                amendment.keep(known?.facts.support ?? [])
                return (amendment, ())
            }
            let known = Set(try ledger.links(of: record.id))
            try ledger.unlink(record.id, from: known.subtracting(members))
            try ledger.link(record.id, to: members)
            return nil
        }
    }

    func perform(
        _ act: RequestedAct, on customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ActOutcome {
        try await write(at: act.at) { ledger throws(StoreError) in
            let outcome = try ledger.perform(act, on: customer, by: rederivation)
            while try ledger.hasLeftovers() { try ledger.removeLeftover() }
            return outcome
        }
    }

    func customers(withAnyID id: String, in realms: [Realm]) async throws(StoreError) -> [Customer] {
        try await base.customers(withAnyID: id, in: realms)
    }
}

/// What one of four people does, or somebody does to them.
private struct RandomAct: Sendable, CustomStringConvertible {
    static let realm = Realm(.production)

    enum Kind: CaseIterable {
        case smallSync, largeSync, complete, subscription, bare, notification, unbound, erasure, grant, revocation
    }

    let person: Int
    let description: String
    private let kind: Kind
    private let numbers: Range<Int>
    private let number: Int

    init(number: Int, using random: inout SeededRandom) {
        self.number = number
        person = Int.random(in: 0..<4, using: &random)
        // Syncs more often than the rest.
        let kinds = Kind.allCases + [.largeSync, .largeSync, .complete, .subscription, .bare, .unbound]
        kind = kinds.randomElement(using: &random) ?? .smallSync
        let first = Int.random(in: 0..<100, using: &random)
        let count = [.smallSync, .bare].contains(kind) ? 3 : Int.random(in: 40...260, using: &random)
        numbers = first..<first + count
        description = "\(kind) of \(person), \(numbers)"
    }

    private var account: Identity { Identity(.appTransactionID, "person \(person)") }

    private func original(_ number: Int) -> Identity { Identity(.originalTransactionID, "\(person)-\(number)") }

    func perform(in store: some Actable, at now: Date) async throws {
        let act = self
        switch kind {
        case .smallSync, .largeSync, .complete:
            try await store.amend([account] + numbers.map(original), at: now, adding: 2 * numbers.count) {
                act.list(of: $0, at: now)
            }
        case .subscription:
            try await store.amend([account, original(0)], at: now, adding: numbers.count + 1) { act.renewals(of: $0) }
        case .bare:
            try await store.amend([original(numbers.lowerBound)], at: now, adding: 2) { known in
                var amendment = Amendment(of: known)
                amendment.add(
                    [act.artifact(numbers.lowerBound)], purchases: [act.purchase(numbers.lowerBound)])
                return amendment
            }
        case .notification:
            let notification = StoredNotification(
                realm: Self.realm, uuid: "\(number)", type: "DID_RENEW", subtype: nil, signedDate: now,
                bytes: Array("e30.\(number).c2ln".utf8))
            _ = try await store.receive(notification, about: [account, original(0)], at: now) { known in
                var amendment = Amendment(of: known)
                amendment.add([], purchases: [act.purchase(act.number)])
                return amendment
            }
        case .unbound:
            _ = try await store.recordUnbound(
                Identity(visitLedBy: .app, naming: account, showing: "\(numbers)"),
                naming: [account] + numbers.map(original), in: Self.realm, at: now, list(of: nil, at: now))
        case .erasure: try await ask(.erase, in: store, at: now)
        case .grant: try await ask(.grant(entitlement: "everything", until: nil), in: store, at: now)
        case .revocation: try await ask(.revoke(entitlement: "everything"), in: store, at: now)
        }
    }

    private func ask(_ act: CustomerAct, in store: some Actable, at now: Date) async throws {
        var id = try await store.customers(withAnyID: account.value, in: [Self.realm]).first?.publicID
        // What broke off is asked for again by the same id.
        if id == nil, case .erase = act { id = await Asked.shared.id(of: person, in: store) }
        guard let id else { return }
        await Asked.shared.set(id, of: person, in: store)
        _ = try await store.perform(
            RequestedAct(act, actor: "ada", at: now), on: .publicID(id),
            by: Rederivation { _ throws(StoreError) in CustomerFacts() })
        await Asked.shared.set(nil, of: person, in: store)
    }

    private func list(of known: Customer?, at now: Date) -> Amendment {
        var amendment = Amendment(of: known)
        let proof = AppProof(
            kind: .appTransaction, signedDate: nil, id: .appTransaction(account.value), originalPlatform: .iOS,
            originalAppVersion: "37", originalPurchaseDate: Date(timeIntervalSince1970: 1_400_000_000))
        amendment.add(numbers.map(artifact), proving: [proof], purchases: numbers.map(purchase))
        amendment.identify(by: numbers.map { Identity(.webOrderLineItemID, "\(person) order \($0)") })
        if kind == .complete {
            amendment.completePurchases()
            amendment.promise(
                RecordedPromise(
                    entitlement: "everything",
                    acquisition: AcquisitionKey(
                        appTransactionID: account.value, downloadID: nil, originalPurchaseDate: nil),
                    policyVersion: 1, until: nil, recordedAt: now))
        }
        return amendment
    }

    private func renewals(of known: Customer?) -> Amendment {
        var amendment = Amendment(of: known)
        amendment.add(
            [artifact(numbers.count)],
            purchases: numbers.map { number in
                Purchase(
                    transactionID: "\(person)-renewal-\(number)", originalTransactionID: "\(person)-0",
                    productID: "com.example.calculator.yearly", type: .autoRenewable,
                    purchaseDate: Date(timeIntervalSince1970: 1_600_000_000), signedDate: nil)
            })
        return amendment
    }

    private func purchase(_ number: Int) -> Purchase {
        Purchase(
            transactionID: "\(person)-\(number)", productID: "com.example.calculator.everything", type: .nonConsumable,
            purchaseDate: Date(timeIntervalSince1970: 1_600_000_000), signedDate: nil)
    }

    private func artifact(_ number: Int) -> Artifact {
        let bytes = Array("e30.\(person)-\(number).c2ln".utf8)
        return Artifact(
            .transaction, bytes: bytes, sha256: bytes + [UInt8](repeating: 0, count: max(0, 32 - bytes.count)),
            signedDate: nil)
    }
}

/// By which public id an act was asked for that broke off.
private actor Asked {
    static let shared = Asked()
    private var ids: [String: String] = [:]

    func id(of person: Int, in store: some Actable) -> String? { ids[key(person, store)] }
    func set(_ id: String?, of person: Int, in store: some Actable) { ids[key(person, store)] = id }

    private func key(_ person: Int, _ store: some Actable) -> String {
        let id: [UInt8]? = (store as? any Store)?.recordID ?? (store as? WholeStore)?.base.recordID
        return "\(person) \((id ?? []).description)"
    }
}

/// All rows of a record, without what is random or depends on how often something was tried.
private struct Lines {
    private var counts: [String: Int] = [:]

    init(of store: SQLiteStore) async throws {
        let rows = try await store.read { session throws(StoreError) -> [String] in
            var rows: [String] = []
            try RecordWalk(session).eachEntry { entry throws(StoreError) in
                guard !["record", "marks"].contains(entry.table.name) else { return }
                var row = entry.table.name
                for (index, column) in entry.table.columns.enumerated() {
                    let isNumber = entry.table.isNumbered && entry.table.key == [index]
                    guard !isNumber, !["act", "digest", "header"].contains(column.name) || entry.table.name == "audit"
                    else { continue }
                    row += " \(column.name)=\(entry.values[index])"
                }
                rows.append(row)
            }
            return rows
        }
        // Public ids are in the order of time, and then random.
        let pattern = /cus_[0-9A-Za-z]+/
        let ids = Set(rows.flatMap { row in row.matches(of: pattern).map { String($0.output) } }).sorted()
        let names = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, "customer \($0)") })
        for row in rows {
            counts[row.replacing(pattern) { names[String($0.output)] ?? "nobody" }, default: 0] += 1
        }
    }

    /// At most ten.
    func onlyHere(than other: Lines) -> [String] {
        Array(counts.filter { other.counts[$0.key] != $0.value }.map { "\($0.value)× \($0.key)" }.sorted().prefix(10))
    }
}
