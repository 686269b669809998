package import Foundation
import TenureCore

extension SQLStore {
    package func perform(
        _ act: RequestedAct, on customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ActOutcome {
        switch act.act {
        case .grant, .revoke: return try await support(act, on: customer, by: rederivation)
        case .erase: return try await erase(act, customer, by: rederivation)
        case .link, .unlink, .merge, .unmerge:
            return try await write(locking: act.keys) { session throws(StoreError) in
                try Ledger(session, at: act.at).perform(act, on: customer, by: rederivation)
            }
        }
    }

    package func members(of customer: CustomerName) async throws(StoreError) -> [Int64] {
        try await read { session throws(StoreError) in
            let ledger = Ledger(session)
            guard let member = try ledger.member(customer, forUpdate: false) else { return [] }
            return try ledger.group(of: try ledger.customer(of: member, forUpdate: false).id)
        }
    }

    package func signedEntries(
        of member: Int64, after position: SignedEntries.Position, limit: Int
    ) async throws(StoreError) -> SignedEntries? {
        try await read { session throws(StoreError) in
            try Ledger(session).signedEntries(of: member, after: position, limit: limit)
        }
    }

    package func dossier(
        of customer: CustomerName, with parts: CustomerDossier.Parts, visitsAfter visit: Int64
    ) async throws(StoreError) -> CustomerDossier? {
        try await read { session throws(StoreError) in
            try Ledger(session).dossier(of: customer, with: parts, visitsAfter: visit)
        }
    }

    package func customers(withAnyID id: String, in realms: [Realm]) async throws(StoreError) -> [Customer] {
        try await read { session throws(StoreError) in try Ledger(session).customers(withAnyID: id, in: realms) }
    }

    package func audit(_ entry: AuditEntry) async throws(StoreError) {
        try await write(locking: []) { session throws(StoreError) in try Ledger(session, at: entry.at).audit(entry) }
    }

    package func audit(
        before entry: Int64?, of publicID: String?, limit: Int
    ) async throws(StoreError) -> [AuditEntry] {
        try await read { session throws(StoreError) in
            try Ledger(session).audit(before: entry, of: publicID, limit: limit)
        }
    }

    package func create(_ key: RecordedKey, secret hash: [UInt8], actor: String) async throws(StoreError) -> Bool {
        try await write(locking: ["keys"]) { session throws(StoreError) in
            try Ledger(session, at: key.createdAt).create(key, secret: hash, actor: actor)
        }
    }

    package func revokeKey(named name: String, at now: Date, actor: String) async throws(StoreError) -> RecordedKey? {
        try await write(locking: ["keys"]) { session throws(StoreError) in
            try Ledger(session, at: now).revokeKey(named: name, actor: actor)
        }
    }

    package func keys() async throws(StoreError) -> [RecordedKey] {
        try await read { session throws(StoreError) in try Ledger(session).keys() }
    }

    package func key(withSecret hash: [UInt8]) async throws(StoreError) -> RecordedKey? {
        try await read { session throws(StoreError) in try Ledger(session).key(withSecret: hash) }
    }
}

extension RequestedAct {
    /// Acts of one key under one id, and links of one user, happen one after the other.
    var keys: [String] {
        var keys: [String] = []
        if let request { keys.append("request \(actor) \(request)") }
        switch act {
        case .link(let user, _), .unlink(let user): keys.append("user \(user)")
        // What joins and parts customers goes over many rows, in an order that differs.
        case .merge, .unmerge, .erase: keys.append("merges")
        case .grant, .revoke: break
        }
        return keys
    }
}
