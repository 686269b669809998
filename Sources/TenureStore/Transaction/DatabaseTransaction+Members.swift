import Foundation
import TenureCore

/// One row of the customers, whoever they turned out to be.
struct CustomerMember {
    let id: Int64
    let realm: Realm
    let publicID: String
    let createdAt: Date
    let mergedInto: Int64?
}

extension DatabaseTransaction {
    /// `forUpdate` is for acts; those who only read hold nobody up.
    func member(_ name: CustomerName, forUpdate: Bool = true) throws(StoreError) -> CustomerMember? {
        let (column, value): (String, SQLValue) =
            switch name {
            case .publicID(let id): ("public_id", .text(id))
            case .number(let number): ("id", .integer(number))
            }
        let row = try session.row(
            """
            SELECT id, realm, public_id, created_at, merged_into FROM customers
            WHERE \(column) = $1\(forUpdate ? session.dialect.forUpdate : "")
            """, [value])
        return try row.flatMap { row throws(StoreError) -> CustomerMember? in
            let code = try row.integer(1)
            guard let realm = UInt8(exactly: code).flatMap({ Realm(code: $0) }) else {
                throw .damaged("no realm has the number \(code)")
            }
            let member = CustomerMember(
                id: try row.integer(0), realm: realm, publicID: try row.text(2), createdAt: try row.instant(3),
                mergedInto: try row.integerIfPresent(4))
            // Erased.
            return member.mergedInto == member.id ? nil : member
        }
    }

    /// Returns the numbers of everyone who is one with this customer; empty if there is none.
    package func members(of customer: CustomerName) throws(StoreError) -> [Int64] {
        guard let member = try member(customer, forUpdate: false) else { return [] }
        return try group(of: try self.customer(of: member, forUpdate: false).id)
    }

    /// Whom a member turned out to be, locked, without what is known of them.
    func root(of member: CustomerMember) throws(StoreError) -> CustomerMember {
        var root = member
        for _ in 0...Self.mostMembers {
            guard let next = root.mergedInto else { return root }
            guard let found = try self.member(.number(next)) else {
                throw .damaged("customer \(root.id) was merged into nobody")
            }
            root = found
        }
        throw .damaged("customer \(member.id) was merged in a circle")
    }

    /// Whom a member turned out to be, named as that member.
    func customer(of member: CustomerMember, forUpdate: Bool = true) throws(StoreError) -> Customer {
        guard let customer = try customer(member.id, forUpdate: forUpdate) else {
            throw .damaged("customer \(member.id) was merged into nobody")
        }
        return customer.named(as: member.id)
    }

    func mergeMember(_ id: Int64, into parent: Int64?) throws(StoreError) {
        try session.execute(
            "UPDATE customers SET merged_into = $1 WHERE id = $2",
            [parent.map { .integer($0) } ?? .null, .integer(id)])
    }
}
