import Foundation
import TenureCore
import TenureStore
import Testing

/// The content of a database, from its canonical dump.
struct SoakDump {
    private(set) var lines: [[String: Any]] = []
    /// Customers by the id of their app transaction.
    private var customers: [String: String] = [:]
    /// Hashes of artifacts by customer.
    private var artifacts: [String: Set<String>] = [:]
    private var notifications: Set<String> = []
    private var trialSessions: Set<String> = []
    /// Customers with a grant by support, and customers with a grant in the audit trail.
    private var granted: Set<String> = []
    private var audited: Set<String> = []

    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            lines.append(object)
            let customer = object["customer"] as? String ?? ""
            switch object["table"] as? String {
            case "identities":
                if object["kind"] as? Int == 1, let value = object["value"] as? String { customers[value] = customer }
            case "artifacts":
                if let hash = object["sha256"] as? String { artifacts[customer, default: []].insert(hash) }
            case "notifications": if let uuid = object["uuid"] as? String { notifications.insert(uuid) }
            case "trial_sessions":
                if let session = object["session"] as? String { trialSessions.insert("\(customer) \(session)") }
            case "support_grants": granted.insert(customer)
            case "audit": audited.insert(customer)
            default: break
            }
        }
    }

    /// The hashes of all artifacts.
    var artifactHashes: Set<String> { artifacts.values.reduce(into: []) { $0.formUnion($1) } }

    func holds(_ operation: SoakOperation) -> Bool {
        switch operation {
        case .sync(let sync):
            customers[sync.appTransactionID] == sync.customer
                && artifacts[sync.customer, default: []].isSuperset(of: sync.hashes)
        case .notification(let uuid): notifications.contains(uuid)
        case .grant(let customer): granted.contains(customer) && audited.contains(customer)
        case .trialSession(let session, let customer): trialSessions.contains("\(customer) \(session)")
        }
    }

    /// The state of the database, one text for each customer. It is independent of random IDs and of times of arrival.
    ///
    /// Merged customers count as one. A text has identities, artifacts, promises (without their dates), kinds of
    /// events, trial sessions, and facts.
    func state() throws -> Set<String> {
        var into: [String: String] = [:]
        for line in lines where line["table"] as? String == "customers" {
            if let name = line["public_id"] as? String { into[name] = line["merged_into"] as? String }
        }
        func root(_ name: String) -> String {
            var name = name
            while let next = into[name] { name = next }
            return name
        }
        var groups: [String: Set<String>] = [:]
        for line in lines {
            guard let table = line["table"] as? String else { continue }
            let owner = root((table == "customers" ? line["public_id"] : line["customer"]) as? String ?? "")
            func add(_ columns: String...) {
                let values = columns.map { "\(line[$0] ?? "")" }.joined(separator: " ")
                groups[owner, default: []].insert("\(table) \(values)")
            }
            switch table {
            case "customers":
                guard line["public_id"] as? String == owner else { continue }
                let facts = try #require((line["facts"] as? String).flatMap { Data(base64Encoded: $0) })
                groups[owner, default: []].insert(try Self.known(CustomerFacts(decoding: [UInt8](facts))))
            case "identities": add("realm", "kind", "value")
            case "artifacts": add("kind", "sha256")
            case "promises":
                add("entitlement", "app_transaction_id", "download_id", "original_purchase_date", "policy", "until")
            case "events": if line["kind"] as? String != "merged" { add("kind") }
            case "trial_sessions": add("entitlement", "session")
            case "notifications": add("realm", "uuid", "type", "subtype")
            default: continue
            }
        }
        return Set(groups.values.map { $0.sorted().joined(separator: "\n") })
    }

    private static func known(_ facts: CustomerFacts) -> String {
        let promises = facts.promises.map { "\($0.entitlement) \($0.acquisition) \($0.policyVersion)" }
        return """
            known \(facts.proofs) \(facts.purchases) \(facts.renewals) \(facts.purchasesAreComplete) \
            \(Set(promises).sorted()) \(facts.support)
            """
    }
}
