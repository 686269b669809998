package import Foundation
package import TenureCore
import TenureJSON

/// A persona: a test customer, stored apart from real customers.
package struct StoredPersona: Sendable, Hashable {
    /// The row's ID, which is never reused. 0 until the row is written.
    package let number: Int64
    /// Random and opaque. The persona's token contains it.
    package let publicID: String
    package let persona: Persona
    package let createdAt: Date
    /// The persona can't be used from this instant on.
    package let expiresAt: Date
    /// When the persona was revoked; nil if it wasn't.
    package let revokedAt: Date?

    package var name: String { persona.name }

    package init(
        number: Int64 = 0, publicID: String = PublicID.persona.random(), persona: Persona, createdAt: Date,
        expiresAt: Date, revokedAt: Date? = nil
    ) {
        self.number = number
        self.publicID = publicID
        self.persona = persona
        self.createdAt = createdAt.toMillisecond
        self.expiresAt = expiresAt.toMillisecond
        self.revokedAt = revokedAt?.toMillisecond
    }

    package func isValid(at now: Date) -> Bool { revokedAt == nil && now < expiresAt }
}

/// Stores, finds and revokes personas: test customers for sandbox builds.
extension DatabaseTransaction {
    /// Stores all personas, or none if one of their names is taken by a valid persona. With `replacing`, revokes the
    /// valid personas with these names, and stores all.
    ///
    /// Returns the names that are taken; empty if all personas were stored.
    package func create(_ personas: [StoredPersona], replacing: Bool, actor: String) throws(StoreError) -> [String] {
        var taken: [String] = []
        // With `replacing`, no name counts as taken.
        for persona in personas where !replacing {
            if try unrevokedPersona(named: persona.name)?.isValid(at: now) == true { taken.append(persona.name) }
        }
        guard taken.isEmpty else { return taken }
        for persona in personas {
            // Expired personas with this name are revoked too.
            _ = try revokePersona(named: persona.name, actor: actor)
            try session.execute(
                "INSERT INTO personas (public_id, name, facts, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)",
                [
                    .text(persona.publicID), .text(persona.name), .blob(persona.facts.encoded),
                    SQLValue(persona.createdAt), SQLValue(persona.expiresAt),
                ])
            let detail = ["persona": persona.name, "expires": persona.expiresAt.rfc3339]
            try audit(AuditEntry(at: now, actor: actor, action: "createPersona", detail: detail))
        }
        return []
    }

    /// Revokes the persona with this name, and returns it. Returns nil if there is no such persona, or if it is already
    /// revoked. An expired persona is revoked, but nil is returned.
    package func revokePersona(named name: String, actor: String) throws(StoreError) -> StoredPersona? {
        guard let persona = try unrevokedPersona(named: name) else { return nil }
        try session.execute(
            "UPDATE personas SET revoked_at = $1 WHERE id = $2", [milliseconds, .integer(persona.number)])
        guard persona.isValid(at: now) else { return nil }
        try audit(AuditEntry(at: now, actor: actor, action: "revokePersona", detail: ["persona": name]))
        return try personas("WHERE id = $1", [.integer(persona.number)]).first
    }

    /// All personas, even expired and revoked ones, in the order in which they were created.
    package func personas() throws(StoreError) -> [StoredPersona] { try personas("ORDER BY id", []) }

    /// The persona with this row ID, even if it has expired or was revoked; nil if there is no such persona.
    package func persona(_ number: Int64) throws(StoreError) -> StoredPersona? {
        try personas("WHERE id = $1", [.integer(number)]).first
    }

    /// The persona with this public ID, even if it has expired or was revoked; nil if there is no such persona.
    package func persona(by publicID: String) throws(StoreError) -> StoredPersona? {
        try personas("WHERE public_id = $1", [.text(publicID)]).first
    }

    /// The persona with this name that wasn't revoked, even if it has expired.
    private func unrevokedPersona(named name: String) throws(StoreError) -> StoredPersona? {
        try personas("WHERE name = $1 AND revoked_at IS NULL", [.text(name)]).first
    }

    /// Reads the personas that an SQL clause selects.
    private func personas(_ condition: String, _ arguments: [SQLValue]) throws(StoreError) -> [StoredPersona] {
        try session.rows(
            "SELECT id, public_id, name, facts, created_at, expires_at, revoked_at FROM personas \(condition)",
            arguments
        ).map { row throws(StoreError) in
            let name = try row.text(2)
            guard let proof = try CustomerFacts(decoding: try row.bytes(3)).proofs.first
            else { throw .damaged("the persona `\(name)` has no proof") }
            return StoredPersona(
                number: try row.integer(0), publicID: try row.text(1), persona: Persona(name: name, proof: proof),
                createdAt: try row.instant(4), expiresAt: try row.instant(5), revokedAt: try row.instantIfPresent(6))
        }
    }
}

extension StoredPersona {
    /// The proof as facts, the only form in which the database stores proofs.
    fileprivate var facts: CustomerFacts {
        var facts = CustomerFacts()
        facts.add([persona.proof])
        return facts
    }
}
