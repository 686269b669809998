import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// One request with a valid token, and the state at that moment.
struct ServerAPIRequest: Sendable {
    /// The value in the path.
    let id: String
    let parameters: [(name: String, value: String)]
    let body: [UInt8]
    let state: AppStoreState
    /// The index of the token's app.
    let app: Int
    let signer: StoreSigner

    func query(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

    /// The last one, as at Apple.
    func single(_ name: String) -> String? { query(name).last }

    func signed(_ transaction: StoreTransaction) throws -> String {
        try signer.transaction(transaction, in: state)
    }

    /// The transaction with that ID, if it belongs to the app.
    func transaction(_ id: String) throws(ServerAPIError) -> StoreTransaction {
        try checkForm(of: id, .invalidTransactionID)
        guard let transaction = state.transaction(id), transaction.app == app else { throw .transactionIDNotFound }
        return transaction
    }

    /// The customer with that transaction ID or app transaction ID.
    func account(_ id: String) throws(ServerAPIError) -> Int {
        try checkForm(of: id, .invalidTransactionID)
        if let acquisition = state.acquisition(id), acquisition.app == app { return acquisition.account }
        return try transaction(id).account
    }

    /// The subscription that begins with that transaction. The ID must be its original transaction's.
    func original(_ id: String) throws(ServerAPIError) -> StoreTransaction {
        try checkForm(of: id, .invalidOriginalTransactionID)
        guard let transaction = state.transaction(id), transaction.app == app, transaction.original == transaction.index
        else { throw .originalTransactionIDNotFound }
        return transaction
    }

    func checkForm(of id: String, _ error: ServerAPIError) throws(ServerAPIError) {
        guard (1...20).contains(id.utf8.count),
            id.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw error }
    }

    func milliseconds(_ text: String?, _ error: ServerAPIError) throws(ServerAPIError) -> Date? {
        guard let text else { return nil }
        guard let number = Int64(text), (0...8_640_000_000_000_000).contains(number) else { throw error }
        return Date(timeIntervalSince1970: Double(number) / 1000)
    }

    /// `bundleId`, `appAppleId` and `environment`, as in responses.
    var appMembers: JSONObject {
        var members = state.appMembers(app)
        if !state.environment.isProduction { members["appAppleId"] = nil }
        return members
    }

    func object() throws(ServerAPIError) -> JSONObject {
        guard case .object(let object)? = try? JSONValue(parsing: body) else { throw .generalBadRequest }
        return object
    }
}
