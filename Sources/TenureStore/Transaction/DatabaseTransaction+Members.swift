import Foundation
import TenureCore

/// One row of `customers`. A merged customer has several: the *survivor*, with the facts of the whole customer, and the
/// rows that were merged into it.
struct CustomerMember {
    /// The row ID.
    let id: Int64
    let realm: Realm
    let publicID: String
    let createdAt: Date
    /// The ID of the row into which this row was merged; nil for the survivor.
    let mergedInto: Int64?
}

extension DatabaseTransaction {
    /// Returns the member; nil if it doesn't exist or was erased.
    ///
    /// - Parameter forUpdate: whether to lock the row until the transaction ends, for changes.
    func member(_ name: CustomerName, forUpdate: Bool = true) throws(StoreError) -> CustomerMember? {
        let (column, value): (String, SQLValue) =
            switch name {
            case .publicID(let id): ("public_id", .text(id))
            case .rowID(let id): ("id", .integer(id))
            }
        let row = try session.row(
            """
            SELECT id, realm, public_id, created_at, merged_into FROM customers
            WHERE \(column) = $1\(forUpdate ? session.dialect.forUpdate : "")
            """, [value])
        return try row.flatMap { row throws(StoreError) -> CustomerMember? in
            let member = CustomerMember(
                id: try row.integer(0), realm: try row.codedValue(1, "realm", Realm.init(code:)),
                publicID: try row.text(2),
                createdAt: try row.instant(3), mergedInto: try row.integerIfPresent(4))
            // An erased customer is merged into itself.
            return member.mergedInto == member.id ? nil : member
        }
    }

    /// Returns the row IDs of the customer's members; empty if the customer doesn't exist.
    package func members(of customer: CustomerName) throws(StoreError) -> [Int64] {
        guard let member = try member(customer, forUpdate: false) else { return [] }
        return try group(of: try self.customer(of: member, forUpdate: false).id)
    }

    /// Returns the survivor of a member's customer, locked, without the facts. A member that wasn't merged is its own
    /// survivor.
    func survivor(of member: CustomerMember) throws(StoreError) -> CustomerMember {
        var survivor = member
        for _ in 0...Self.maximumMembers {
            guard let next = survivor.mergedInto else { return survivor }
            guard let found = try self.member(.rowID(next)) else {
                throw .damaged("customer \(survivor.id) was merged into a missing customer")
            }
            survivor = found
        }
        throw .damaged("customer \(member.id) was merged in a circle")
    }

    /// Returns the survivor of a member's customer, with `Customer.member` set to the row ID of this member.
    ///
    /// - Parameter forUpdate: whether to lock the row until the transaction ends.
    func customer(of member: CustomerMember, forUpdate: Bool = true) throws(StoreError) -> Customer {
        guard let customer = try customer(member.id, forUpdate: forUpdate) else {
            throw .damaged("customer \(member.id) was merged into a missing customer")
        }
        return customer.with(member: member.id)
    }

    /// Stores into which customer a member is merged; nil makes the member a separate customer.
    func mergeMember(_ id: Int64, into parent: Int64?) throws(StoreError) {
        try session.execute(
            "UPDATE customers SET merged_into = $1 WHERE id = $2", [SQLValue(parent), .integer(id)])
    }
}
