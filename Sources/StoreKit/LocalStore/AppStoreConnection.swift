package import Foundation
import TenureAppStore
package import TenureJSON

/// The connection of a device to the local App Store.
package protocol AppStoreConnection: Sendable {
    /// Sends a request to the store, and returns its response. If the task is canceled, the call stops waiting.
    func send(_ kind: RequestKind, _ body: JSONObject) async throws(ConnectionFailure) -> JSONObject

    /// Sends a request and blocks the thread until the store responds. Returns nil if the request fails, or if this
    /// connection can't block.
    func sendBlocking(_ kind: RequestKind, _ body: JSONObject) -> JSONObject?
}

/// The requests of a device, with the same names as `DeviceRequestKind` in the module `LocalAppStore`. This module
/// doesn't import that module, so it needs this copy. A test compares the names.
package enum RequestKind: String, CaseIterable, Sendable {
    case contents, changes, appTransaction, receipt, products, purchase, finish, roots, now, operations
}

/// Why a request to the local App Store failed.
package enum ConnectionFailure: Error, Sendable {
    /// The store can't be reached, or the device is offline.
    case network(URLError)
    /// The local App Store refuses the request. `code` is a stable name for the reason, and `detail` a sentence.
    case refused(code: String, detail: String)

    /// The error that StoreKit throws for this failure.
    var storeKitError: StoreKitError {
        switch self {
        case .network(let error): .networkError(error)
        case .refused(code: "unknown", _): .unknown
        case .refused(_, let detail): .systemError(LocalStore.Failure(detail))
        }
    }
}
