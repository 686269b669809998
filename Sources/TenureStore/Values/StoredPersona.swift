package import Foundation
package import TenureCore

/// A customer to rehearse with, as the record keeps them: never one of those who came.
package struct StoredPersona: Sendable, Hashable {
    /// The record's own number, never given twice; 0 before it was written.
    package let number: Int64
    /// Random and opaque; what its token says.
    package let publicID: String
    package let persona: Persona
    package let createdAt: Date
    /// From then on it stands for nobody.
    package let expiresAt: Date
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

    package func isGood(at now: Date) -> Bool { revokedAt == nil && now < expiresAt }
}
