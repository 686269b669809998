import ArgumentParser
import Foundation
import TenureAppStore
import TenureJSON

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Which running store a command speaks to.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The running store. Default: TENURE_STORE_URL, or http://127.0.0.1:8090", valueName: "url"))
    var store: String?

    init() {}

    /// The store at that address.
    init(url: String) {
        self.init()
        store = url
    }

    private var url: String {
        store ?? ProcessInfo.processInfo.environment["TENURE_STORE_URL"] ?? "http://127.0.0.1:8090"
    }

    /// The store's answer. Throws one line: what it refused, or that nobody answers.
    func send(_ method: String, _ path: String, _ body: [UInt8]?) async throws -> JSONObject {
        guard let target = URL(string: url + path) else { throw CommandError("`\(url)` is no address of a store") }
        var request = URLRequest(url: target)
        request.httpMethod = method
        if let body {
            request.httpBody = Data(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let data: Data
        let response: URLResponse
        do {
            (data, response) = try await URLSession.shared.data(for: request)
        } catch {
            throw CommandError("no store answers at `\(url)`; start one with `tenure appstore run`")
        }
        guard case .object(let object)? = try? JSONValue(parsing: Array(data)) else {
            throw CommandError("what answers at `\(url)` is no local App Store")
        }
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            guard case .string(let detail)? = object["error"] else {
                throw CommandError("what answers at `\(url)` is no local App Store")
            }
            throw CommandError(detail)
        }
        return object
    }
}
