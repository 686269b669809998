import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// A request to the App Store Server API with a valid token, and the state of the local App Store when it arrived.
struct ServerAPIRequest: Sendable {
    /// The ID in the path, such as a transaction ID.
    let id: String
    /// The parameters of the URL's query, in their order.
    let parameters: [(name: String, value: String)]
    let body: [UInt8]
    let state: AppStoreState
    /// The index in `state.apps` of the app that the token names.
    let app: Int
    let signer: AppStoreSigner

    /// Returns all values of a query parameter, which may be repeated.
    func queryValues(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

    /// Returns the value of a query parameter. If the parameter is repeated, the last value is used, as in Apple's API.
    func queryValue(_ name: String) -> String? { queryValues(name).last }

    /// Returns a transaction as a JWS.
    func signed(_ transaction: AppStoreTransaction) throws -> String { try signer.transaction(transaction, in: state) }

    /// Returns the app's transaction with this ID. Throws if the app has no such transaction.
    func transaction(_ id: String) throws(ServerAPIError) -> AppStoreTransaction {
        try checkForm(of: id, .invalidTransactionID)
        guard let transaction = state.transaction(id), transaction.app == app else { throw .transactionIDNotFound }
        return transaction
    }

    /// Returns the index of the customer with this transaction ID or app transaction ID. Throws if the app has no such
    /// customer.
    func account(_ id: String) throws(ServerAPIError) -> Int {
        try checkForm(of: id, .invalidTransactionID)
        if let acquisition = state.acquisition(id), acquisition.app == app { return acquisition.account }
        return try transaction(id).account
    }

    /// Returns the original transaction with this ID. Throws for the ID of a later transaction.
    func original(_ id: String) throws(ServerAPIError) -> AppStoreTransaction {
        try checkForm(of: id, .invalidOriginalTransactionID)
        guard let transaction = state.transaction(id), transaction.app == app,
            transaction.originalTransaction == transaction.index
        else { throw .originalTransactionIDNotFound }
        return transaction
    }

    /// Throws `error` if the ID isn't a number of 1 to 20 digits.
    func checkForm(of id: String, _ error: ServerAPIError) throws(ServerAPIError) {
        guard (1...20).contains(id.utf8.count), id.hasOnlyDigits else { throw error }
    }

    /// Reads an instant in milliseconds since 1970; nil without a text. Throws `error` if the text has another form.
    func milliseconds(_ text: String?, _ error: ServerAPIError) throws(ServerAPIError) -> Date? {
        guard let text else { return nil }
        guard let number = Int64(text), (0...Int64(Date.maximumMilliseconds)).contains(number) else { throw error }
        return Date(timeIntervalSince1970: Double(number) / 1000)
    }

    /// The fields of responses that identify the app: `bundleId`, `environment` and, in production, `appAppleId`.
    var appMembers: JSONObject {
        var members = state.appMembers(app)
        if !state.environment.isProduction { members["appAppleId"] = nil }
        return members
    }

    /// Returns the body of the request, which must be a JSON object.
    func bodyObject() throws(ServerAPIError) -> JSONObject {
        guard case .object(let object)? = try? JSONValue(parsing: body) else { throw .generalBadRequest }
        return object
    }
}
