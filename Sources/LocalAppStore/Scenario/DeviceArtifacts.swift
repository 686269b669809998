package import Foundation

/// What the app on a customer's device sends to the service.
package struct DeviceArtifacts: Sendable {
    /// The customer's name in the scenario.
    package let customer: String
    /// The ID of the customer's app transaction; nil if they don't have the app.
    let appTransactionID: String?
    /// The device's `AppStore.deviceVerificationID`.
    package let deviceVerificationID: UUID
    /// The signed app transaction. Nil if the customer doesn't have the app, or if the app can't send it.
    package let appTransaction: String?
    /// The receipt, in DER. Nil if the customer doesn't have the app, or if the app can't send it.
    package let receipt: [UInt8]?
    /// All signed transactions that StoreKit lists. Nil if the app didn't ask StoreKit.
    package let transactions: [String]?
    /// The signed renewal info of each subscription.
    package let renewalInfos: [String]

    /// Whether there is an artifact to send.
    package var showsAnything: Bool { appTransaction != nil || receipt != nil || transactions?.isEmpty == false }
}

/// A customer, by the scenario's name and by Apple's ID.
package struct KnownCustomer: Sendable, Hashable {
    /// The customer's name in the scenario.
    let name: String
    /// The ID of the customer's app transaction; nil if they don't have the app.
    package let appTransactionID: String?
}

extension LocalAppStore {
    /// Returns the customer with this name, with the ID of their app transaction. Without `app`, uses the only app.
    func customer(_ name: String, app bundleID: String? = nil) throws -> KnownCustomer {
        let acquisition = state.acquisition(of: try state.accountIndex(name), app: try state.appIndex(bundleID))
        return KnownCustomer(name: name, appTransactionID: acquisition.map { state.id(of: $0) })
    }

    /// Returns the artifacts that the customer's first device has now. Without `app`, uses the only app.
    package func artifacts(
        of customer: String, showing: Scenario.Showing = .appTransaction, app bundleID: String? = nil
    ) throws -> DeviceArtifacts {
        let state = state
        let index = try state.accountIndex(customer)
        let app = try state.appIndex(bundleID)
        let account = state.accounts[index]
        let device = account.devices[0]
        let acquisition = state.acquisition(of: index, app: app)
        let usesStoreKit = showing == .appTransaction || showing == .both
        let hasReceipt = showing == .receipt || showing == .both
        return DeviceArtifacts(
            customer: customer, appTransactionID: acquisition.map { state.id(of: $0) }, deviceVerificationID: device,
            appTransaction: try usesStoreKit
                ? acquisition.map { try signer.appTransaction($0, in: state, for: .device(device)) } : nil,
            receipt: try hasReceipt ? acquisition.map { try signer.receipt(of: $0, in: state, device: device) } : nil,
            transactions: try usesStoreKit
                ? account.transactions.map { state.transactions[$0] }.filter { $0.app == app }
                    .map { try signer.transaction($0, in: state, for: .device(device)) } : nil,
            renewalInfos: try usesStoreKit
                ? account.subscriptions.map { state.subscriptions[$0] }.filter { $0.app == app }
                    .map { try signer.renewalInfo($0, in: state, for: .device(device)) } : [])
    }
}
