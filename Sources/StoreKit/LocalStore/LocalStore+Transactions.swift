import Foundation
import Synchronization

/// Returns transactions and the statuses of subscriptions, and finishes transactions.
extension LocalStore {
    /// Returns the requested transactions with the results of their verification. Returns no transactions if the test
    /// has set `LocalStore.Behavior.transactions` to `fails`, or if the App Store was never reached.
    func transactions(_ selection: TransactionSelection) async -> [VerificationResult<Transaction>] {
        guard let (contents, flaw) = await contentsAndFlaw() else { return [] }
        let withAllConsumables =
            Bundle.main.infoDictionary?["SKIncludeConsumableInAppPurchaseHistory"] as? Bool ?? false
        return contents.selected(selection, at: await deviceTime(contents), withAllConsumables: withAllConsumables)
            .compactMap { check($0.signedText, flaw) }
    }

    /// Returns the statuses of all subscriptions. Empty if `statusesOrError` throws.
    func statuses() async -> [Product.SubscriptionInfo.Status] { (try? await statusesOrError()) ?? [] }

    /// Returns the statuses of all subscriptions. Throws if the test has set `LocalStore.Behavior.transactions` to
    /// `fails`, or if the App Store was never reached.
    func statusesOrError() async throws(StoreKitError) -> [Product.SubscriptionInfo.Status] {
        let flaw = try await applyBehavior(\.transactions)
        let contents: DeviceContents
        do throws(StoreKitError) {
            contents = try await contact()
        } catch {
            guard let known = state.withLock({ $0.contents }) else { throw error }
            contents = known
        }
        let now = await deviceTime(contents)
        return contents.subscriptions.compactMap { status($0, at: now, flaw) }
    }

    /// Verifies what the App Store reported about a subscription. Returns nil if it can't be read.
    private func status(
        _ subscription: ReceivedSubscription, at now: Date, _ flaw: Flaw?
    ) -> Product.SubscriptionInfo.Status? {
        guard let transaction: VerificationResult<Transaction> = check(subscription.transaction.signedText, flaw),
            let renewalInfo: VerificationResult<Product.SubscriptionInfo.RenewalInfo> = check(
                subscription.renewalInfo.signedText, flaw)
        else { return nil }
        return .init(state: subscription.state(at: now), transaction: transaction, renewalInfo: renewalInfo)
    }

    /// Whether the customer never subscribed in the group. Subscriptions that the family shares are ignored. False if
    /// the test has set `LocalStore.Behavior.transactions` to `fails`, or if the App Store was never reached.
    func isEligibleForIntroOffer(_ group: String) async -> Bool {
        guard let (contents, _) = await contentsAndFlaw() else { return false }
        return !contents.subscriptions.contains { $0.group == group && !$0.isFamilyShared }
    }

    /// Returns what the App Store reports, and the flaw that its values must have, if any. Returns nil if the test has
    /// set `LocalStore.Behavior.transactions` to `fails`, or if the App Store was never reached.
    private func contentsAndFlaw() async -> (DeviceContents, Flaw?)? {
        do throws(StoreKitError) {
            let flaw = try await applyBehavior(\.transactions)
            return await knownContents().map { ($0, flaw) }
        } catch {
            return nil
        }
    }

    /// Waits for the next transaction of `Transaction.updates`, and verifies it. Returns nil if the task is canceled.
    func nextUpdate(_ cursor: inout ChangeLogCursor<Transaction>) async -> VerificationResult<Transaction>? {
        while let transaction = await next(of: \.transactions, &cursor) {
            if let result: VerificationResult<Transaction> = check(
                transaction.signedText, await applyBehaviorToUpdates())
            {
                return result
            }
        }
        return nil
    }

    /// Waits for the next changed subscription, and returns its status. Returns nil if the task is canceled.
    func nextStatus(_ cursor: inout ChangeLogCursor<ReceivedSubscription>) async -> Product.SubscriptionInfo.Status? {
        while let subscription = await next(of: \.statuses, &cursor) {
            let flaw = await applyBehaviorToUpdates()
            guard let contents = state.withLock({ $0.contents }) else { continue }
            if let status = status(subscription, at: await deviceTime(contents), flaw) { return status }
        }
        return nil
    }

    /// Returns the flaw that the next update must have. Waits while `LocalStore.Behavior.transactions` is `fails` or
    /// `hangs`, because a sequence of updates can't throw.
    private func applyBehaviorToUpdates() async -> Flaw? {
        while true {
            do throws(StoreKitError) {
                return try await applyBehavior(\.transactions)
            } catch {
                await hang { if case .fails = $0.transactions { true } else { false } }
            }
        }
    }

    /// Marks a transaction as finished on the device, and tells the App Store.
    func finish(_ transaction: Transaction) async {
        state.withLock { state in
            state.finishedHere.insert(transaction.id)
            for index in state.contents?.transactions.indices ?? 0..<0
            where state.contents?.transactions[index].value.id == transaction.id {
                state.contents?.transactions[index].isFinished = true
            }
            state.changeLog.transactions.backlog.removeAll { $0.id == transaction.id }
        }
        // If the App Store can't be reached now, the device reports the finished transaction later.
        _ = try? await contact()
    }
}
