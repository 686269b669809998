import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// Finds the persona in a sync or an access token, and rejects personas that have expired or were revoked. A persona is
/// a test customer that replaces the real one in sandbox builds.
struct ActivePersonas: Sendable {
    let store: Store
    let keys: SigningKeys
    /// The bundle ID of the app. Personas of other apps are rejected.
    let bundleID: String

    /// The result of checking the persona token in a sync.
    enum TokenCheck: Sendable {
        /// The client sent no persona token.
        case noPersona
        case persona(StoredPersona)
        case rejected(ArtifactProblem.Relation, String)

        /// Returns the result for a request with artifacts from this environment: a valid persona is rejected if the
        /// artifacts are from Production (rule I4 in Docs/decision-rules.md).
        func combined(withArtifactsFrom environment: AppStoreEnvironment) -> TokenCheck {
            guard case .persona(let persona) = self, environment.isProduction else { return self }
            return .rejected(
                .personaRefused,
                "the persona `\(persona.name)` works only with Sandbox and Xcode artifacts; these are from Production")
        }

        /// The valid persona; nil if the client sent none, or if it was rejected.
        var persona: StoredPersona? { if case .persona(let persona) = self { persona } else { nil } }

        /// The rejected persona token; empty if the token is valid or missing.
        var rejected: [RejectedArtifact] {
            guard case .rejected(let reason, let detail) = self else { return [] }
            return [RejectedArtifact(.persona, reason, detail)]
        }
    }

    /// Checks the persona token that a client sent with its artifacts. Throws if the database can't be read.
    func check(_ token: String?, at now: Date) async throws(StoreError) -> TokenCheck {
        guard let token else { return .noPersona }
        guard let claims = PersonaToken.claims(of: token, signedBy: keys.current), claims.bundleID == bundleID,
            let persona = try await store.read({ try $0.persona(by: claims.jti) })
        else {
            return .rejected(
                .personaUnknown, "this service has no such persona; create one with `tenure persona create`")
        }
        if persona.revokedAt != nil {
            return .rejected(
                .personaRevoked, "the persona `\(persona.name)` was revoked; send the token of another persona")
        }
        if !persona.isValid(at: now) {
            let end = persona.expiresAt.rfc3339
            return .rejected(.personaExpired, "the persona `\(persona.name)` expired on \(end); create it again")
        }
        return .persona(persona)
    }

    /// Returns the persona that replaces the customer of an access token; nil if the token has no persona. Throws in
    /// the same cases as `persona(_:in:at:)`.
    func persona(of token: AccessToken, at now: Date) async throws -> Persona? {
        try await persona(token.persona, in: token.realm, at: now)
    }

    /// Returns the persona with this row ID; nil if `id` is nil. Access tokens and download links contain such a row
    /// ID. Throws if the persona is unknown, has expired or was revoked, or if the environment of the realm is
    /// Production.
    func persona(_ id: Int64?, in realm: Realm, at now: Date) async throws -> Persona? {
        guard let id else { return nil }
        guard let persona = try await store.read({ try $0.persona(id) }), persona.isValid(at: now),
            !realm.environment.isProduction
        else { throw Problem.accessTokenRefused }
        return persona.persona
    }
}
