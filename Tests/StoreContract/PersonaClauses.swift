import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let personas: [StoreClause] = [
        StoreClause("personas come back as they were made, in their order") { store in
            let made = [Sample.persona("early"), Sample.persona("late", version: "300")]
            try expect(try await store.create(made, replacing: false, actor: "ada", at: Sample.now).isEmpty, "made")
            let known = try await store.personas()
            try expect(known.map(\.persona) == made.map(\.persona), "the same personas")
            try expect(known.map(\.expiresAt) == made.map(\.expiresAt), "with their ends")
            try expect(Set(known.map(\.number)).count == 2, "each with a number")
            for persona in known {
                try expect(try await store.persona(persona.number) == persona, "by number")
                try expect(try await store.persona(by: persona.publicID) == persona, "by what the token says")
            }
            try expect(try await store.persona(4711) == nil, "nobody by another number")
            try expect(try await store.persona(by: "per_x") == nil, "nobody by another id")
        },
        StoreClause("a name belongs to one good persona; all of a set are made, or none") { store in
            _ = try await store.create([Sample.persona("early")], replacing: false, actor: "ada", at: Sample.now)
            let more = [Sample.persona("late"), Sample.persona("early", version: "5")]
            let taken = try await store.create(more, replacing: false, actor: "ada", at: Sample.now)
            try expect(taken == ["early"], "the name is taken")
            try expect(try await store.personas().map(\.name) == ["early"], "nothing was made")
            try expect(
                try await store.create(more, replacing: true, actor: "ada", at: Sample.now).isEmpty, "replaced")
            let known = try await store.personas()
            try expect(known.map { $0.isGood(at: Sample.now) } == [false, true, true], "the former is good no more")
        },
        StoreClause("a revoked persona gives its name up, and so does an expired one") { store in
            _ = try await store.create([Sample.persona("early")], replacing: false, actor: "ada", at: Sample.now)
            let revoked = try unwrap(
                try await store.revokePersona(named: "early", at: Sample.now, actor: "boris"), "the persona")
            try expect(revoked.revokedAt == Sample.now, "revoked now")
            try expect(
                try await store.revokePersona(named: "early", at: Sample.now, actor: "boris") == nil, "only once")
            _ = try await store.create([Sample.persona("early")], replacing: false, actor: "ada", at: Sample.now)
            let later = Sample.now.addingTimeInterval(7200)
            try expect(
                try await store.revokePersona(named: "early", at: later, actor: "boris") == nil, "it had expired")
            let again = Sample.persona("early", from: later)
            try expect(try await store.create([again], replacing: false, actor: "ada", at: later).isEmpty, "made anew")
            try expect(try await store.personas().count == 3, "all are listed")
        },
        StoreClause("who made and revoked a persona stands in the audit trail") { store in
            _ = try await store.create([Sample.persona("early")], replacing: false, actor: "ada", at: Sample.now)
            _ = try await store.revokePersona(named: "early", at: Sample.now, actor: "boris")
            let lines = try await store.audit(before: nil, of: nil, limit: 10)
            try expect(lines.map(\.act) == ["revokePersona", "createPersona"], "both acts")
            try expect(lines.map(\.actor) == ["boris", "ada"], "by whom")
            try expect(lines.allSatisfy { $0.detail["persona"] == "early" }, "of whom")
        },
    ]
}

extension Sample {
    static func persona(_ name: String, version: String = "37", from start: Date = now) -> RecordedPersona {
        RecordedPersona(
            persona: Persona(
                name: name,
                proof: AppProof(
                    kind: .appTransaction, signedDate: start, originalPlatform: .iOS, originalAppVersion: version,
                    originalPurchaseDate: Date(timeIntervalSince1970: 1_398_902_400))),
            createdAt: start, expiresAt: start.addingTimeInterval(3600))
    }
}
