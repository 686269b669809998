import Foundation
import TenureCore
import TenureMint
import TenureStore

extension StoreClause {
    /// In any order of merges and links, five acquisitions and three users keep their own data.
    static let shuffledChanges: [StoreClause] = (1...8).map { seed in
        StoreClause("merges and links in any order keep every identity, promise and fact (\(seed))") { store in
            var random = SeededRandom(seed: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
            let policy = try await store.record(policy: [1], sha256: [1])
            let ids = (0..<5).map(String.init)
            var originals: [Customer] = []
            for id in ids {
                originals.append(try await store.bring(id, purchases: ["p\(id)"], promisedUnder: policy))
            }
            let testBed = ShuffledTestBed(store: store, originals: originals)
            for _ in 0..<40 {
                try await testBed.step(&random)
                try await testBed.check()
            }
            try await testBed.separateAll()
            for original in originals {
                let alone = try await store.present(original)
                try expect(alone.id == original.id, "each customer is separate again")
                try expect(alone.facts == original.facts, "with exactly their own facts")
            }
        }
    }
}

/// A store with five customers, on which random merges and links are performed.
private struct ShuffledTestBed {
    let store: Store
    let originals: [Customer]

    func step(_ random: inout SeededRandom) async throws {
        let one = originals[Int.random(in: originals.indices, using: &random)]
        let other = originals[Int.random(in: originals.indices, using: &random)]
        let user = ["u", "v", "w"][Int.random(in: 0..<3, using: &random)]
        let transfer = Transfer.allCases[Int.random(in: 0..<3, using: &random)]
        switch Int.random(in: 0..<7, using: &random) {
        case 0: _ = try await store.change(.merge(other: other.publicID), on: one)
        case 1: _ = try await store.change(.unmerge(other: other.publicID), on: one)
        case 2, 3: try await link(user, to: one, transfer)
        case 4: _ = try await store.change(.unlink(user: user), on: one)
        case 5: try await mergeAndBack(one, other)
        default:
            // The device syncs the same artifacts again.
            let index = originals.firstIndex(of: one) ?? 0
            _ = try await store.bring(String(index), purchases: ["p\(index)"])
        }
    }

    private func users(of customer: Customer) async throws -> Set<String> {
        let details = try unwrap(
            try await store.read { try $0.details(of: .rowID(customer.id), with: []) }, "the details")
        return Set(details.identities.filter { $0.kind == .userID }.map(\.value))
    }

    private func link(_ user: String, to customer: Customer, _ transfer: Transfer) async throws {
        let before = try await users(of: customer)
        let outcome = try await store.change(.link(user: user, transfer), on: customer)
        let after = try await users(of: customer)
        switch outcome {
        case .done: try expect(after.contains(user), "the link holds")
        default: try expect(after == before, "a refused link changes nothing")
        }
        guard outcome.isNew else { return }
        switch transfer {
        case .never: try expect(before.isEmpty, "never: no user had it")
        case .newest: try expect(before.isEmpty || before.isDisjoint(with: after), "newest: the earlier users lost it")
        case .share: try expect(before.isSubset(of: after), "share: the earlier users keep it")
        }
    }

    /// A merge that is undone at once changes neither customer.
    private func mergeAndBack(_ one: Customer, _ other: Customer) async throws {
        let (first, second) = (try await store.present(one), try await store.present(other))
        guard first.id != second.id else { return }
        guard try await store.change(.merge(other: second.publicID), on: one).isNew else { return }
        let merged = try await store.present(other)
        try expect(merged.facts.promises.count == first.facts.promises.count + second.facts.promises.count, "promises")
        _ = try await store.change(.unmerge(other: second.publicID), on: one)
        try expect(try await store.present(one) == first, "the first is as before")
        try expect(try await store.present(other) == second, "so is the second")
    }

    func check() async throws {
        var promises = 0
        for id in try await store.read({ try $0.customers(after: 0, limit: 100) }) {
            let known = try unwrap(try await store.lookUp(id), "a customer")
            let rederived = try unwrap(try await store.rebuild(id, by: Sample.facts), "what they have")
            try expect(!rederived.hasChanged, "the stored facts of \(known.publicID) equal those from its artifacts")
            promises += known.facts.promises.count
        }
        try expect(promises == originals.count, "no promise is lost or duplicated")
        for (index, original) in originals.enumerated() {
            let found = try await store.customer(by: Identity(.appTransactionID, String(index)), in: Sample.production)
            let present = try await store.present(original)
            try expect(found?.id == present.id, "each ID finds the customer into whom its owner was merged")
            try expect(
                present.facts.promises.contains { $0.acquisition.appTransactionID == String(index) },
                "who has its promise")
            try expect(
                present.facts.purchases.contains { $0.transactionID == "p\(index)" }, "and its purchase")
        }
    }

    func separateAll() async throws {
        for user in ["u", "v", "w"] {
            for original in originals { _ = try await store.change(.unlink(user: user), on: original) }
        }
        for original in originals { _ = try await store.change(.unmerge(other: original.publicID), on: original) }
    }
}
