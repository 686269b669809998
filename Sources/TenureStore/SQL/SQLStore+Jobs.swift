package import Foundation
import TenureCore

extension SQLStore {
    package func claimJob(
        _ kind: RecordedJob.Kind, at now: Date, lease: TimeInterval
    ) async throws(StoreError) -> RecordedJob? {
        try await write(locking: []) { session throws(StoreError) in
            try Ledger(session, at: now).claimJob(kind, lease: lease)
        }
    }

    package func waiting(_ kind: RecordedJob.Kind) async throws(StoreError) -> Int {
        try await read { session throws(StoreError) in try Ledger(session).waiting(kind) }
    }

    package func finish(_ job: RecordedJob) async throws(StoreError) {
        try await write(locking: []) { session throws(StoreError) in try Ledger(session).finish(job) }
    }

    package func postpone(_ job: RecordedJob, until instant: Date) async throws(StoreError) {
        try await write(locking: []) { session throws(StoreError) in
            try Ledger(session).postpone(job, until: instant)
        }
    }

    package func mark(_ name: String) async throws(StoreError) -> String? {
        try await read { session throws(StoreError) in try Ledger(session).mark(name) }
    }

    package func setMark(_ name: String, to value: String) async throws(StoreError) {
        try await write(locking: ["mark \(name)"]) { session throws(StoreError) in
            try Ledger(session).setMark(name, to: value)
        }
    }
}
