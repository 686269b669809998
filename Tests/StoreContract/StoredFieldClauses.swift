import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Rows are read back with every field, in order and in pages.
    static let storedFields: [StoreClause] = [
        StoreClause("the details have the dates and fields of each row") { store in
            let identities = [Identity(.appTransactionID, "1")]
            func see(getsToken: Bool, after seconds: Double) async throws -> Customer {
                let (customer, _) = try await store.update(
                    identities, in: Sample.production, at: Sample.after(seconds)
                ) { known in
                    var update = CustomerUpdate(of: known)
                    update.add([Sample.artifact("proof-1")], proving: [Sample.proof("1")])
                    update.addUse(of: DeviceUse(device: "d", getsEntitlementToken: getsToken, limit: 9))
                    return (update, ())
                }
                return customer
            }
            let customer = try await see(getsToken: true, after: 100)
            let notification = StoredNotification(
                realm: Sample.production, uuid: "n", type: "REFUND", subtype: "S", signedDate: Sample.after(1),
                bytes: Sample.header + Array(".n.c2ln".utf8))
            _ = try await store.receive(notification, about: identities, at: Sample.after(200)) {
                CustomerUpdate(of: $0)
            }
            try await store.write(at: Sample.after(300)) {
                _ = try $0.beginTrialSession("s", of: "cloud", for: customer.id) { _, _ in true }
            }
            let grant = SupportGrant(.grant, of: "everything", date: Sample.after(400), until: Sample.after(9000))
            _ = try await store.record(grant, for: customer.id, reason: "a letter", actor: "ada")
            _ = try await see(getsToken: true, after: 500)
            let details = try unwrap(
                try await store.read { try $0.details(of: .rowID(customer.id), with: .bytes) }, "the details")
            try expect(details.members.map(\.publicID) == [customer.publicID], "\(details.members)")
            try expect(details.members.map(\.createdAt) == [Sample.after(100)], "\(details.members)")
            let (artifact, refund) = (try only(details.artifacts), try only(details.notifications))
            try expect(artifact.kind == "appTransaction" && artifact.subtype == nil, "\(artifact)")
            try expect(artifact.signedAt == Sample.now && artifact.receivedAt == Sample.after(100), "\(artifact)")
            try expect(artifact.bytes == Sample.artifact("proof-1").bytes, "\(artifact)")
            try expect(refund.kind == "REFUND" && refund.subtype == "S", "\(refund)")
            try expect(refund.signedAt == Sample.after(1) && refund.receivedAt == Sample.after(200), "\(refund)")
            try expect(refund.bytes == notification.bytes, "\(refund)")
            let (device, session) = (try only(details.devices), try only(details.trialSessions))
            try expect(device.device == "d" && device.entitlementTokens == 2, "\(device)")
            try expect(device.firstSeen == Sample.after(100) && device.lastSeen == Sample.after(500), "\(device)")
            try expect(session.entitlement == "cloud" && session.session == "s", "\(session)")
            try expect(session.beganAt == Sample.after(300), "\(session)")
            let support = try only(details.support)
            try expect(support.grant == grant, "\(support)")
            try expect(support.reason == "a letter" && support.actor == "ada", "\(support)")
            let rows = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows")
            try expect(rows.artifacts.map(\.receivedAt) == [Sample.after(100)], "\(rows.artifacts)")
            try expect(rows.artifacts.map(\.artifact) == [Sample.artifact("proof-1")], "\(rows.artifacts)")
        },
        StoreClause("the details list rows in the order in which they came, and identities by kind and value") {
            store in
            let policy = try await store.record(policy: [1], sha256: [1])
            let customer = try await store.update("1") { update in
                update.identify(
                    by: ["o2", "o1"].map { Identity(.webOrderLineItemID, $0) } + [Identity(.downloadID, "5")])
                update.add(["z", "a"].map { Sample.artifact($0) })
                for name in ["z", "a"] { update.promise(Sample.promise(name, policy: policy)) }
            }
            for (device, seconds) in [("b", 0.0), ("a", 10), ("b", 20)] {
                let named = [Identity(.appTransactionID, "1")]
                _ = try await store.update(named, in: Sample.production, at: Sample.after(seconds)) { known in
                    var update = CustomerUpdate(of: known)
                    update.addUse(of: DeviceUse(device: device, getsEntitlementToken: true, limit: 9))
                    return (update, ())
                }
            }
            for name in ["z", "a"] {
                try await store.notify("1", name)
                _ = try await store.write(at: Sample.now) {
                    try $0.beginTrialSession(name, of: "cloud", for: customer.id) { _, _ in true }
                }
                _ = try await store.record(SupportGrant(.grant, of: name, date: Sample.now), for: customer.id)
            }
            let details = try unwrap(
                try await store.read { try $0.details(of: .rowID(customer.id), with: .bytes) }, "the details")
            let identities = [
                Identity(.appTransactionID, "1"), Identity(.downloadID, "5"), Identity(.webOrderLineItemID, "o1"),
                Identity(.webOrderLineItemID, "o2"),
            ]
            try expect(details.identities == identities, "\(details.identities)")
            try expect(details.artifacts.map(\.bytes) == ["z", "a"].map { Sample.artifact($0).bytes }, "artifacts")
            let notifications = ["z", "a"].map { Sample.header + Array(".\($0).c2lnbmF0dXJl".utf8) }
            try expect(details.notifications.map(\.bytes) == notifications, "notifications")
            try expect(details.promises.map(\.entitlement) == ["z", "a"], "\(details.promises)")
            try expect(details.devices.map(\.device) == ["b", "a"], "by their first use: \(details.devices)")
            try expect(details.trialSessions.map(\.session) == ["z", "a"], "\(details.trialSessions)")
            try expect(details.support.map(\.grant.entitlement) == ["z", "a"], "\(details.support)")
        },
        StoreClause("artifacts and notifications of one account are read page by page, each once") { store in
            for (id, name) in [("1", "a"), ("2", "x"), ("1", "b"), ("1", "c")] {
                _ = try await store.update(id) { $0.add([Sample.artifact(name)]) }
            }
            for (id, uuid) in [("1", "n"), ("2", "y"), ("1", "m")] { try await store.notify(id, uuid) }
            let customer = try await store.update("1") { _ in }
            var position = SignedEntries.Position()
            var (artifacts, notifications): ([[Artifact]], [[String]]) = ([], [])
            for _ in 0..<4 {
                let page = try unwrap(
                    try await store.read { [position] in
                        try $0.signedEntries(of: customer.id, after: position, limit: 1)
                    }, "a page")
                try expect(page.publicID == customer.publicID, page.publicID)
                try expect(page.isEmpty == (artifacts.count == 3), "three pages, not \(artifacts.count)")
                artifacts.append(page.artifacts.map(\.artifact))
                notifications.append(page.notifications.map(\.notification.uuid))
                position = page.end
            }
            let expected = ["a", "b", "c"].map { [Sample.artifact($0)] } + [[]]
            try expect(artifacts == expected, "\(artifacts)")
            try expect(notifications == [["n"], ["m"], [], []], "\(notifications)")
        },
        StoreClause("the audit trail of one customer is read page by page, without lines about others") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            for (number, customer) in [one, two, one, two, one].enumerated() {
                try await store.write {
                    try $0.audit(
                        AuditEntry(
                            at: Sample.after(Double(number)), actor: "a\(number)", action: "look",
                            customer: customer.publicID))
                }
            }
            let first = try await store.read { try $0.audit(before: nil, of: one.publicID, limit: 2) }
            let second = try await store.read { try $0.audit(before: first.last?.id, of: one.publicID, limit: 2) }
            try expect(first.map(\.actor) == ["a4", "a2"] && second.map(\.actor) == ["a0"], "\(first + second)")
            try expect(first.map(\.at) == [Sample.after(4), Sample.after(2)], "\(first)")
            try expect(first.allSatisfy { $0.customer == one.publicID }, "\(first)")
            try expect(first.allSatisfy { $0.action == "look" && $0.detail.isEmpty }, "\(first)")
            let details = try unwrap(
                try await store.read { try $0.details(of: .rowID(one.id), with: .audit) }, "the details")
            try expect(details.audit.map(\.actor) == ["a0", "a2", "a4"], "the oldest first: \(details.audit)")
            try expect(details.artifacts.map(\.bytes) == [nil], "without bytes")
        },
        StoreClause("lines of the audit trail can't be changed or removed") { store in
            try await store.write { try $0.audit(AuditEntry(at: Sample.now, actor: "ada", action: "look")) }
            let dialect = try await store.read { $0.session.dialect }
            let truncates = dialect == .postgres ? ["TRUNCATE audit"] : []
            for sql in ["UPDATE audit SET actor = 'boris'", "DELETE FROM audit"] + truncates {
                do {
                    try await store.write { _ = try $0.session.execute(sql) }
                    throw BrokenClause(description: "`\(sql)` succeeded")
                } catch StoreError.failed(let detail) {
                    try expect(detail.contains("the audit trail is append-only"), detail)
                }
            }
            let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 9) }
            try expect(lines.map(\.actor) == ["ada"], "\(lines)")
        },
        StoreClause("admin keys are listed in the order in which they were created, with their scopes and dates") {
            store in
            let keys = [
                StoredAdminKey(name: "zoe", scope: .read, createdAt: Sample.now),
                StoredAdminKey(name: "ada", scope: .policy, createdAt: Sample.after(1)),
            ]
            for (number, key) in keys.enumerated() {
                _ = try await store.write(locking: [.adminKeys]) {
                    try $0.create(key, secret: [UInt8(number)], actor: "command")
                }
            }
            let revoked = StoredAdminKey(
                name: "zoe", scope: .read, createdAt: Sample.now, revokedAt: Sample.after(5))
            try expect(
                try await store.write(at: Sample.after(5), locking: [.adminKeys]) {
                    try $0.revokeKey(named: "zoe", actor: "ada")
                } == revoked, "revoked")
            try expect(try await store.read { try $0.keys() } == [revoked, keys[1]], "both are listed")
            try expect(try await store.read { try $0.key(withSecret: [1]) } == keys[1], "the other key is valid")
            let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 9) }
            let details: [[String: String]] = [
                ["key": "zoe"], ["key": "ada", "scope": "policy"], ["key": "zoe", "scope": "read"],
            ]
            try expect(lines.map(\.detail) == details, "\(lines)")
            try expect(lines.map(\.at) == [Sample.after(5), Sample.after(1), Sample.now], "\(lines)")
            try expect(lines.map(\.actor) == ["ada", "command", "command"], "\(lines)")
        },
        StoreClause("a search finds a customer by an order, a device and a token, in the order of the environments") {
            store in
            let token = "9b2f0e52-6c0c-4a53-9a0f-5d1f4a0f7b11"
            let artifacts = Identity(unboundLedBy: .app, naming: Identity(.appTransactionID, "1"), digest: "x")
            let named = [
                Identity(.webOrderLineItemID, "o7"), Identity(.device, "d1"), Identity(.downloadID, "1"),
                try unwrap(Identity(appAccountToken: token, of: "x"), "a token"),
            ]
            let customer = try await store.update("1") { $0.identify(by: named) }
            let sandbox = try await store.update("1", in: Realm(.sandbox)) { _ in }
            _ = try await store.recordUnbound(
                artifacts, naming: [Identity(.appTransactionID, "1")], in: Sample.production, at: Sample.now,
                Sample.shown("1"))
            func found(_ id: String, in realms: Realm...) async throws -> [Int64] {
                try await store.read { try $0.customers(withAnyID: id, in: realms) }.map(\.id)
            }
            for id in ["o7", "d1", token, token.uppercased()] {
                try expect(try await found(id, in: Sample.production) == [customer.id], "by \(id)")
            }
            try expect(try await found(artifacts.value, in: Sample.production).isEmpty, "no unbound customer")
            try expect(
                try await found("1", in: Realm(.sandbox), Sample.production) == [sandbox.id, customer.id],
                "in both environments")
            try expect(
                try await found("1", in: Sample.production, Realm(.sandbox)) == [customer.id, sandbox.id],
                "in the requested order")
        },
        StoreClause("more than twenty unbound customers are read in pages") { store in
            let owner = try await store.bring("1")
            let named = Identity(.appTransactionID, "1")
            var ids: [Int64] = []
            for number in 0..<25 {
                // The store keeps twenty unbound customers for each kind of leading artifact.
                let unbound = try await store.recordUnbound(
                    Identity(unboundLedBy: number < 20 ? .app : .receipt, naming: named, digest: "\(number)"),
                    naming: [named], in: Sample.production, at: Sample.now, Sample.shown("\(number)"))
                ids.append(try unwrap(unbound, "an unbound customer").unbound.id)
            }
            var pages: [[Int64]] = []
            var next: Int64? = 0
            while let after = next {
                let page = try unwrap(
                    try await store.read { try $0.details(of: .rowID(owner.id), with: .unbound, unboundAfter: after) },
                    "a page")
                pages.append(page.unbound.map(\.customer.id))
                next = page.nextUnbound
            }
            try expect(pages == [Array(ids[..<20]), Array(ids[20...])], "\(pages)")
            let details = try unwrap(
                try await store.read { try $0.details(of: .rowID(owner.id), with: .bytes) }, "the details")
            try expect(details.unbound.isEmpty && details.nextUnbound == nil, "not without being asked for")
        },
        StoreClause("an unbound customer doesn't belong to accounts that share only a purchase with a similar ID") {
            store in
            func bring(_ account: String, buying purchase: String) async throws -> Int64 {
                let named = [Identity(.appTransactionID, account), Identity(.originalTransactionID, purchase)]
                let (customer, _) = try await store.update(named, in: Sample.production, at: Sample.now) { known in
                    var update = CustomerUpdate(of: known)
                    update.add([], purchases: [Sample.purchase(purchase)])
                    return (update, ())
                }
                return customer.id
            }
            let sharing = [try await bring("1", buying: "7"), try await bring("2", buying: "7")]
            _ = try await bring("3", buying: "70")
            let other = try await bring("4", buying: "70")
            func named(by purchases: [String]) async throws -> [Int64] {
                let purchase = Identity(.originalTransactionID, "7")
                var update = CustomerUpdate(of: nil)
                update.entitlementChange = .never
                update.add([], purchases: purchases.map { Sample.purchase($0) })
                let unbound = try await store.recordUnbound(
                    Identity(unboundLedBy: .transactions, naming: purchase, digest: "\(purchases.count)"),
                    naming: [purchase], in: Sample.production, at: Sample.now, update)
                return try unwrap(unbound, "an unbound customer").customers.map(\.id)
            }
            try expect(try await named(by: ["7"]) == sharing, "both accounts with the purchase")
            try expect(try await named(by: ["7", "8", "9", "a", "b"]) == sharing, "nor with other purchases")
            try expect(
                try await named(by: ["7", "8", "9", "a", "b", "70"]) == sharing + [other],
                "the account that shares the sixth purchase")
        },
        StoreClause("the IDs of shared keys are read back, with or without an offline root, until they are removed") {
            store in
            try expect(try await store.read { try $0.sharedKeyIDs() } == nil, "none at first")
            for root in ["root", nil] {
                let keys = SharedKeyIDs(
                    signingKey: "signing", createdAt: 1_700_000_000, root: root, secret: "secret", place: "place")
                try await store.write(locking: [SharedKeyIDs.lock]) { try $0.setSharedKeyIDs(keys) }
                try expect(try await store.read { try $0.sharedKeyIDs() } == keys, "with root \(root ?? "nil")")
            }
            try await store.write(locking: [SharedKeyIDs.lock]) { try $0.setSharedKeyIDs(nil) }
            try expect(try await store.read { try $0.sharedKeyIDs() } == nil, "none anymore")
        },
    ]
}

/// Returns the only entry of a list. Throws if it has more or none.
private func only<Entry>(_ entries: [Entry]) throws -> Entry {
    try expect(entries.count == 1, "one entry: \(entries)")
    return entries[0]
}
