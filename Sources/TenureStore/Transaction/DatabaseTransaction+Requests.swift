import Foundation
import TenureCore

extension DatabaseTransaction {
    enum EarlierRequest {
        case same
        case another
    }

    /// How long requests are remembered, in seconds: a month. Clients don't repeat older requests.
    private static let requestMemory: TimeInterval = 30 * 86_400

    /// Whether the same admin key sent a request with the same ID before; nil if it didn't.
    func earlier(_ request: RequestedChange, on member: CustomerMember) throws(StoreError) -> EarlierRequest? {
        guard let id = request.request else { return nil }
        let row = try session.row(
            "SELECT customer, change FROM requests WHERE actor = $1 AND request = $2",
            [.text(request.actor), .text(id)])
        guard let row else { return nil }
        let (customer, change) = (try row.text(0), try row.text(1))
        return customer == member.publicID && change == request.change.spelling ? .same : .another
    }

    func remember(_ request: RequestedChange, on member: CustomerMember) throws(StoreError) {
        guard let id = request.request else { return }
        try session.execute(
            "DELETE FROM requests WHERE at < $1",
            [.integer(now.addingTimeInterval(-Self.requestMemory).millisecondsSince1970)])
        try session.execute(
            "INSERT INTO requests (actor, request, customer, change, at) VALUES ($1, $2, $3, $4, $5)",
            [
                .text(request.actor), .text(id), .text(member.publicID), .text(request.change.spelling), milliseconds,
            ])
    }
}
