import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// Finds the persona that a sync or an access token names, and checks that it isn't revoked.
struct ActivePersonas: Sendable {
    let store: Store
    let keys: SigningKeys
    let bundleID: String

    enum Answer: Sendable {
        case nobody
        case persona(StoredPersona)
        case rejected(RejectedArtifact)
    }

    /// Of what a client sent beside its artifacts. Throws where the record cannot be read.
    func answer(to token: String?, at now: Date) async throws(StoreError) -> Answer {
        guard let token else { return .nobody }
        guard let claims = PersonaToken.claims(of: token, by: keys.current), claims.bundleID == bundleID,
            let persona = try await store.read({ try $0.persona(by: claims.jti) })
        else {
            return .rejected(
                RejectedArtifact(
                    .persona, .personaUnknown,
                    "this service made no such persona; make one by `tenure persona create`"))
        }
        if persona.revokedAt != nil {
            return .rejected(RejectedArtifact(.persona, .personaRevoked, "the persona `\(persona.name)` was revoked"))
        }
        if !persona.isGood(at: now) {
            return .rejected(
                RejectedArtifact(
                    .persona, .personaExpired, "the persona `\(persona.name)` expired \(persona.expiresAt.rfc3339)"))
        }
        return .persona(persona)
    }

    /// Who stands in for the customer of an access token; nil where nobody does. Throws where the token is of a persona
    /// that expired or was revoked since.
    func persona(of token: AccessToken, at now: Date) async throws -> Persona? {
        try await persona(token.persona, in: token.realm, at: now)
    }

    /// The same for a token of any kind, which names a persona by its number.
    func persona(_ number: Int64?, in realm: Realm, at now: Date) async throws -> Persona? {
        guard let number else { return nil }
        guard let persona = try await store.read({ try $0.persona(number) }), persona.isGood(at: now),
            !realm.environment.isProduction
        else { throw CustomerAccess.refused }
        return persona.persona
    }
}

extension ActivePersonas.Answer {
    /// Beside what was verified in this environment.
    func beside(_ environment: AppStoreEnvironment) -> ActivePersonas.Answer {
        guard case .persona(let persona) = self, environment.isProduction else { return self }
        return .rejected(
            RejectedArtifact(
                .persona, .personaRefused,
                "the persona `\(persona.name)` stands in beside Sandbox or Xcode artifacts only, and these are Production's"
            ))
    }

    var persona: StoredPersona? { if case .persona(let persona) = self { persona } else { nil } }

    var rejected: [RejectedArtifact] { if case .rejected(let artifact) = self { [artifact] } else { [] } }
}

extension Customer {
    /// What is known of them, with who stands in for them.
    func evidence(as persona: Persona?) -> Evidence { facts.evidence(in: realm.environment, as: persona) }
}
