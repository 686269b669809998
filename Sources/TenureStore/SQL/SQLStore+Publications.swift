package import Foundation

extension SQLStore {
    package func start(
        with compiled: [UInt8], sha256: [UInt8], at now: Date
    ) async throws(StoreError) -> RecordedPublication {
        try await write(locking: [Self.policies]) { session throws(StoreError) in
            try Ledger(session, at: now).start(with: compiled, sha256: sha256)
        }
    }

    package func publication() async throws(StoreError) -> RecordedPublication? {
        try await read { session throws(StoreError) in try Ledger(session).publication() }
    }

    package func publications() async throws(StoreError) -> [RecordedPublication] {
        try await read { session throws(StoreError) in try Ledger(session).publications() }
    }

    package func ledgerMark() async throws(StoreError) -> LedgerMark {
        try await write(locking: []) { session throws(StoreError) in try Ledger(session).mark() }
    }

    package func survey(after id: Int64, limit: Int) async throws(StoreError) -> [SurveyedCustomer] {
        try await read { session throws(StoreError) in try Ledger(session).survey(after: id, limit: limit) }
    }

    package func restorablePromises(
        after publication: Int64?
    ) async throws(StoreError) -> [Int64: [RecordedPromise]] {
        try await read { session throws(StoreError) in try Ledger(session).restorablePromises(after: publication) }
    }

    package func publish(
        _ request: RequestedPublication, after survey: PublicationSurvey,
        judging judge: @escaping @Sendable (SurveyedCustomer) throws(StoreError) -> PublicationVerdict
    ) async throws(StoreError) -> PublicationOutcome {
        try await write(locking: [Self.policies]) { session throws(StoreError) in
            try Ledger(session, at: request.at).publish(request, after: survey, judging: judge)
        }
    }

    package func record(_ rehearsal: RecordedRehearsal) async throws(StoreError) {
        try await write(locking: []) { session throws(StoreError) in try Ledger(session).insert(rehearsal) }
    }

    package func rehearsal(_ id: String) async throws(StoreError) -> RecordedRehearsal? {
        try await read { session throws(StoreError) in try Ledger(session).rehearsal(id) }
    }

    /// As `record(policy:)` takes.
    private static var policies: String { "policies" }
}
