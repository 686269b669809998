import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let jobs: [StoreClause] = [
        StoreClause("a customer has one job of a kind until it is finished") { store in
            let one = try await store.bringWithJob("1")
            _ = try await store.bringWithJob("1")
            let two = try await store.bringWithJob("2")
            let claimed = [try await store.claim(), try await store.claim()]
            try expect(claimed.map { $0?.customer.id } == [one.id, two.id], "one for each: \(claimed)")
            try expect(claimed[0]?.identities == [Identity(.appTransactionID, "1")], "with the customer's identities")
            try expect(claimed.allSatisfy { $0?.tries == 0 }, "not tried before")
            try expect(try await store.claim() == nil, "there is no third job")
            try expect(
                try await store.read { try $0.unfinishedJobCount() } == 2,
                "claimed jobs still wait to be finished")
            for case let job? in claimed { try await store.write { try $0.finish(job) } }
            try expect(try await store.claim(after: 1e6) == nil, "finished jobs don't come back")
            try expect(
                try await store.read { try $0.unfinishedJobCount() } == 0,
                "finished jobs aren't counted as unfinished")
            _ = try await store.bringWithJob("1")
            try expect(try await store.claim()?.customer.id == one.id, "a new job can be created")
        },
        StoreClause("an unfinished job comes back after its lease with one more try") { store in
            _ = try await store.bringWithJob("1")
            let first = try unwrap(try await store.claim(), "the job")
            try expect(try await store.claim(after: 59.9) == nil, "no job comes back before its lease ends")
            let second = try unwrap(try await store.claim(after: 60), "the same job again")
            try expect(second.id == first.id && second.tries == 1, "the same, tried once: \(second)")
        },
        StoreClause("postponed jobs come back when they are due, in the order of their due dates") { store in
            let one = try await store.bringWithJob("1")
            let two = try await store.bringWithJob("2")
            for seconds in [300.0, 200] {
                let job = try unwrap(try await store.claim(), "a job")
                try await store.write { try $0.postpone(job, until: Sample.now.addingTimeInterval(seconds)) }
            }
            try expect(try await store.claim(after: 199) == nil, "neither postponed job is due")
            try expect(try await store.claim(after: 300)?.customer.id == two.id, "the second was due first")
            try expect(try await store.claim(after: 300)?.customer.id == one.id, "the first job is due later")
        },
        StoreClause("concurrent workers never claim the same job") { store in
            for number in 1...12 { _ = try await store.bringWithJob("\(number)") }
            let taken = try await withThrowingTaskGroup(of: [StoredJob].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var taken: [StoredJob] = []
                        while let job = try await store.claim() { taken.append(job) }
                        return taken
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try expect(Set(taken.map(\.id)).count == taken.count, "each once: \(taken.map(\.id))")
            // A worker stops if other workers have locked all jobs that it sees. The next worker takes the rest.
            var count = taken.count
            while try await store.claim() != nil { count += 1 }
            try expect(count == 12, "all jobs: \(count)")
        },
        StoreClause("each job of a merged customer asks for the account for which it was created") { store in
            let one = try await store.bringWithJob("1")
            let two = try await store.bringWithJob("2")
            _ = try await store.change(.merge(other: two.publicID), on: one)
            let claimed = [try await store.claim(), try await store.claim()].compactMap { $0 }
            try expect(
                claimed.map(\.customer.id) == [one.id, one.id], "both jobs belong to the merged customer: \(claimed)")
            try expect(
                claimed.map(\.identities) == [[Identity(.appTransactionID, "1")], [Identity(.appTransactionID, "2")]],
                "each with its own account: \(claimed.map(\.identities))")
        },
        StoreClause("a job for a merged account asks for that account") { store in
            let one = try await store.bring("1")
            let two = try await store.bring("2")
            _ = try await store.change(.merge(other: two.publicID), on: one)
            _ = try await store.bringWithJob("2")
            let job = try unwrap(try await store.claim(), "the job")
            try expect(
                job.customer.id == one.id && job.customer.member == two.id,
                "the merged customer, with the other account")
            try expect(job.identities == [Identity(.appTransactionID, "2")], "\(job.identities)")
            _ = try await store.bringWithJob("1")
            try expect(
                try await store.claim()?.identities == [Identity(.appTransactionID, "1")],
                "the first account has its own job")
            try await store.write { try $0.finish(job) }
            try expect(
                try await store.read { try $0.unfinishedJobCount() } == 1, "only the finished job is gone")
        },
        StoreClause("a job for a merged customer without an account uses the other customer's account") { store in
            let download = Identity(.downloadID, "9")
            _ = try await store.update([download], in: Sample.production, at: Sample.now) {
                var update = CustomerUpdate(of: $0)
                update.fetchesHistory = true
                return (update, ())
            }
            let owner = try await store.bring("1")
            _ = try await store.update(
                [Identity(.appTransactionID, "1"), download], in: Sample.production, at: Sample.now
            ) { (CustomerUpdate(of: $0), ()) }
            let job = try unwrap(try await store.claim(), "the job")
            try expect(job.customer.id == owner.id, "the customer into whom they were merged")
            try expect(job.identities.contains(Identity(.appTransactionID, "1")), "\(job.identities)")
        },
        StoreClause("the jobs of an erased customer are removed, and finishing a removed job changes no other job") {
            store in
            let one = try await store.bringWithJob("1")
            let two = try await store.bringWithJob("2")
            let job = try unwrap(try await store.claim(), "the job")
            _ = try await store.change(.erase, on: one)
            try expect(
                try await store.claim(after: 1e6)?.customer.id == two.id, "only the other customer's job is left")
            try await store.write { try $0.postpone(job, until: Sample.now) }
            try await store.write { try $0.finish(job) }
            try expect(try await store.claim() == nil, "nothing came back")
            try expect(try await store.claim(after: 2e6)?.customer.id == two.id, "the other job comes back as usual")
            try expect(try await store.claim(after: 2e6) == nil, "and there is no third job")
        },
        StoreClause("jobs without a customer are removed, and don't keep a worker from the next job") { store in
            try await store.write { transaction in
                for subject in ["x", "y"] {
                    try transaction.session.execute(
                        "INSERT INTO jobs (kind, subject, due_at, attempts) VALUES ('history', $1, 0, 0)",
                        [.text(subject)])
                }
            }
            let one = try await store.bringWithJob("1")
            try expect(try await store.claim()?.customer.id == one.id, "the first claim returns the customer's job")
            try expect(try await store.read { try $0.unfinishedJobCount() } == 1, "the other jobs are gone")
        },
        StoreClause("a new device creates a job, and a known device doesn't") { store in
            _ = try await store.bring("1")
            for (device, isNew) in [("a", true), ("a", false), ("b", true), ("a", false)] {
                _ = try await store.update("1") {
                    $0.addUse(of: DeviceUse(device: device, getsEntitlementToken: true, limit: 9))
                    $0.fetchesHistoryForNewDevice = true
                }
                let job = try await store.claim()
                if let job { try await store.write { try $0.finish(job) } }
                try expect((job != nil) == isNew, "`\(device)`: \(isNew ? "new" : "known")")
            }
            _ = try await store.update("1") {
                $0.addUse(of: DeviceUse(device: "c", getsEntitlementToken: true, limit: 9))
            }
            try expect(try await store.claim() == nil, "not without being asked for")
            let new = try await store.update("2") {
                $0.addUse(of: DeviceUse(device: "a", getsEntitlementToken: true, limit: 9))
                $0.fetchesHistoryForNewDevice = true
            }
            try expect(try await store.claim()?.customer.id == new.id, "the first device of a new customer is new")
        },
        StoreClause("progress is stored by name and has its last value") { store in
            try expect(try await store.read { try $0.storedValue(named: "one") } == nil, "none at first")
            try await store.write(locking: [.progress("one")]) { try $0.setStoredValue(named: "one", to: "1") }
            try await store.write(locking: [.progress("two")]) { try $0.setStoredValue(named: "two", to: "2") }
            try await store.write(locking: [.progress("one")]) { try $0.setStoredValue(named: "one", to: "3") }
            try expect(try await store.read { try $0.storedValue(named: "one") } == "3", "the last")
            try expect(try await store.read { try $0.storedValue(named: "two") } == "2", "the other one is unchanged")
        },
    ]
}

extension Store {
    fileprivate func bringWithJob(_ id: String) async throws -> Customer {
        try await update(id) { $0.fetchesHistory = true }
    }

    /// Claims a job for a minute, at `seconds` after `Sample.now`.
    fileprivate func claim(after seconds: TimeInterval = 0) async throws -> StoredJob? {
        try await write(at: Sample.now.addingTimeInterval(seconds)) { try $0.claimJob(lease: 60) }
    }
}
