/// Links customers to users of the app, and removes such links.
///
/// For example, Ada has the account `ada` with the app's own server, and bought the app with two Apple Accounts. The
/// server links both customers to `ada`, so they are merged into one. When the server removes the link, they are split
/// again. The merged customer has two *members*: the two rows of `customers`.
extension DatabaseTransaction {
    /// The IDs of the app's users to which the customer is linked.
    func users(of id: Int64) throws(StoreError) -> [String] { try users(among: try group(of: id)) }

    /// The IDs of the app's users to which these members are linked.
    func users(among group: [Int64]) throws(StoreError) -> [String] {
        try texts(
            """
            SELECT value FROM identities
            WHERE customer IN \(Self.batch) AND kind = \(Identity.Kind.userID.rawValue) ORDER BY value
            """, about: group)
    }

    /// Links a customer to a user of the app. Customers of the same user are merged into one.
    ///
    /// - Parameters:
    ///   - user: the user's ID in the app's own server.
    ///   - member: one account of the customer, as the request named it.
    ///   - transfer: what happens if the customer is linked to another user already: `never` refuses the link, `newest`
    ///     takes the member's account away from the other user, and `share` makes both users one customer.
    func link(
        _ user: String, to member: CustomerMember, _ transfer: Transfer, actor: String
    ) throws(StoreError) -> ChangeOutcome {
        var customer = try customer(of: member)
        guard try !isUnbound(member.id) else { return .refused(.unboundProof) }
        let identity = Identity(.userID, user)
        // The customer that is linked to this user already, if any.
        let linkedCustomer = try self.customer(by: identity, in: member.realm, forUpdate: true)
        if let linkedCustomer, linkedCustomer.id == customer.id { return .done(customer, isNew: false) }
        let otherUsers = try users(of: customer.id)
        if transfer == .never, !otherUsers.isEmpty { return .refused(.linkedToAnotherUser) }
        let isTransfer = transfer == .newest && !otherUsers.isEmpty
        // The members that will be linked to the user. Members that were merged because of signed data are one account,
        // so they move together.
        let all = try group(of: customer.id)
        let taken = isTransfer ? try account(of: member.id, among: all) : all
        if let linkedCustomer {
            let group = try group(of: linkedCustomer.id)
            guard try !areSeparated(taken, group) else { return .refused(.separated) }
            guard mayJoin(taken, group) else { return .refused(.tooManyMerged) }
        }
        // Take the account away from the former user, then merge it with the other accounts of the new user.
        if isTransfer {
            customer = try takeAway(taken, including: member, from: customer, allMembers: all, actor: actor)
        }
        if let linkedCustomer {
            customer = try merge(customer, into: linkedCustomer, because: .sameUser, of: user, actor: actor)
                .with(member: member.id)
        } else {
            try insert([identity], ofMember: customer.member, in: customer.realm)
        }
        // The event lists the promises (rights that are stored so that later policies keep them), so that the timeline
        // shows which promises moved with the account.
        let promises = try promisedEntitlements(by: isTransfer ? taken : [member.id])
        try append(
            isTransfer ? .transferred : .linked, to: customer, actor: actor,
            detail: [Self.userKey: user].merging(promises.isEmpty ? [:] : ["promises": promises]) { $1 })
        try forgetFormerUsers(of: customer.id)
        return .done(customer, isNew: true)
    }

    /// Removes the IDs of former users from the events of a customer. These events now belong to another user, and the
    /// erasure of a former user wouldn't find them.
    private func forgetFormerUsers(of id: Int64) throws(StoreError) {
        let users = Set(try users(of: id))
        for member in try group(of: id) {
            for (number, event) in try numberedEvents(of: member) {
                guard let user = event.detail[Self.userKey], !users.contains(user) else { continue }
                let detail = event.detail.filter { $0.key != Self.userKey }
                try session.execute(
                    "UPDATE events SET detail = $1 WHERE id = $2",
                    [detail.isEmpty ? .null : .text(detail.json), .integer(number)])
            }
        }
    }

    /// The key under which the details of events have a user's ID.
    static let userKey = "user"

    /// Takes the member's account away from a customer, who keeps the other accounts and all users. If there is no
    /// other account, removes the users instead. Returns the account as a customer without a user.
    ///
    /// - Parameters:
    ///   - taken: the members of the account.
    ///   - member: one of these members, which becomes the `Customer.member` of the result.
    ///   - allMembers: the members of the customer.
    private func takeAway(
        _ taken: [Int64], including member: CustomerMember, from customer: Customer, allMembers: [Int64], actor: String
    ) throws(StoreError) -> Customer {
        guard let (remaining, separated) = try split(taken, from: allMembers) else {
            for user in try users(of: customer.id) {
                try remove(Identity(.userID, user), in: member.realm)
                try append(.unlinked, to: customer, actor: actor, detail: [Self.userKey: user])
            }
            return customer
        }
        // The users stay with the remaining accounts.
        for id in taken {
            try session.execute(
                "UPDATE identities SET customer = $1 WHERE customer = $2 AND kind = $3",
                [.integer(remaining), .integer(id), SQLValue(Identity.Kind.userID.rawValue)])
        }
        let promises = try promisedEntitlements(by: taken)
        let parts = try restore([remaining, separated], of: customer)
        try append(
            .transferred, to: parts[0], actor: actor,
            detail: ["customer": member.publicID].merging(promises.isEmpty ? [:] : ["promises": promises]) { $1 })
        return parts[1].with(member: member.id)
    }

    /// Removes a link, and undoes the merges that it caused.
    func unlink(_ user: String, from member: CustomerMember, actor: String) throws(StoreError) -> ChangeOutcome {
        let customer = try customer(of: member)
        let identity = Identity(.userID, user)
        guard let linkedCustomer = try self.customer(by: identity, in: member.realm), linkedCustomer.id == customer.id
        else { return .refused(.notLinked) }
        try remove(identity, in: member.realm)
        try append(.unlinked, to: customer, actor: actor, detail: [Self.userKey: user])
        // Splits off the members that were merged only because of this user.
        let group = try group(of: customer.id)
        for id in group {
            guard let other = try self.member(.rowID(id)), other.mergedInto != nil else { continue }
            let detail = try mergeDetail(of: other, among: group)
            guard detail["because"] == MergeReason.sameUser.rawValue, detail[Self.userKey] == user else { continue }
            try splitOff(other, isPermanent: false, actor: actor, detail: ["because": "unlinked"])
        }
        return .done(try self.customer(of: member), isNew: true)
    }

    private func remove(_ identity: Identity, in realm: Realm) throws(StoreError) {
        try session.execute(
            "DELETE FROM identities WHERE realm = $1 AND kind = $2 AND value = $3",
            [SQLValue(realm.code), SQLValue(identity.kind.rawValue), .text(identity.value)])
    }

    /// The names of the entitlements that these members have promises for, separated by commas.
    private func promisedEntitlements(by members: [Int64]) throws(StoreError) -> String {
        var names: Set<String> = []
        for member in members { names.formUnion(try promises(of: member).map(\.entitlement)) }
        return names.sorted().joined(separator: ", ")
    }
}
