import Foundation
import TenureCore

/// Remembers requests of the admin API by their `Idempotency-Key`, so that a repeated request changes nothing.
extension DatabaseTransaction {
    /// How long requests are stored, in seconds: 30 days. Clients don't repeat older requests.
    private static let requestLifetime: TimeInterval = 30 * 86_400

    /// Returns the columns `customer` and `change` of the stored request with the same admin key and ID; nil if there
    /// is no such request, or if the request has no ID.
    func storedRequest(_ request: RequestedChange) throws(StoreError) -> (customer: String, change: String)? {
        guard let id = request.request else { return nil }
        return try session.row(
            "SELECT customer, change FROM requests WHERE actor = $1 AND request = $2",
            [.text(request.actor), .text(id)]
        ).map { row throws(StoreError) in (try row.text(0), try row.text(1)) }
    }

    /// The counts that the same request for an erasure returned before; nil if there was no such request.
    func countsOfEarlierErasure(
        by request: RequestedChange, of name: CustomerName
    ) throws(StoreError) -> [String: Int]? {
        guard case .erase = request.change, case .publicID(let publicID) = name,
            let (customer, change) = try storedRequest(request),
            let digest = try digest(ofErased: publicID), customer == digest
        else { return nil }
        // `change` contains the change's name, a space, and the counts as JSON; see `rememberErasure`.
        let counts = change.dropFirst(request.change.name.count + 1)
        return try? JSONDecoder().decode([String: Int].self, from: Data(counts.utf8))
    }

    /// Stores the counts of an erasure for a repeated request, with a salted hash instead of the customer's ID.
    func rememberErasure(
        by request: RequestedChange, of member: CustomerMember, _ counts: [String: Int]
    ) throws(StoreError) {
        guard request.request != nil else { return }
        _ = try existingOrNewSalt()
        guard let digest = try digest(ofErased: member.publicID) else { return }
        try remember(request, on: digest, as: "\(request.change.name) \(counts.json)")
    }

    /// Stores a request that has an ID, so that a repeated request changes nothing.
    func remember(_ request: RequestedChange, on member: CustomerMember) throws(StoreError) {
        try remember(request, on: member.publicID, as: request.change.canonicalText)
    }

    private func remember(_ request: RequestedChange, on customer: String, as change: String) throws(StoreError) {
        guard let id = request.request else { return }
        try session.execute(
            "DELETE FROM requests WHERE at < $1", [SQLValue(now.addingTimeInterval(-Self.requestLifetime))])
        try session.execute(
            "INSERT INTO requests (actor, request, customer, change, at) VALUES ($1, $2, $3, $4, $5)",
            [.text(request.actor), .text(id), .text(customer), .text(change), milliseconds])
    }
}
