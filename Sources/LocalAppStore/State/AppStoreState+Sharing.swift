import TenureAppStore

/// Family Sharing. A *share* is what a family member has of another member's purchase: a separate transaction and, if a
/// subscription is shared, a separate subscription. Shares follow the purchaser's transactions and subscription.
extension AppStoreState {
    /// The purchaser lets the family use a product.
    mutating func share(_ customer: String, _ id: String) throws(AppStoreStateError) {
        let transaction = try transaction(customer, id)
        guard accounts[transaction.account].family != nil else { throw .noFamily(customer: customer) }
        guard products[transaction.product].isFamilyShareable, !transaction.isFamilyShared,
            transaction.revocation == nil
        else { throw .wrongState(customer: customer, product: id, must: "be family-shareable and paid for") }
        if let subscription = subscription(of: transaction) {
            guard subscription.isRunning else {
                throw .wrongState(customer: customer, product: id, must: "not have ended")
            }
            subscriptions[subscription.index].isShared = true
            shareSubscription(subscription.index)
        } else {
            sharedPurchases.insert(transaction.index)
            for member in family(of: transaction.account) { sharePurchase(transaction.index, with: member) }
        }
    }

    /// The purchaser stops sharing.
    mutating func unshare(_ customer: String, _ id: String) throws(AppStoreStateError) {
        let transaction = try transaction(customer, id)
        if let subscription = subscription(of: transaction), subscription.isShared {
            stopSharing(subscription.index)
        } else if sharedPurchases.remove(transaction.index) != nil {
            revokeShares(in: transaction)
        } else {
            throw .wrongState(customer: customer, product: id, must: "be shared")
        }
    }

    /// A member leaves the family, and loses what the family shared.
    mutating func leaveFamily(_ customer: String) throws(AppStoreStateError) {
        let account = try accountIndex(customer)
        guard accounts[account].family != nil else { throw .noFamily(customer: customer) }
        for index in accounts[account].subscriptions {
            if let purchaser = subscriptions[index].sharedFrom {
                subscriptions[purchaser].sharedWith.removeAll { $0 == index }
                revokeShare(subscription: index)
            } else {
                stopSharing(index)
            }
        }
        // The other purchases: end the member's shares, and the shares that others have in the member's purchases.
        for index in shares(inFamilyOf: account) where subscription(of: transactions[index]) == nil {
            guard let origin = transactions[index].sharedFrom else { continue }
            if transactions[index].account == account || transactions[origin].account == account {
                revokeShare(transaction: index)
            }
        }
        removeFromFamily(account)
    }

    /// Ends the family members' shares in a subscription.
    private mutating func stopSharing(_ index: Int) {
        for share in subscriptions[index].sharedWith { revokeShare(subscription: share) }
        subscriptions[index].sharedWith = []
        subscriptions[index].isShared = false
    }

    /// Gives a member who just got the app everything that the family shares.
    mutating func giveShares(to account: Int, app: Int) {
        for other in family(of: account) {
            for index in accounts[other].subscriptions
            where subscriptions[index].isShared && subscriptions[index].app == app && subscriptions[index].isRunning {
                shareSubscription(index, with: account)
            }
            for index in accounts[other].transactions
            where sharedPurchases.contains(index) && transactions[index].app == app {
                sharePurchase(index, with: account)
            }
        }
    }

    /// Revokes the family members' shares in a purchase that isn't a subscription.
    mutating func revokeShares(in purchase: AppStoreTransaction) {
        for share in shares(inFamilyOf: purchase.account) where transactions[share].sharedFrom == purchase.index {
            revokeShare(transaction: share)
        }
    }

    /// Returns the indexes of all transactions of the account and its family members that are shares, in the order of
    /// their creation.
    private func shares(inFamilyOf account: Int) -> [Int] {
        ([account] + family(of: account)).flatMap { accounts[$0].transactions }
            .filter { transactions[$0].isFamilyShared }.sorted()
    }

    /// Returns the indexes of the other members of an account's family.
    private func family(of account: Int) -> [Int] {
        accounts[account].family.flatMap { families[$0] }?.filter { $0 != account } ?? []
    }

    /// Gives every member who has the app a share in a subscription.
    ///
    /// - Parameters:
    ///   - purchaser: the index of the purchaser's subscription.
    ///   - account: the index of the only member to share with. Nil shares with all members.
    mutating func shareSubscription(_ purchaser: Int, with account: Int? = nil) {
        let shared = subscriptions[purchaser]
        let origin = transactions[shared.currentTransaction]
        let members = if let account { [account] } else { family(of: shared.account) }
        for member in members where acquisition(of: member, app: shared.app) != nil {
            if let former = shared.sharedWith.first(where: { subscriptions[$0].account == member }) {
                // A refund revoked the share, and the purchaser subscribes again.
                subscriptions[former].state = shared.state
                updateShare(subscription: former, .subscribed, .resubscribe)
                continue
            }
            let transaction = addTransaction(
                shared.product, account: member, periodStart: origin.purchaseDate, price: 0, sharedFrom: origin.index,
                expiresDate: origin.expiresDate)
            let index = addSubscription(transaction, sharedFrom: purchaser)
            match(index, to: shared)
            subscriptions[purchaser].sharedWith.append(index)
            notify(.subscribed, .initialBuy, about: index)
        }
    }

    /// Gives a member who has the app a share in a purchase that isn't a subscription.
    private mutating func sharePurchase(_ purchase: Int, with member: Int) {
        let origin = transactions[purchase]
        guard acquisition(of: member, app: origin.app) != nil,
            !accounts[member].transactions.contains(where: {
                transactions[$0].sharedFrom == purchase && transactions[$0].revocation == nil
            })
        else { return }
        let transaction = addTransaction(origin.product, account: member, price: 0, sharedFrom: purchase)
        notify(.oneTimeCharge, app: origin.app, about: .transaction(transaction, nil, nil))
    }

    /// Updates the members' subscriptions to match the purchaser's, and sends a notification about each.
    mutating func updateShares(of purchaser: Int, _ type: NotificationType, _ subtype: NotificationSubtype? = nil) {
        for share in subscriptions[purchaser].sharedWith { updateShare(subscription: share, type, subtype) }
    }

    /// Updates a member's subscription, a share, to match the purchaser's, and sends a notification about it.
    private mutating func updateShare(
        subscription share: Int, _ type: NotificationType, _ subtype: NotificationSubtype?
    ) {
        guard let purchaser = subscriptions[share].sharedFrom, subscriptions[share].state != .revoked else { return }
        let shared = subscriptions[purchaser]
        let origin = transactions[shared.currentTransaction]
        // If the purchaser's subscription has a new transaction, the share gets one, too.
        if transactions[subscriptions[share].currentTransaction].sharedFrom != origin.index {
            let former = transactions[subscriptions[share].currentTransaction]
            let isUpgrade = origin.reason == .purchase && former.revocation == nil && (former.expiresDate ?? now) > now
            if isUpgrade { change(subscriptions[share].currentTransaction) { $0.isUpgraded = true } }
            let transaction = addTransaction(
                shared.product, account: subscriptions[share].account,
                original: subscriptions[share].originalTransaction, periodStart: origin.purchaseDate,
                reason: origin.reason, price: 0, sharedFrom: origin.index, expiresDate: origin.expiresDate)
            subscriptions[share].currentTransaction = transaction.index
        }
        match(share, to: shared)
        notify(type, subtype, about: share)
    }

    /// Gives a member's subscription the plan and the state of the purchaser's.
    private mutating func match(_ share: Int, to shared: Subscription) {
        subscriptions[share].product = shared.product
        subscriptions[share].renewsAs = shared.renewsAs
        subscriptions[share].autoRenews = shared.autoRenews
        subscriptions[share].state = shared.state
    }

    /// Ends a member's share in a subscription.
    mutating func revokeShare(subscription share: Int) {
        guard subscriptions[share].isRunning else { return }
        subscriptions[share].state = .revoked
        subscriptions[share].autoRenews = false
        revoke(subscriptions[share].currentTransaction)
        notify(.revoke, about: share)
    }

    /// Ends a member's share in a purchase that isn't a subscription.
    mutating func revokeShare(transaction share: Int) {
        guard transactions[share].revocation == nil else { return }
        revoke(share)
        notify(.revoke, app: transactions[share].app, about: .transaction(transactions[share], nil, nil))
    }

    /// Revokes the transaction of a share.
    private mutating func revoke(_ share: Int) {
        let revocation = AppStoreTransaction.Revocation(
            date: now, reason: .other, type: .familyRevoke, percentage: nil)
        change(share) { $0.revocation = revocation }
    }
}
