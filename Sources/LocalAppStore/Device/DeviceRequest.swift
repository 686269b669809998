import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// A request of Tenure's module `StoreKit` for Linux, with the customer and the app that the request is about.
struct DeviceRequest: Sendable {
    let body: JSONObject
    /// The indexes of the customer and the app in the lists of `AppStoreState`.
    let account: Int
    let app: Int

    /// Finds the customer and the app that `body` names, or else the only customer and the only app. Throws if there is
    /// no such customer or app.
    init(_ body: JSONObject, _ store: LocalAppStore) async throws {
        let state = await store.state
        self.body = body
        if let name = body.text("customer") {
            account = try state.accountIndex(name)
        } else {
            guard state.accounts.count == 1 else {
                throw DeviceRefusal(
                    .badRequest,
                    "the local App Store doesn't have exactly one customer; name a customer with `customer`, or in the environment variable TENURE_LOCAL_STORE_CUSTOMER"
                )
            }
            account = 0
        }
        app = try state.appIndex(body.text("app"))
    }

    /// The ID of the device for which artifacts are signed. Throws if the request has no valid `device`.
    var device: UUID {
        get throws {
            guard let device = body.text("device").flatMap(UUID.init(uuidString:)) else {
                throw DeviceRefusal(.badRequest, "`device` must be the UUID of a device")
            }
            return device
        }
    }

    /// Returns the customer's acquisition of the app. Throws if the customer doesn't have the app.
    func acquisition(in state: AppStoreState) throws -> AppStoreAcquisition {
        guard let acquisition = state.acquisition(of: account, app: app) else {
            throw AppStoreStateError.hasNoApp(customer: state.accounts[account].name, app: state.apps[app].bundleID)
        }
        return acquisition
    }

    /// Returns the response to a request `contents`: everything that the App Store knows about the customer in this
    /// app.
    ///
    /// - Parameter change: how often the store has changed until `state`. The device waits for the next change with it.
    func contents(of state: AppStoreState, at change: Int, signer: AppStoreSigner) throws -> JSONObject {
        let device = AppStoreSigner.Recipient.device(try device)
        let customer = state.accounts[account]
        let acquisition = state.acquisition(of: account, app: app)
        var contents: JSONObject = [
            "change": .integer(Int64(change)), "now": .string(state.now.rfc3339),
            "environment": .string(state.environment.rawValue), "customer": .string(customer.name),
            "bundleID": .string(state.apps[app].bundleID), "appAppleID": .integer(state.apps[app].appAppleID),
            "storefront": .object(customer.storefront.json),
        ]
        contents["appTransactionID"] = acquisition.map { .string(state.id(of: $0)) }
        contents["appVersion"] = acquisition.map {
            .string($0.installedRelease.reportedVersion(on: $0.installedPlatform))
        }
        contents["transactions"] = .array(
            try customer.transactions.map { state.transactions[$0] }.filter { $0.app == app }.map { transaction in
                .object([
                    "jws": .string(try signer.transaction(transaction, in: state, for: device)),
                    "isFinished": .boolean(transaction.isFinished),
                ])
            })
        contents["subscriptions"] = .array(
            try customer.subscriptions.map { state.subscriptions[$0] }.filter { $0.app == app }.map { subscription in
                let current = state.transactions[subscription.currentTransaction]
                return .object([
                    "group": .string(state.groupID(subscription.group, of: app)),
                    "status": .integer(subscription.status.rawValue),
                    "isFamilyShared": .boolean(subscription.sharedFrom != nil),
                    "transaction": .string(try signer.transaction(current, in: state, for: device)),
                    "renewalInfo": .string(try signer.renewalInfo(subscription, in: state, for: device)),
                ])
            })
        return contents
    }
}

extension Storefront {
    fileprivate var json: JSONObject { ["code": .string(code), "id": .string(id), "currency": .string(currency)] }
}
