import Foundation
import TenureCore

extension Ledger {
    func dossier(
        of name: CustomerName, with parts: CustomerDossier.Parts, visitsAfter visit: Int64 = 0
    ) throws(StoreError) -> CustomerDossier? {
        guard let member = try member(name, forUpdate: false) else { return nil }
        return try dossier(of: try customer(of: member, forUpdate: false), with: parts, visitsAfter: visit)
    }

    private func dossier(
        of customer: Customer, with parts: CustomerDossier.Parts, visitsAfter visit: Int64
    ) throws(StoreError) -> CustomerDossier {
        var dossier = CustomerDossier(customer)
        dossier.identities = try identities(of: customer.id)
        for id in try group(of: customer.id) {
            guard let member = try member(.number(id), forUpdate: false) else { continue }
            dossier.members.append(.init(publicID: member.publicID, createdAt: member.createdAt))
            dossier.artifacts += try signedArtifacts(of: id, withBytes: parts.contains(.bytes))
            dossier.notifications += try notifications(of: id, withBytes: parts.contains(.bytes))
            dossier.promises += try promises(of: id)
            dossier.support += try supportActs(of: id)
            dossier.events += try events(of: id)
            dossier.devices += try devices(of: id)
            dossier.trialSessions += try trialSessions(of: id)
            if parts.contains(.audit) {
                dossier.audit += try audit(before: nil, of: member.publicID, limit: Self.mostAuditLines).reversed()
            }
        }
        if parts.contains(.visits) {
            let visitors = try visitors(of: customer.id).filter { $0 > visit }
            for id in visitors.prefix(CustomerDossier.visitsPerPage) {
                guard let visitor = try self.customer(id) else { continue }
                dossier.visits.append(try self.dossier(of: visitor, with: parts.subtracting(.visits), visitsAfter: 0))
                dossier.nextVisit = id
            }
            if visitors.count <= CustomerDossier.visitsPerPage { dossier.nextVisit = nil }
        }
        return dossier
    }

    /// Far more than anybody does to one customer.
    private static let mostAuditLines = 10_000

    private func signedArtifacts(of id: Int64, withBytes: Bool) throws(StoreError) -> [CustomerDossier.SignedEntry] {
        if withBytes {
            return try recordedArtifacts(of: id).map { entry in
                CustomerDossier.SignedEntry(
                    kind: "\(entry.artifact.kind)", subtype: nil, signedAt: entry.artifact.signedDate,
                    receivedAt: entry.receivedAt, bytes: entry.artifact.bytes)
            }
        }
        return try session.rows(
            """
            SELECT kind, signed_at, received_at FROM artifacts WHERE customer = $1 AND \(Self.counts) ORDER BY id
            """, [.integer(id)]
        ).map { row throws(StoreError) in
            let code = try row.integer(0)
            guard let kind = UInt8(exactly: code).flatMap({ Artifact.Kind(rawValue: $0) }) else {
                throw .damaged("no kind of artifact has the number \(code)")
            }
            return CustomerDossier.SignedEntry(
                kind: "\(kind)", subtype: nil, signedAt: try row.instantIfPresent(1), receivedAt: try row.instant(2),
                bytes: nil)
        }
    }

    private func notifications(of id: Int64, withBytes: Bool) throws(StoreError) -> [CustomerDossier.SignedEntry] {
        let columns = withBytes ? ", headers.bytes, notifications.bytes" : ""
        let join = withBytes ? "LEFT JOIN headers ON headers.id = header" : ""
        return try session.rows(
            """
            SELECT type, subtype, signed_at, received_at\(columns) FROM notifications \(join)
            WHERE customer = $1 ORDER BY notifications.id
            """, [.integer(id)]
        ).map { row throws(StoreError) in
            CustomerDossier.SignedEntry(
                kind: try row.text(0), subtype: try row.textIfPresent(1), signedAt: try row.instantIfPresent(2),
                receivedAt: try row.instant(3),
                bytes: withBytes ? (try row.bytesIfPresent(4) ?? []) + (try row.bytes(5)) : nil)
        }
    }

    private func devices(of id: Int64) throws(StoreError) -> [CustomerDossier.Device] {
        try session.rows(
            """
            SELECT device, first_seen, last_seen, certificates FROM devices WHERE customer = $1
            ORDER BY first_seen, device
            """, [.integer(id)]
        ).map { row throws(StoreError) in
            CustomerDossier.Device(
                device: try row.text(0), firstSeen: try row.instant(1), lastSeen: try row.instant(2),
                certificates: try row.integer(3))
        }
    }

    private func trialSessions(of id: Int64) throws(StoreError) -> [CustomerDossier.TrialSession] {
        try session.rows(
            "SELECT entitlement, session, began_at FROM trial_sessions WHERE customer = $1 ORDER BY id", [.integer(id)]
        ).map { row throws(StoreError) in
            CustomerDossier.TrialSession(
                entitlement: try row.text(0), session: try row.text(1), beganAt: try row.instant(2))
        }
    }

    func customers(withAnyID id: String, in realms: [Realm]) throws(StoreError) -> [Customer] {
        var found: [Customer] = []
        func add(_ customer: Customer?) {
            guard let customer, realms.contains(customer.realm), !found.contains(where: { $0.id == customer.id }) else {
                return
            }
            found.append(customer)
        }
        add(try customer(named: id))
        for realm in realms {
            for kind in Identity.Kind.allCases where kind != .visit && kind != .appAccountToken {
                add(try customer(by: Identity(kind, id), in: realm))
            }
            // A UUID, which everybody spells in their own way.
            for customer in try customers(withAppAccountToken: id.lowercased(), in: realm) { add(customer) }
        }
        return found
    }
}
