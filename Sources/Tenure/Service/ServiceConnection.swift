package import Foundation
import TenureAPI

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// Calls to the developer's service.
package struct ServiceConnection: Sendable {
    /// One request and its answer; throws where there is none.
    package typealias Transport = @Sendable (URLRequest) async throws -> (Data, HTTPURLResponse)

    private let url: URL
    private let transport: Transport
    private let deadline: Double

    /// More is no answer of the service.
    private static let largestAnswer = 4 * 1024 * 1024

    /// - Parameter app: the name of the app where the service has several.
    package init(url: URL, app: String?, deadline: Double, transport: Transport? = nil) {
        let segment = app?.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(["/"]))
        self.url = segment.map { url.appendingPath("apps/" + $0) } ?? url
        self.deadline = deadline
        self.transport = transport ?? Self.live(deadline)
    }

    /// Without cookies, caches and redirects: what is sent goes to this service and to nobody else.
    private static func live(_ deadline: Double) -> Transport {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = deadline
        configuration.timeoutIntervalForResource = deadline * 2
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
        return { request in
            let (data, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw ServiceFailure.noAnswer("it is not HTTP") }
            return (data, response)
        }
    }

    /// Why nothing can be sent to this address; nil where it can.
    var addressMistake: String? {
        switch url.scheme?.lowercased() {
        case "https": nil
        case "http" where ["127.0.0.1", "::1", "localhost"].contains(url.host ?? ""): nil
        default: "`\(url.absoluteString)` is not an `https` address"
        }
    }

    func sync(_ request: SyncRequest) async throws(ServiceFailure) -> CustomerResponse {
        try await post("v1/sync", request, token: nil)
    }

    func beginTrial(of entitlement: String, session id: String, token: String) async throws(ServiceFailure)
        -> TrialResponse
    {
        let segment = entitlement.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? entitlement
        return try await post("v1/trials/\(segment)/sessions", TrialRequest(id: id), token: token)
    }

    /// What came of asking what the service sells.
    enum Products: Sendable {
        /// As `tag` names it.
        case unchanged
        case told(String, tag: String?)
    }

    /// What the service sells, and what each product gives: text that reads as `ProductsResponse`.
    func products(unlessTagged tag: String?) async throws(ServiceFailure) -> Products {
        var request = URLRequest(url: url.appendingPath("v1/products"))
        if let tag { request.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        let (data, response) = try await answer(to: request)
        if response.statusCode == 304, tag != nil { return .unchanged }
        let _: ProductsResponse = try read(data, of: response)
        guard data.count <= KeptCatalogue.largestText, let text = String(bytes: data, encoding: .utf8) else {
            throw .noAnswer("its list of products is too large")
        }
        return .told(text, tag: response.value(forHTTPHeaderField: "ETag"))
    }

    private func post<Answer: Decodable & Sendable>(
        _ path: String, _ body: some Encodable, token: String?
    ) async throws(ServiceFailure) -> Answer {
        var request = URLRequest(url: url.appendingPath(path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        do {
            request.httpBody = try JSONEncoder().encode(body)
        } catch {
            throw .noAnswer("the request cannot be written")
        }
        return try await ask(request)
    }

    private func ask<Answer: Decodable & Sendable>(_ request: URLRequest) async throws(ServiceFailure) -> Answer {
        let (data, response) = try await answer(to: request)
        return try read(data, of: response)
    }

    private func answer(to request: URLRequest) async throws(ServiceFailure) -> (Data, HTTPURLResponse) {
        if let addressMistake { throw .noAnswer(addressMistake) }
        let data: Data
        let response: HTTPURLResponse
        do {
            let transport = transport
            (data, response) = try await withTimeout(deadline) { try await transport(request) }
        } catch let failure as ServiceFailure {
            throw failure
        } catch {
            throw .noAnswer("\((error as? URLError)?.localizedDescription ?? "\(error)")")
        }
        guard data.count <= Self.largestAnswer else { throw .noAnswer("its answer is too large") }
        return (data, response)
    }

    private func read<Answer: Decodable>(
        _ data: Data, of response: HTTPURLResponse
    ) throws(ServiceFailure) -> Answer {
        guard response.statusCode == 200 else {
            let retryAfter = response.value(forHTTPHeaderField: "Retry-After").flatMap { Double($0) }
            guard let problem = try? JSONDecoder().decode(Problem.self, from: data) else {
                throw .noAnswer("it answers with status \(response.statusCode)")
            }
            throw .refused(problem, retryAfter: retryAfter)
        }
        do {
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch {
            throw .noAnswer("what it answers is not what this service would")
        }
    }
}

/// Why the service gave no answer that counts.
enum ServiceFailure: Error, CustomStringConvertible {
    case noAnswer(String)
    case refused(Problem, retryAfter: Double?)

    var description: String {
        switch self {
        case .noAnswer(let detail): detail
        case .refused(let problem, _): "\(problem.code.rawValue): \(problem.detail)"
        }
    }
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension URL {
    /// With more segments behind its path, as they stand.
    fileprivate func appendingPath(_ path: String) -> URL {
        let text = absoluteString
        return URL(string: (text.hasSuffix("/") ? text : text + "/") + path) ?? appendingPathComponent(path)
    }
}
