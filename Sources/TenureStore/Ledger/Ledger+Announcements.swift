import Foundation
import TenureCore

extension Ledger {
    /// What is told of a customer now; nil where that cannot be said at present.
    typealias Judge = (Customer) -> Announcement?

    /// Who listens too, and by which terms rights are judged. Under other terms than before every customer is looked at
    /// once, by `announceAll`.
    func announce(to endpoints: [Endpoint], under terms: String) throws(StoreError) {
        guard !endpoints.isEmpty else { return }
        for endpoint in endpoints { try name(endpoint) }
        guard try mark(Mark.terms) != terms else { return }
        try setMark(Mark.terms, to: terms)
        try setMark(Mark.position, to: "0")
    }

    /// Those of them that no process has named since they were read. What waits for them waits no longer, and where nobody
    /// is left nothing is told.
    func forget(_ silent: [NamedEndpoint]) throws(StoreError) -> [ForgottenEndpoint] {
        var forgotten: [ForgottenEndpoint] = []
        let named = try namedEndpoints()
        for endpoint in silent where named.contains(endpoint) {
            forgotten.append(ForgottenEndpoint(name: endpoint.name, waiting: try forgetEndpoint(endpoint.name)))
        }
        if !named.isEmpty, forgotten.count == named.count {
            try setMark(Mark.terms, to: nil)
            try setMark(Mark.position, to: nil)
        }
        return forgotten
    }

    /// Customers of whom something may have to be told by now.
    func customersDue(limit: Int) throws(StoreError) -> [SizedCustomer] {
        try session.rows(
            "SELECT id, length(facts) FROM customers WHERE next_end <= $1 ORDER BY next_end LIMIT $2",
            [milliseconds, SQLValue(limit)]
        ).map { row throws(StoreError) in try SizedCustomer(row) }
    }

    /// Under another policy everybody's rights may be others.
    func announceEverybody() throws(StoreError) {
        if try mark(Mark.terms) != nil { try setMark(Mark.position, to: "0") }
    }

    /// Whether what a process knows as the last publication is that.
    func isCurrent(_ publication: Int64?) throws(StoreError) -> Bool {
        guard let publication else { return true }
        return try self.publication()?.id == publication
    }

    /// The number of the last customer that was checked for announcements; nil if none is left to check.
    func announcedPosition() throws(StoreError) -> Int64? {
        try mark(Mark.position).map { Int64($0) ?? 0 }
    }

    /// Nil: everybody was looked at.
    func setAnnouncedPosition(_ position: Int64?) throws(StoreError) {
        try setMark(Mark.position, to: position.map { String($0) })
    }

    /// The next to be looked at where every customer is.
    func customersToAnnounce(after position: Int64, limit: Int) throws(StoreError) -> [SizedCustomer] {
        // What somebody showed who proved nothing is nobody's record.
        try session.rows(
            """
            SELECT id, length(facts) FROM customers WHERE id > $1 AND merged_into IS NULL AND NOT EXISTS (
                SELECT 1 FROM identities WHERE customer = customers.id AND kind = $2
            ) ORDER BY id LIMIT $3
            """, [.integer(position), SQLValue(Identity.Kind.visit.rawValue), SQLValue(limit)]
        ).map { row throws(StoreError) in try SizedCustomer(row) }
    }

    func announce(_ id: Int64, _ judge: Judge) throws(StoreError) {
        guard let customer = try customer(id, forUpdate: true) else { return }
        guard customer.id == id else {
            try session.execute("UPDATE customers SET next_end = NULL WHERE id = $1", [.integer(id)])
            return
        }
        guard let announcement = judge(customer) else {
            let later = now.addingTimeInterval(Self.postponement).millisecondsSince1970
            try session.execute(
                "UPDATE customers SET next_end = $1 WHERE id = $2", [.integer(later), .integer(id)])
            return
        }
        if announcement.announced == customer.announced {
            // Nothing to tell, but another time to look.
            let look = announcement.nextLook(at: now)
            try session.execute("UPDATE customers SET next_end = $1 WHERE id = $2", [look, .integer(id)])
            return
        }
        let updated = try update(customer, to: customer.facts, announcement)
        for message in announcement.messages { try tell(message, of: updated) }
    }

    /// Seconds.
    private static let postponement: TimeInterval = 60

    private enum Mark {
        static let terms = "announced terms"
        static let position = "announced up to"
    }
}

/// A customer by number, with how much is known of them.
struct SizedCustomer: Sendable {
    let id: Int64
    /// Bytes.
    let size: Int

    fileprivate init(_ row: SQLRow) throws(StoreError) {
        id = try row.integer(0)
        size = Int(clamping: try row.integer(1))
    }
}

extension [SizedCustomer] {
    /// In their order, so many that one transaction looks at them.
    var pieces: [[SizedCustomer]] {
        var pieces: [[SizedCustomer]] = []
        var size = 0
        for customer in self {
            if let last = pieces.indices.last, pieces[last].count < Self.mostInOnePiece,
                size + customer.size <= Ledger.mostFactsInOnePiece
            {
                pieces[last].append(customer)
                size += customer.size
            } else {
                pieces.append([customer])
                size = customer.size
            }
        }
        return pieces
    }

    private static var mostInOnePiece: Int { 16 }
}
