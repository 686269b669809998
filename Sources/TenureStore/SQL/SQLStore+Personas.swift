package import Foundation

extension SQLStore {
    package func create(
        _ personas: [RecordedPersona], replacing: Bool, actor: String, at now: Date
    ) async throws(StoreError) -> [String] {
        try await write(locking: [Self.personas]) { session throws(StoreError) in
            try Ledger(session, at: now).create(personas, replacing: replacing, actor: actor)
        }
    }

    package func revokePersona(
        named name: String, at now: Date, actor: String
    ) async throws(StoreError) -> RecordedPersona? {
        try await write(locking: [Self.personas]) { session throws(StoreError) in
            try Ledger(session, at: now).revokePersona(named: name, actor: actor)
        }
    }

    package func personas() async throws(StoreError) -> [RecordedPersona] {
        try await read { session throws(StoreError) in try Ledger(session).personas() }
    }

    package func persona(_ number: Int64) async throws(StoreError) -> RecordedPersona? {
        try await read { session throws(StoreError) in try Ledger(session).persona(number) }
    }

    package func persona(by publicID: String) async throws(StoreError) -> RecordedPersona? {
        try await read { session throws(StoreError) in try Ledger(session).persona(by: publicID) }
    }

    private static var personas: String { "personas" }
}
