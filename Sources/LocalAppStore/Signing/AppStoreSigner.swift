package import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
package import TenureMint

/// Signs artifacts as the App Store would, with the keys of a test authority (keys and certificates in place of
/// Apple's). The signing date is the current time of the local App Store (`AppStoreState.now`). Notifications have the
/// date of their event instead.
package struct AppStoreSigner: Sendable {
    let authority: TestAuthority

    package init(authority: TestAuthority) { self.authority = authority }

    /// The recipient of an artifact. An artifact for a device contains a hash of the device's ID, so that another
    /// device can reject it.
    package enum Recipient: Sendable, Hashable {
        case device(UUID)
        case server
    }

    package func appTransaction(
        _ acquisition: AppStoreAcquisition, in state: AppStoreState, for recipient: Recipient
    ) throws -> String {
        try sign(state.appTransaction(acquisition, for: recipient), in: state)
    }

    /// - Parameter date: the signing date. Nil for the current time of `state`.
    func transaction(
        _ transaction: AppStoreTransaction, in state: AppStoreState, for recipient: Recipient = .server,
        at date: Date? = nil
    ) throws -> String {
        try sign(state.payload(of: transaction, for: recipient, signedAt: date ?? state.now), in: state)
    }

    /// - Parameter date: the signing date. Nil for the current time of `state`.
    func renewalInfo(
        _ subscription: Subscription, in state: AppStoreState, for recipient: Recipient = .server, at date: Date? = nil
    ) throws -> String {
        try sign(state.renewalInfo(of: subscription, for: recipient, signedAt: date ?? state.now), in: state)
    }

    /// Returns the `signedPayload` of a notification. In every delivery attempt, the transaction and renewal info are
    /// as they were at the time of the event. Only the app transaction has the current state.
    package func notification(_ notification: AppStoreNotification, in state: AppStoreState) throws -> String {
        var payload = JSONObject()
        payload.add([
            "notificationType": .string(notification.type.rawValue),
            "subtype": (notification.subtype?.rawValue).map(JSONValue.string),
            "notificationUUID": .string(notification.uuid.uuidString.lowercased()),
        ])
        switch notification.subject {
        case .extensionSummary(let summary): payload["summary"] = .object(state.summary(summary, app: notification.app))
        case .acquisition(let index):
            var data = state.appMembers(notification.app)
            data["signedAppTransactionInfo"] = .string(
                try appTransaction(state.acquisitions[index], in: state, for: .server))
            payload["appData"] = .object(data)
        case .nothing: payload["data"] = .object(state.appMembers(notification.app, isTest: true))
        case .transaction(let transaction, let subscription, let reason):
            var data = state.appMembers(notification.app)
            // CFBundleVersion of the app on the customer's devices.
            let installed = state.acquisition(of: transaction.account, app: transaction.app)?.installedRelease
            data["bundleVersion"] = (installed?.build).map(JSONValue.string)
            data["signedTransactionInfo"] = .string(
                try self.transaction(transaction, in: state, at: notification.signingDate))
            if let subscription {
                let info = try renewalInfo(subscription, in: state, at: notification.signingDate)
                data.add(["signedRenewalInfo": .string(info), "status": .integer(subscription.status.rawValue)])
            }
            data["consumptionRequestReason"] = (reason?.rawValue).map(JSONValue.string)
            payload["data"] = .object(data)
        }
        payload.add(["version": .string("2.0"), "signedDate": .instant(notification.signingDate)])
        return try sign(payload, in: state)
    }

    /// Returns the payload as a JWS.
    private func sign(_ payload: JSONObject, in state: AppStoreState) throws -> String {
        let minter = JWSMinter(
            authority: authority, app: MintedApp(environment: state.environment), signedAt: state.now)
        return String(decoding: try minter.mint(payload: payload), as: UTF8.self)
    }
}
