package import Foundation
package import TenureCore

/// What a scenario is played against: it hears of customers as a developer's service does, and says what they may use.
package protocol EntitlementService: Sendable {
    /// The customer's app is opened, and hands over what it has.
    func open(_ device: DeviceArtifacts, at now: Date) async throws -> [String: Decision.Outcome]

    /// What the service knows by itself; nil where it never heard of the customer.
    func known(_ customer: String, at now: Date) async throws -> [String: Decision.Outcome]?

    /// A notification arrives.
    func receive(_ signedPayload: String, at now: Date) async -> SendAttemptResult
}

/// What a customer's app hands over.
package struct DeviceArtifacts: Sendable {
    package let customer: String
    /// Apple's id for the customer in the app, where they have it.
    package let appTransactionID: String?
    package let deviceVerificationID: UUID
    package let appTransaction: String?
    /// In DER.
    package let receipt: [UInt8]?
    /// All that StoreKit lists; nil: it was not asked.
    package let transactions: [String]?
    package let renewalInfos: [String]
}

extension LocalAppStore {
    /// What the customer's first device would hand over now.
    package func artifacts(
        of customer: String, showing: Scenario.Showing = .appTransaction, app bundleID: String? = nil
    ) throws -> DeviceArtifacts {
        let world = world
        let place = try world.accountPlace(customer)
        let app = try world.appPlace(bundleID)
        let account = world.accounts[place]
        let device = account.devices[0]
        let acquisition = world.acquisition(of: place, app: app)
        let hasTransactions = showing == .appTransaction || showing == .both
        let hasReceipt = showing == .receipt || showing == .both
        return DeviceArtifacts(
            customer: customer, appTransactionID: acquisition.map { world.id(of: $0) }, deviceVerificationID: device,
            appTransaction: try hasTransactions
                ? acquisition.map { try signer.appTransaction($0, in: world, for: .device(device)) } : nil,
            receipt: try hasReceipt ? acquisition.map { try signer.receipt(of: $0, in: world, device: device) } : nil,
            transactions: try hasTransactions
                ? account.transactions.map { world.transactions[$0] }.filter { $0.app == app }
                    .map { try signer.transaction($0, in: world, for: .device(device)) } : nil,
            renewalInfos: try hasTransactions
                ? account.subscriptions.map { world.subscriptions[$0] }.filter { $0.app == app }
                    .map { try signer.renewalInfo($0, in: world, for: .device(device)) } : [])
    }
}
