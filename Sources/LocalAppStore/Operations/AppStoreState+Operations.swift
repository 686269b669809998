import TenureAppStore
import TenureCore

extension AppStoreState {
    /// Performs an operation. Throws an `AppStoreStateError` or an `OperationMistake`; then nothing has changed.
    mutating func perform(_ operation: AppStoreOperation) throws {
        // After this check, the defaults of required parameters below are never used.
        try operation.checkCompleteness()
        let app = operation[.app]
        let customer = operation[.customer] ?? ""
        let product = operation[.product] ?? ""
        switch operation.kind {
        case .advance: if let instant = try operation.targetTime(in: self) { advance(to: instant) }

        case .release:
            let release = AppStoreRelease(
                platform: try operation.platform() ?? .iOS, build: try operation.text(.build),
                version: try operation.text(.version), releasedAt: now)
            try self.release(release, of: app)
        case .setPrice: try setPrice(AppPrice(from: now, price: try operation.price() ?? 0), of: app)
        case .raisePrice:
            try raisePrice(
                of: product, to: try operation.price() ?? 0, needsConsent: try operation.flag(.needsConsent) ?? true)
        case .withdraw: try setOnSale(false, product: product)
        case .offerAgain: try setOnSale(true, product: product)
        case .notifyAt: try setNotificationURL(operation[.url], of: app)
        case .network: network = try operation.word(.state, among: Network.allCases) { $0.rawValue } ?? .up

        case .customer:
            try addCustomer(
                customer, storefront: operation[.storefront] ?? Storefront.usa.code, family: operation[.family],
                devices: try operation.number(.devices, in: 1...10) ?? 1)
        case .move: try move(customer, to: try operation.text(.storefront))
        case .acquire:
            try acquire(
                customer, app: app, on: try operation.platform() ?? .iOS, release: operation[.release],
                price: try operation.price(),
                way: try operation.word(.way, among: AppStoreAcquisition.Way.allCases) { $0.rawValue } ?? .purchase,
                preorderDate: try operation.date(.preordered), licenseEnds: try operation.date(.licenseEnds))
        case .update: try update(customer, app: app, on: try operation.platform())
        case .refundApp: try refundApp(customer, app: app)
        case .rescindConsent: try rescindConsent(customer, app: app)

        case .buy:
            try buy(
                product, customer, quantity: Int64(try operation.number(.quantity, in: 1...10) ?? 1),
                offer: operation[.offer], appAccountToken: try operation.uuid(.appAccountToken))
        case .cancel: try setAutoRenew(false, customer, product)
        case .resume: try setAutoRenew(true, customer, product)
        case .upgrade: try changePlan(customer, to: product, offer: operation[.offer], as: .upgrade)
        case .downgrade: try changePlan(customer, to: product, offer: operation[.offer], as: .downgrade)
        case .keepPlan: try changePlan(customer, to: product, offer: operation[.offer], as: .stay)
        case .failBilling: try setBillingWorks(false, of: customer)
        case .recover: try recover(customer, product)
        case .consent: try consent(customer, product)

        case .requestRefund:
            let reason = try operation.word(.reason, among: ConsumptionRequestReason.allCases) { "\($0)" }
            try requestRefund(
                customer, product, reason: reason ?? .unintendedPurchase, periodsAgo: try periodsAgo(operation))
        case .declineRefund: try declineRefund(customer, product, periodsAgo: try periodsAgo(operation))
        case .refund:
            try refund(
                customer, product, percentage: try operation.number(.percent, in: 1...100).map { Int64($0) * 1000 },
                reason: try operation.word(.reason, among: RevocationReason.allCases) { "\($0)" } ?? .other,
                periodsAgo: try periodsAgo(operation))
        case .reverseRefund: try reverseRefund(customer, product, periodsAgo: try periodsAgo(operation))
        case .share: try share(customer, product)
        case .unshare: try unshare(customer, product)
        case .leaveFamily: try leaveFamily(customer)

        case .testNotification: notify(.test, app: try appIndex(app), about: .nothing)
        case .extendAll:
            try extendAll(
                product, by: try operation.number(.days, in: 1...90) ?? 1, request: try operation.text(.request),
                in: operation[.storefronts]?.split(separator: ",").map(String.init) ?? [])
        case .extend, .setAppAccountToken, .answerConsumption, .finish: try changeTransaction(operation)
        }
    }

    /// Returns the parameter `periodsAgo`: how many payments before the latest one the operation is about.
    private func periodsAgo(_ operation: AppStoreOperation) throws(OperationMistake) -> Int {
        try operation.number(.periodsAgo, in: 0...1000) ?? 0
    }

    /// Performs an operation on one transaction, which developers' servers can request with the App Store Server API.
    private mutating func changeTransaction(_ operation: AppStoreOperation) throws {
        let id = try operation.text(.transaction)
        guard let transaction = transaction(id) else {
            throw OperationMistake(id, in: .transaction, mustBe: "the ID of a transaction")
        }
        switch operation.kind {
        case .extend:
            guard extend(transaction, by: try operation.number(.days, in: 1...90) ?? 1) != nil else {
                throw OperationMistake(
                    "`extend` needs an active subscription; name the ID of its transaction in `transaction`")
            }
        case .setAppAccountToken:
            let token = try operation.uuid(.appAccountToken)
            for index in accounts[transaction.account].transactions
            where transactions[index].originalTransaction == transaction.originalTransaction {
                change(index) { $0.appAccountToken = token }
            }
        case .answerConsumption:
            consumption[transaction.index] = ConsumptionAnswer(
                date: now, deliveryStatus: try operation.text(.deliveryStatus),
                refundPreference: operation[.refundPreference])
        case .finish: change(transaction.index) { $0.isFinished = true }
        default: break
        }
    }
}
