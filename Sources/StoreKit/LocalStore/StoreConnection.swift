import Foundation
import TenureAppStore
import TenureJSON

/// The way from a device to the local App Store.
protocol StoreConnection: Sendable {
    /// Asks one of the questions of the store's `DeviceQuestion`. Waits as long as the store does; ends early where
    /// the task is cancelled.
    func ask(_ question: Question, _ body: JSONObject) async throws(ConnectionFailure) -> JSONObject

    /// The same without suspending, for the few things that StoreKit answers at once. Nil where that cannot be.
    func askAtOnce(_ question: Question, _ body: JSONObject) -> JSONObject?
}

/// What a device asks; `DeviceQuestion` in the local store, which this module cannot import in every build.
enum Question: String, CaseIterable, Sendable {
    case contents, changes, appTransaction, receipt, products, purchase, finish, roots, now, acts
}

enum ConnectionFailure: Error, Sendable {
    case network(URLError)
    /// The store does not do it: a stable name for the reason, and a sentence.
    case refused(code: String, detail: String)

    /// The error that StoreKit throws for it.
    var storeKitError: StoreKitError {
        switch self {
        case .network(let error): .networkError(error)
        case .refused(code: "unknown", _): .unknown
        case .refused(_, let detail): .systemError(LocalStore.Failure(detail))
        }
    }
}

extension LocalStore {
    /// The names of the questions, for comparing them with the store's.
    package static var questions: [String] { Question.allCases.map(\.rawValue) }
}
