import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let jobs: [StoreClause] = [
        StoreClause("work is there once for each customer and kind, until it is done") { store in
            let one = try await store.bringWithJob("1")
            _ = try await store.bringWithJob("1")
            let two = try await store.bringWithJob("2")
            let claimed = [try await store.claim(), try await store.claim()]
            try expect(claimed.map { $0?.customer.id } == [one.id, two.id], "one for each: \(claimed)")
            try expect(claimed[0]?.identities == [Identity(.appTransactionID, "1")], "with what names them")
            try expect(claimed.allSatisfy { $0?.tries == 0 }, "nobody tried them before")
            try expect(try await store.claim() == nil, "and no third")
            try expect(try await store.waiting(.history) == 2, "what is in hand is not done")
            for case let job? in claimed { try await store.finish(job) }
            try expect(try await store.claim(after: 1e6) == nil, "what is done does not come back")
            try expect(try await store.waiting(.history) == 0, "nor is it counted")
            _ = try await store.bringWithJob("1")
            try expect(try await store.claim()?.customer.id == one.id, "it can be asked for again")
        },
        StoreClause("work that nobody finished comes back after its lease, counted") { store in
            _ = try await store.bringWithJob("1")
            let first = try unwrap(try await store.claim(), "the job")
            try expect(try await store.claim(after: 59.9) == nil, "not before")
            let second = try unwrap(try await store.claim(after: 60), "it again")
            try expect(second.id == first.id && second.tries == 1, "the same, tried once: \(second)")
        },
        StoreClause("work that is put off comes when it is due, the longest waiting first") { store in
            let one = try await store.bringWithJob("1")
            let two = try await store.bringWithJob("2")
            for seconds in [300.0, 200] {
                let job = try unwrap(try await store.claim(), "a job")
                try await store.postpone(job, until: Sample.now.addingTimeInterval(seconds))
            }
            try expect(try await store.claim(after: 199) == nil, "neither is due")
            try expect(try await store.claim(after: 300)?.customer.id == two.id, "the second was due first")
            try expect(try await store.claim(after: 300)?.customer.id == one.id, "then the first")
        },
        StoreClause("two who take work at once never get the same") { store in
            for number in 1...12 { _ = try await store.bringWithJob("\(number)") }
            let taken = try await withThrowingTaskGroup(of: [RecordedJob].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var taken: [RecordedJob] = []
                        while let job = try await store.claim() { taken.append(job) }
                        return taken
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try expect(Set(taken.map(\.id)).count == taken.count, "each once: \(taken.map(\.id))")
            // Who finds all in others' hands goes away; what is left is for the next.
            var count = taken.count
            while try await store.claim() != nil { count += 1 }
            try expect(count == 12, "and all of them: \(count)")
        },
        StoreClause("work on customers who are one asks for the account that it was made for") { store in
            let one = try await store.bringWithJob("1")
            let two = try await store.bringWithJob("2")
            _ = try await store.act(.merge(other: two.publicID), on: one)
            let claimed = [try await store.claim(), try await store.claim()].compactMap { $0 }
            try expect(claimed.map(\.customer.id) == [one.id, one.id], "both of the one: \(claimed)")
            try expect(
                claimed.map(\.identities) == [[Identity(.appTransactionID, "1")], [Identity(.appTransactionID, "2")]],
                "each with its own account: \(claimed.map(\.identities))")
        },
        StoreClause("work on who turned out to be another is on their own account") { store in
            let one = try await store.bring("1")
            let two = try await store.bring("2")
            _ = try await store.act(.merge(other: two.publicID), on: one)
            _ = try await store.bringWithJob("2")
            let job = try unwrap(try await store.claim(), "the job")
            try expect(job.customer.id == one.id && job.customer.member == two.id, "of the one, by the other's account")
            try expect(job.identities == [Identity(.appTransactionID, "2")], "\(job.identities)")
            _ = try await store.bringWithJob("1")
            try expect(
                try await store.claim()?.identities == [Identity(.appTransactionID, "1")], "and each has their own")
            try await store.finish(job)
            try expect(try await store.waiting(.history) == 1, "finished alone")
        },
        StoreClause("work on who is known by nothing but through another names the other") { store in
            let download = Identity(.downloadID, "9")
            _ = try await store.amend([download], in: Sample.production, at: Sample.now) {
                var amendment = Amendment(of: $0)
                amendment.jobs = [.history]
                return (amendment, ())
            }
            let owner = try await store.bring("1")
            _ = try await store.amend(
                [Identity(.appTransactionID, "1"), download], in: Sample.production, at: Sample.now
            ) { (Amendment(of: $0), ()) }
            let job = try unwrap(try await store.claim(), "the job")
            try expect(job.customer.id == owner.id, "of whom they turned out to be")
            try expect(job.identities.contains(Identity(.appTransactionID, "1")), "\(job.identities)")
        },
        StoreClause("work on who is erased is gone, and finishing it late harms nobody") { store in
            let one = try await store.bringWithJob("1")
            let two = try await store.bringWithJob("2")
            let job = try unwrap(try await store.claim(), "the job")
            _ = try await store.act(.erase, on: one)
            try expect(try await store.claim(after: 1e6)?.customer.id == two.id, "only the other's is left")
            try await store.postpone(job, until: Sample.now)
            try await store.finish(job)
            try expect(try await store.claim() == nil, "nothing came back")
        },
        StoreClause("work for a new device is there when the device is new, and not again") { store in
            _ = try await store.bring("1")
            for (device, isNew) in [("a", true), ("a", false), ("b", true), ("a", false)] {
                _ = try await store.amend("1") {
                    $0.see(DeviceSighting(device: device, getsCertificate: true, limit: 9))
                    $0.jobsForNewDevice = [.history]
                }
                let job = try await store.claim()
                if let job { try await store.finish(job) }
                try expect((job != nil) == isNew, "`\(device)`: \(isNew ? "new" : "known")")
            }
        },
        StoreClause("a mark is what it was set to last, and each by its name") { store in
            try expect(try await store.mark("one") == nil, "none at first")
            try await store.setMark("one", to: "1")
            try await store.setMark("two", to: "2")
            try await store.setMark("one", to: "3")
            try expect(try await store.mark("one") == "3", "the last")
            try expect(try await store.mark("two") == "2", "the other's own")
        },
    ]
}

extension Store {
    fileprivate func bringWithJob(_ id: String) async throws -> Customer {
        try await amend(id) { $0.jobs = [.history] }
    }

    /// For a minute, so many seconds later.
    fileprivate func claim(after seconds: TimeInterval = 0) async throws -> RecordedJob? {
        try await claimJob(.history, at: Sample.now.addingTimeInterval(seconds), lease: 60)
    }
}
