package import Foundation
package import TenureCore

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
