package import Foundation
import TenureHTTP
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

/// The connection to a local App Store that `tenure local-store run` serves over HTTP.
struct HTTPConnection: AppStoreConnection {
    let url: URL

    /// The number of seconds for which the local App Store may hold a request that waits for changes. The timeout of
    /// requests is three times as long, so that a held request doesn't fail.
    private static let longPoll = 20
    /// The maximum size of a response in bytes. It is large, because a customer may have a long history.
    private static let bodyLimit = 256 * 1024 * 1024

    func send(_ kind: RequestKind, _ body: JSONObject) async throws(ConnectionFailure) -> JSONObject {
        let response: TransportResponse
        do throws(TransportFailure) {
            response = try await URLSessionTransport.shared.send(
                request(kind, body, timeout: Double(3 * Self.longPoll)))
        } catch {
            throw .network(error.urlError)
        }
        return try Self.answer(response)
    }

    func sendBlocking(_ kind: RequestKind, _ body: JSONObject) -> JSONObject? {
        let request = request(kind, body, timeout: 10)
        return (try? URLSessionTransport.shared.sendBlocking(request)).flatMap { try? Self.answer($0) }
    }

    private func request(_ kind: RequestKind, _ body: JSONObject, timeout: Double) -> TransportRequest {
        var body = body
        if kind == .changes { body["seconds"] = .number(String(Self.longPoll)) }
        var request = TransportRequest(
            url.appendingPathComponent("control/device/\(kind.rawValue)"), timeout: timeout, bodyLimit: Self.bodyLimit)
        request.post(json: Data(JSONValue.object(body).bytes))
        return request
    }

    /// Returns the JSON object in the store's response. Throws `refused` with the store's reason if the status isn't
    /// 200, and `network` if the response isn't a JSON object.
    private static func answer(_ response: TransportResponse) throws(ConnectionFailure) -> JSONObject {
        guard case .object(let answer)? = try? JSONValue(parsing: Array(response.body)) else {
            throw .network(URLError(.badServerResponse))
        }
        guard response.status == 200 else {
            throw .refused(
                code: answer.text("code") ?? "",
                detail: answer.text("error")
                    ?? "the local App Store refused the request with status \(response.status)")
        }
        return answer
    }
}
