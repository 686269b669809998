import ArgumentParser
import Foundation
import TenureAppStore
import TenureJSON

/// The running local App Store that a command uses.
struct LocalStoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The URL of the running local App Store. Default: TENURE_LOCAL_STORE_URL, or http://127.0.0.1:8090",
            valueName: "url"))
    var store: String?

    private var url: String {
        store ?? ProcessInfo.processInfo.environment["TENURE_LOCAL_STORE_URL"] ?? "http://127.0.0.1:8090"
    }

    /// Sends a request, and returns the store's response. Throws the reason if the store rejects the request, or if no
    /// store responds.
    func send(_ method: String, _ path: String, _ body: [UInt8]?) async throws -> JSONObject {
        guard let target = URL(string: url + path) else {
            throw CommandError("`\(url)` isn't the URL of a local App Store; write one such as http://127.0.0.1:8090")
        }
        let response: (status: Int, body: Data)
        do {
            response = try await exchange(method, target, body: body.map { Data($0) })
        } catch {
            throw CommandError("no local App Store responds at `\(url)`; start one with `tenure local-store run`")
        }
        if case .object(let object)? = try? JSONValue(parsing: Array(response.body)) {
            if response.status == 200 { return object }
            if let detail = object.text("error") { throw CommandError(detail) }
        }
        throw CommandError("the server at `\(url)` isn't a local App Store; check the address")
    }
}
