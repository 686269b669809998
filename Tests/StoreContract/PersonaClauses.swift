import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let personas: [StoreClause] = [
        StoreClause("stored personas are read as they were created, in their order") { store in
            let made = [Sample.persona("early"), Sample.persona("late", version: "300")]
            try expect(
                try await store.write(at: Sample.now, locking: [.personas]) {
                    try $0.create(made, replacing: false, actor: "ada")
                }.isEmpty, "the personas are created")
            let known = try await store.read { try $0.personas() }
            try expect(known.map(\.persona) == made.map(\.persona), "the same personas")
            try expect(known.map(\.expiresAt) == made.map(\.expiresAt), "with their ends")
            try expect(Set(known.map(\.number)).count == 2, "each with a number")
            for persona in known {
                try expect(
                    try await store.read { try $0.persona(persona.number) } == persona,
                    "the persona is found by its number")
                try expect(
                    try await store.read { try $0.persona(by: persona.publicID) } == persona,
                    "the persona is found by the public ID in its token")
            }
            try expect(try await store.read { try $0.persona(4711) } == nil, "no persona by another number")
            try expect(try await store.read { try $0.persona(by: "per_x") } == nil, "no persona by another ID")
        },
        StoreClause("a name belongs to one valid persona, and several personas are created together or not at all") {
            store in
            _ = try await store.write(at: Sample.now, locking: [.personas]) {
                try $0.create([Sample.persona("early")], replacing: false, actor: "ada")
            }
            let more = [Sample.persona("late"), Sample.persona("early", version: "5")]
            let taken = try await store.write(at: Sample.now, locking: [.personas]) {
                try $0.create(more, replacing: false, actor: "ada")
            }
            try expect(taken == ["early"], "the name is taken")
            try expect(try await store.read { try $0.personas() }.map(\.name) == ["early"], "nothing was created")
            try expect(
                try await store.write(at: Sample.now, locking: [.personas]) {
                    try $0.create(more, replacing: true, actor: "ada")
                }.isEmpty, "replaced")
            let known = try await store.read { try $0.personas() }
            try expect(
                known.map { $0.isValid(at: Sample.now) } == [false, true, true], "the former one isn't valid anymore")
        },
        StoreClause("the name of a revoked or expired persona can be used again") { store in
            _ = try await store.write(at: Sample.now, locking: [.personas]) {
                try $0.create([Sample.persona("early")], replacing: false, actor: "ada")
            }
            let revoked = try unwrap(
                try await store.write(at: Sample.now, locking: [.personas]) {
                    try $0.revokePersona(named: "early", actor: "boris")
                }, "the persona")
            try expect(revoked.revokedAt == Sample.now, "revoked now")
            try expect(
                try await store.write(at: Sample.now, locking: [.personas]) {
                    try $0.revokePersona(named: "early", actor: "boris")
                } == nil, "only once")
            _ = try await store.write(at: Sample.now, locking: [.personas]) {
                try $0.create([Sample.persona("early")], replacing: false, actor: "ada")
            }
            let later = Sample.now.addingTimeInterval(7200)
            try expect(
                try await store.write(at: later, locking: [.personas]) {
                    try $0.revokePersona(named: "early", actor: "boris")
                } == nil, "it had expired")
            let again = Sample.persona("early", from: later)
            try expect(
                try await store.write(at: later, locking: [.personas]) {
                    try $0.create([again], replacing: false, actor: "ada")
                }.isEmpty, "created again")
            // An expired persona needn't be revoked first.
            let latest = Sample.persona("early", from: later.addingTimeInterval(7200))
            try expect(
                try await store.write(at: latest.createdAt, locking: [.personas]) {
                    try $0.create([latest], replacing: false, actor: "ada")
                }.isEmpty, "created once more")
            try expect(try await store.read { try $0.personas() }.count == 4, "all are listed")
        },
        StoreClause("the audit trail has who created and revoked a persona") { store in
            _ = try await store.write(at: Sample.now, locking: [.personas]) {
                try $0.create([Sample.persona("early")], replacing: false, actor: "ada")
            }
            _ = try await store.write(at: Sample.now, locking: [.personas]) {
                try $0.revokePersona(named: "early", actor: "boris")
            }
            let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 10) }
            try expect(lines.map(\.action) == ["revokePersona", "createPersona"], "both changes")
            try expect(lines.map(\.actor) == ["boris", "ada"], "with the actors")
            try expect(lines.allSatisfy { $0.detail["persona"] == "early" }, "with the persona")
            let details = [["persona": "early"], ["persona": "early", "expires": "2023-11-14T23:13:20Z"]]
            try expect(lines.map(\.detail) == details, "and its end: \(lines)")
        },
        StoreClause("replacing a persona is a revocation in the audit trail, and replacing an expired one isn't") {
            store in
            func create(_ names: String..., after seconds: Double) async throws -> [String] {
                let personas = names.map { Sample.persona($0, from: Sample.after(seconds)) }
                return try await store.write(at: Sample.after(seconds), locking: [.personas]) {
                    try $0.create(personas, replacing: true, actor: "ada")
                }
            }
            try expect(try await create("a", "b", after: 0).isEmpty, "the personas are created")
            try expect(try await create("a", after: 60).isEmpty, "one is replaced")
            // By now, the other one has expired.
            try expect(try await create("b", after: 3600).isEmpty, "so is the other")
            let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 10) }
            let expected = [
                "createPersona b", "createPersona a", "revokePersona a", "createPersona b", "createPersona a",
            ]
            let found = lines.map { "\($0.action) \($0.detail["persona"] ?? "")" }
            try expect(found == expected, "\(lines)")
            let known = try await store.read { try $0.personas() }
            let revocations = [Sample.after(60), Sample.after(3600), nil, nil]
            try expect(known.map(\.revokedAt) == revocations, "\(known)")
            let taken = try await store.write(at: Sample.after(3600), locking: [.personas]) {
                try $0.create(
                    ["b", "c", "a"].map { Sample.persona($0) }, replacing: false, actor: "ada")
            }
            try expect(taken == ["b", "a"], "all names that are taken: \(taken)")
        },
    ]
}

extension Sample {
    static func persona(_ name: String, version: String = "37", from start: Date = now) -> StoredPersona {
        StoredPersona(
            persona: Persona(
                name: name,
                proof: AppProof(
                    kind: .appTransaction, signedDate: start, originalPlatform: .iOS, originalAppVersion: version,
                    originalPurchaseDate: Date(timeIntervalSince1970: 1_398_902_400))),
            createdAt: start, expiresAt: start.addingTimeInterval(3600))
    }
}
