import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `GET /v1/admin/personas`: also those that ended.
    @Sendable func listPersonas(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await gate.holder(of: request, context, needing: .persona)
        return respond(PersonasAnswer(personas: try await store.read { try $0.personas() }.map { answer(for: $0) }))
    }

    /// `POST /v1/admin/personas`
    @Sendable func createPersona(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let holder = try await gate.holder(of: request, context, needing: .persona)
        let body = try await request.decoded(PersonaRequest.self, upTo: limits.bodySize, in: context)
        guard !body.name.isEmpty, body.name.utf8.count <= 64, body.name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Problem(
                .malformedRequest, "`name` has 1 to 64 letters, digits and signs of ASCII, without blanks")
        }
        let proof: AppProof
        do {
            proof = try AppProof(settings: body.set, signed: now())
        } catch {
            throw Problem(.malformedRequest, error.detail)
        }
        let made = try await create(
            [(body.name, proof, nil)], expiring: body.expires, replacing: body.replace, by: holder)
        return respond(PersonasAnswer(personas: made))
    }

    /// `POST /v1/admin/personas/ready-made`: those whom the present policy has a place for.
    @Sendable func createReadyMadePersonas(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let holder = try await gate.holder(of: request, context, needing: .persona)
        let body = try await request.decoded(ReadyMadePersonasRequest.self, upTo: limits.bodySize, in: context)
        try await policies.refresh()
        let policy = policies.current
        let platform = try body.platform.map { name throws(Problem) in
            guard let platform = Platform(rawValue: name) else {
                let known = Platform.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(.malformedRequest, "there is no platform `\(name.prefix(64))`; there are \(known)")
            }
            return platform
        }
        let readyMade = ReadyMadePersonas(
            policy, on: platform ?? ReadyMadePersonas.platform(of: policy), signed: now())
        let made = try await create(
            readyMade.made.map { ($0.name, $0.proof, $0.what) }, expiring: body.expires, replacing: body.replace,
            by: holder)
        return respond(
            PersonasAnswer(
                personas: made, left: readyMade.left.map { PersonasAnswer.Left(name: $0.name, why: $0.why) }))
    }

    /// `DELETE /v1/admin/personas/{name}`: its tokens stand for nobody from the next request on.
    @Sendable func revokePersona(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let holder = try await gate.holder(of: request, context, needing: .persona)
        let name = try parameter("name", in: context)
        guard
            let persona = try await store.write(
                at: now(), locking: [.personas], { try $0.revokePersona(named: name, actor: holder.name) })
        else {
            throw Problem(.notFound, "no persona `\(name)` is good")
        }
        return respond(PersonasAnswer(personas: [answer(for: persona)]))
    }

    // MARK: Parts

    private static let length: TimeInterval = 30 * 86_400
    private static let longest: TimeInterval = 366 * 86_400

    private func create(
        _ personas: [(name: String, proof: AppProof, what: String?)], expiring: Date?, replacing: Bool,
        by holder: KeyHolder
    ) async throws -> [PersonaAnswer] {
        let now = now()
        let expires = expiring ?? now.addingTimeInterval(Self.length)
        guard expires > now, expires <= now.addingTimeInterval(Self.longest) else {
            throw Problem(.malformedRequest, "`expires` lies within a year from now")
        }
        let recorded = personas.map {
            StoredPersona(persona: Persona(name: $0.name, proof: $0.proof), createdAt: now, expiresAt: expires)
        }
        let taken = try await store.write(at: now, locking: [.personas]) {
            try $0.create(recorded, replacing: replacing, actor: holder.name)
        }
        guard taken.isEmpty else {
            throw Problem(
                .conflict,
                """
                there are good personas of these names: \(taken.map { "`\($0)`" }.joined(separator: ", ")); revoke \
                them, or replace them
                """, reason: "nameTaken")
        }
        return try zip(recorded, personas).map { recorded, persona in
            let token = PersonaToken(persona: recorded, bundleID: self.personas.bundleID)
            return answer(for: recorded, what: persona.what, token: try token.signed(by: self.personas.keys.current))
        }
    }

    private func answer(
        for recorded: StoredPersona, what: String? = nil, token: String? = nil
    ) -> PersonaAnswer {
        let proof = recorded.persona.proof
        // As if their build had sent its sandbox's app transaction and an empty list of purchases.
        let evidence = Evidence(
            environment: .sandbox, app: [proof], purchasesAreComplete: true, persona: recorded.persona)
        let now = now()
        let decisions = decide(evidence, under: policies.current, at: now)
        return PersonaAnswer(
            name: recorded.name,
            state: recorded.revokedAt != nil ? .revoked : recorded.isGood(at: now) ? .good : .expired,
            set: Dictionary(uniqueKeysWithValues: proof.settings), createdAt: recorded.createdAt,
            expiresAt: recorded.expiresAt, revokedAt: recorded.revokedAt,
            entitlements: Dictionary(
                decisions.map { ($0.entitlement, $0.outcome.rawValue) }, uniquingKeysWith: { first, _ in first }),
            what: what, token: token)
    }

    private func respond(_ personas: PersonasAnswer) -> Response {
        var json = JSONWriter(capacity: 4096)
        json.value(personas)
        return .json(json)
    }
}
