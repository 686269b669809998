import Foundation
import TenureAppStore
import TenureJSON

/// The connection of a device to the local App Store.
protocol StoreConnection: Sendable {
    /// Sends one of the questions of the store's `DeviceQuestion`. Waits as long as the store does; ends early if the
    /// task is canceled.
    func ask(_ question: Question, _ body: JSONObject) async throws(ConnectionFailure) -> JSONObject

    /// The same without suspending, for the few calls that StoreKit answers at once. Nil if that isn't possible.
    func askAtOnce(_ question: Question, _ body: JSONObject) -> JSONObject?
}

/// The questions of a device: `DeviceQuestion` of the local App Store, which this module can't import in every build.
enum Question: String, CaseIterable, Sendable {
    case contents, changes, appTransaction, receipt, products, purchase, finish, roots, now, operations
}

enum ConnectionFailure: Error, Sendable {
    case network(URLError)
    /// The store refuses: a stable name for the reason, and a sentence.
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
