import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// The routes that list, create and revoke personas: test customers for sandbox builds.
struct PersonaHandlers: Sendable {
    let store: Store
    let policies: ActivePolicy
    let personas: ActivePersonas
    let now: @Sendable () -> Date

    /// The seconds until a persona expires if the request has no `expires`.
    private static let defaultLifetime: TimeInterval = 30 * 86_400
    /// The most seconds until a persona expires.
    private static let maximumLifetime: TimeInterval = 366 * 86_400

    /// `GET /v1/admin/personas`: all personas, including expired and revoked personas.
    @Sendable func list(_ call: AdminCall) async throws -> Response {
        try .encoded(PersonasAnswer(personas: try await store.read { try $0.personas() }.map { answer(for: $0) }))
    }

    /// `POST /v1/admin/personas`: creates a persona with the settings in the request, and responds with its token.
    @Sendable func create(_ call: AdminCall) async throws -> Response {
        let body = try await call.body(PersonaRequest.self)
        guard !body.name.isEmpty, body.name.utf8.count <= 64, body.name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Problem(
                .malformedRequest,
                "`name` must have 1 to 64 characters: ASCII letters, digits and punctuation, no spaces")
        }
        let proof = try AppProof(settings: body.set ?? [:], signed: now())
        let answers = try await create(
            [NewPersona(name: body.name, what: nil, proof: proof)], expiring: body.expires,
            replacing: body.replace ?? false, by: call.actor)
        return try .encoded(PersonasAnswer(personas: answers))
    }

    /// `POST /v1/admin/personas/ready-made`: creates the personas that test the current policy, and responds with their
    /// tokens.
    @Sendable func createReadyMade(_ call: AdminCall) async throws -> Response {
        let body = try await call.body(ReadyMadePersonasRequest.self)
        try await policies.refresh()
        let policy = policies.current
        let platform = try body.platform.map { name throws(Problem) in
            guard let platform = Platform(rawValue: name) else {
                let platforms = Platform.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(.malformedRequest, "unknown `platform` `\(name.prefix(64))`; use one of \(platforms)")
            }
            return platform
        }
        let readyMade = ReadyMadePersonas(policy, on: platform ?? ReadyMadePersonas.platform(of: policy), signed: now())
        let answers = try await create(
            readyMade.personas, expiring: body.expires, replacing: body.replace ?? false, by: call.actor)
        return try .encoded(PersonasAnswer(personas: answers, omitted: readyMade.omittedPersonas))
    }

    /// `DELETE /v1/admin/personas/{name}`: revokes a persona. Its tokens are rejected from the next request on.
    @Sendable func revoke(_ call: AdminCall) async throws -> Response {
        let (name, actor) = (try call.context.pathID("name"), call.actor)
        guard
            let persona = try await store.write(
                at: now(), locking: [.personas], { try $0.revokePersona(named: name, actor: actor) })
        else {
            throw Problem(.notFound, "there is no active persona `\(name)`; list them with `GET /v1/admin/personas`")
        }
        return try .encoded(PersonasAnswer(personas: [answer(for: persona)]))
    }

    /// Stores personas, and returns them with their signed tokens.
    ///
    /// Throws before any persona is stored: `malformedRequest` if the date of expiration isn't allowed, or `busy` if
    /// another process has a newer signing key. Also throws `conflict` if a valid persona has one of the names, and
    /// `replacing` is false.
    private func create(
        _ newPersonas: [NewPersona], expiring: Date?, replacing: Bool, by actor: String
    ) async throws -> [PersonaAnswer] {
        let now = now()
        let expires = expiring ?? now.addingTimeInterval(Self.defaultLifetime)
        guard expires > now, expires <= now.addingTimeInterval(Self.maximumLifetime) else {
            throw Problem(.malformedRequest, "`expires` must be in the future and within 366 days")
        }
        let signingKeys = personas.keys.current
        // The key is checked before a persona is stored, because an outdated key couldn't sign the persona's token.
        try signingKeys.requireNewestKey()
        let stored = newPersonas.map {
            StoredPersona(persona: Persona(name: $0.name, proof: $0.proof), createdAt: now, expiresAt: expires)
        }
        let takenNames = try await store.write(at: now, locking: [.personas]) {
            try $0.create(stored, replacing: replacing, actor: actor)
        }
        guard takenNames.isEmpty else {
            throw Problem(
                .conflict,
                """
                these personas exist already: \(takenNames.map { "`\($0)`" }.joined(separator: ", ")); revoke them, or \
                send `"replace": true`
                """, reason: "nameTaken")
        }
        return try zip(stored, newPersonas).map { persona, newPersona in
            let token = PersonaToken(persona: persona, bundleID: personas.bundleID)
            return answer(for: persona, what: newPersona.what, token: try token.signed(by: signingKeys))
        }
    }

    /// Returns the persona for a response, with what the current policy decides about each entitlement of this persona.
    ///
    /// - Parameter what: A description of the customer whom a ready-made persona represents; nil for other personas.
    private func answer(for stored: StoredPersona, what: String? = nil, token: String? = nil) -> PersonaAnswer {
        let proof = stored.persona.proof
        // Decides as if a sandbox build without purchases had synced.
        let evidence = Evidence(
            environment: .sandbox, app: [proof], purchasesAreComplete: true, persona: stored.persona)
        let now = now()
        let decisions = decide(evidence, under: policies.current, at: now)
        let state: PersonaAnswer.State =
            if stored.revokedAt != nil { .revoked } else { stored.isValid(at: now) ? .valid : .expired }
        return PersonaAnswer(
            name: stored.name, state: state,
            set: Dictionary(uniqueKeysWithValues: proof.settings), createdAt: stored.createdAt.rfc3339,
            expiresAt: stored.expiresAt.rfc3339, revokedAt: stored.revokedAt?.rfc3339,
            entitlements: Dictionary(
                decisions.map { ($0.entitlement, $0.outcome.rawValue) }, uniquingKeysWith: { first, _ in first }),
            what: what, token: token)
    }
}
