import Foundation
import TenureCore

extension Ledger {
    /// The app's users who are linked with any of those who are one.
    func users(of id: Int64) throws(StoreError) -> [String] {
        try identities(of: id).filter { $0.kind == .userID }.map(\.value)
    }

    /// Says that an acquisition is a user's. What the same user has already becomes the same customer's.
    func link(
        _ user: String, to member: CustomerMember, _ transfer: Transfer, actor: String, by derive: Deriving
    ) throws(StoreError) -> ActOutcome {
        var customer = try customer(of: member)
        guard try !isVisit(member.id) else { return .refused(.unboundProof) }
        let identity = Identity(.userID, user)
        let theirs = try self.customer(by: identity, in: member.realm, forUpdate: true)
        if let theirs, theirs.id == customer.id { return .done(customer, isNew: false) }
        let others = try users(of: customer.id)
        if transfer == .never, !others.isEmpty { return .refused(.linkedToAnotherUser) }
        let isTransfer = transfer == .newest && !others.isEmpty
        if let theirs {
            let areSeparated =
                isTransfer
                ? try self.areSeparated([member.id], try group(of: theirs.id))
                : try self.areSeparated(customer.id, theirs.id)
            guard !areSeparated else { return .refused(.separated) }
            guard mayJoin(isTransfer ? [member.id] : try group(of: customer.id), try group(of: theirs.id)) else {
                return .refused(.tooManyMembers)
            }
        }
        if isTransfer { customer = try takeAway(member, from: customer, actor: actor, by: derive) }
        if let theirs {
            customer = try merge(customer, into: theirs, because: .sameUser, of: user, actor: actor)
                .named(as: member.id)
        } else {
            try insert(identity, of: customer)
        }
        // A promise never moves silently.
        let promises = try promised(by: member.id)
        try append(
            isTransfer ? .transferred : .linked, to: customer, actor: actor,
            detail: ["user": user].merging(promises.isEmpty ? [:] : ["promises": promises]) { $1 })
        return .done(customer, isNew: true)
    }

    /// The member is nobody's; whoever had it keeps the rest.
    private func takeAway(
        _ member: CustomerMember, from customer: Customer, actor: String, by derive: Deriving
    ) throws(StoreError) -> Customer {
        guard let rest = try detach(member) else {
            for user in try users(of: member.id) {
                try remove(Identity(.userID, user), in: member.realm)
                try append(.unlinked, to: customer, actor: actor, detail: ["user": user])
            }
            return customer
        }
        // The users stay with what they keep.
        try session.execute(
            "UPDATE identities SET customer = $1 WHERE customer = $2 AND kind = $3",
            [.integer(rest), .integer(member.id), SQLValue(Identity.Kind.userID.rawValue)])
        let promises = try promised(by: member.id)
        if let rest = try restore(rest, by: derive) {
            try append(
                .transferred, to: rest, actor: actor,
                detail: ["customer": member.publicID].merging(promises.isEmpty ? [:] : ["promises": promises]) { $1 })
        }
        guard let alone = try restore(member.id, by: derive) else { throw .failed("a customer is not there") }
        return alone
    }

    /// The link ends, and so does what it alone made one.
    func unlink(
        _ user: String, from member: CustomerMember, actor: String, by derive: Deriving
    ) throws(StoreError) -> ActOutcome {
        let customer = try customer(of: member)
        let identity = Identity(.userID, user)
        guard let theirs = try self.customer(by: identity, in: member.realm), theirs.id == customer.id else {
            return .refused(.notLinked)
        }
        try remove(identity, in: member.realm)
        try append(.unlinked, to: customer, actor: actor, detail: ["user": user])
        let group = try group(of: customer.id)
        for id in group {
            guard let other = try self.member(.number(id)), other.mergedInto != nil else { continue }
            let detail = try mergeDetail(of: other, among: group)
            guard detail["because"] == MergeReason.sameUser.rawValue, detail["user"] == user else { continue }
            try part(other, isForGood: false, actor: actor, ["because": "unlinked"], by: derive)
        }
        return .done(try self.customer(of: member), isNew: true)
    }

    private func remove(_ identity: Identity, in realm: Realm) throws(StoreError) {
        try session.execute(
            "DELETE FROM identities WHERE realm = $1 AND kind = $2 AND value = $3",
            [SQLValue(realm.code), SQLValue(identity.kind.rawValue), .text(identity.value)])
    }

    /// The entitlements that were promised to one member, each once.
    private func promised(by member: Int64) throws(StoreError) -> String {
        Set(try promises(of: member).map(\.entitlement)).sorted().joined(separator: ", ")
    }
}
