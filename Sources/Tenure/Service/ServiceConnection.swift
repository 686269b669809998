package import Foundation
import TenureAPI
import TenureCore
package import TenureHTTP

/// Calls the developer's Tenure service over HTTP.
package struct ServiceConnection: Sendable {
    private let url: URL
    private let transport: any Transport
    /// The timeout of one request, in seconds.
    private let timeout: Double

    /// The maximum size of a response of the service, in bytes.
    private static let maximumAnswerSize = 4 * 1024 * 1024

    /// - Parameter app: the name of the app, if the service has several apps.
    package init(url: URL, app: String?, timeout: Double, transport: any Transport = URLSessionTransport.shared) {
        self.url = app.map { url.appendingPath("apps/" + Self.pathSegment($0)) } ?? url
        self.timeout = timeout
        self.transport = transport
    }

    /// Why the address is invalid. Nil if it is valid.
    var addressMistake: String? {
        switch url.scheme?.lowercased() {
        case "https": nil
        case "http" where ["127.0.0.1", "::1", "localhost"].contains(url.host ?? ""): nil
        default: "`\(url.absoluteString)` isn't an `https` address"
        }
    }

    /// Sends what the App Store signed about the customer, and returns the service's decisions.
    ///
    /// - Parameter languages: the customer's languages, for the sentences of the response.
    func sync(_ request: SyncRequest, languages: [String]) async throws(ServiceFailure) -> CustomerResponse {
        try await post("v1/sync", request, token: nil, languages: languages)
    }

    /// Begins a trial session of the customer with this access token. A repeated request with the same ID isn't counted
    /// again.
    func beginTrial(of entitlement: String, session id: String, token: String) async throws(ServiceFailure)
        -> TrialResponse
    {
        try await post("v1/trials/\(Self.pathSegment(entitlement))/sessions", TrialRequest(id: id), token: token)
    }

    /// Returns a name as one segment of a URL's path. Escapes only characters that a segment can't contain: the service
    /// responds with 404 if other characters are escaped.
    private static func pathSegment(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(["/"])) ?? name
    }

    /// Requests the products and the entitlements that they grant. Returns them as JSON that decodes as
    /// `ProductsResponse`, with its `ETag`. Nil if the list still has the `ETag` in `tag`.
    ///
    /// - Parameter tag: the `ETag` of the list that the device has; nil to request the list in any case.
    func products(unlessTagged tag: String?) async throws(ServiceFailure) -> (text: String, tag: String?)? {
        var request = request("v1/products")
        request.headers["If-None-Match"] = tag
        let response = try await response(to: request)
        if response.status == 304, tag != nil { return nil }
        let _: ProductsResponse = try read(response)
        guard response.body.count <= CachedCatalog.maximumTextSize,
            let text = String(bytes: response.body, encoding: .utf8)
        else {
            throw .noAnswer(
                "the service's list of products has more than \(CachedCatalog.maximumTextSize) bytes; name fewer products in the policy"
            )
        }
        return (text: text, tag: response.header("ETag"))
    }

    /// Requests the catalog of asset packs, and links to the packs that the customer with this access token may use.
    func content(appVersion: AppVersion?, token: String) async throws(ServiceFailure) -> ContentResponse {
        var request = request("v1/content")
        if let appVersion, var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false) {
            parts.queryItems = [URLQueryItem(name: "appVersion", value: appVersion.description)]
            request.url = parts.url ?? request.url
        }
        request.headers["Authorization"] = "Bearer \(token)"
        return try read(try await response(to: request))
    }

    /// Returns the URL of a link in a response, which may be relative to the service's URL. Nil if the link is invalid.
    func resolve(_ link: String) -> URL? { URL(string: link, relativeTo: url)?.absoluteURL }

    /// Sends JSON, and decodes the response.
    private func post<Answer: Decodable & Sendable>(
        _ path: String, _ body: some Encodable, token: String?, languages: [String] = []
    ) async throws(ServiceFailure) -> Answer {
        var request = request(path)
        if let token { request.headers["Authorization"] = "Bearer \(token)" }
        if !languages.isEmpty { request.headers["Accept-Language"] = Self.acceptLanguage(languages) }
        guard let json = try? JSONEncoder().encode(body) else {
            throw .noAnswer("the request can't be encoded as JSON")
        }
        request.post(json: json)
        return try read(try await response(to: request))
    }

    /// Returns the value of `Accept-Language`, such as `de-AT, de;q=0.9, en;q=0.8`, for the first nine languages.
    private static func acceptLanguage(_ languages: [String]) -> String {
        let tags = languages.map { $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } }
        return tags.filter { !$0.isEmpty }.prefix(9).enumerated()
            .map { index, tag in index == 0 ? tag : "\(tag);q=0.\(10 - index)" }
            .joined(separator: ", ")
    }

    private func request(_ path: String) -> TransportRequest {
        TransportRequest(url.appendingPath(path), timeout: timeout, bodyLimit: Self.maximumAnswerSize)
    }

    /// Sends a request, unless the service's URL is invalid.
    private func response(to request: TransportRequest) async throws(ServiceFailure) -> TransportResponse {
        if let addressMistake { throw .noAnswer(addressMistake) }
        do throws(TransportFailure) {
            return try await transport.send(request)
        } catch {
            throw .noAnswer(error.description)
        }
    }

    /// Decodes a response with status 200. Throws the problem that any other response describes.
    private func read<Answer: Decodable>(_ response: TransportResponse) throws(ServiceFailure) -> Answer {
        guard response.status == 200 else {
            guard let problem = try? JSONDecoder().decode(Problem.self, from: response.body) else {
                throw .noAnswer("the service responded with status \(response.status); check its URL")
            }
            throw .refused(problem, retryAfter: response.retryAfter)
        }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: response.body) else {
            throw .noAnswer("the response isn't from a Tenure service; check the service's URL")
        }
        return answer
    }
}

/// Why the service returned no valid response.
enum ServiceFailure: Error, CustomStringConvertible {
    /// There is no response, or the response isn't from a Tenure service.
    case noAnswer(String)
    /// The service rejected the request, and may have asked the client to wait some seconds.
    case refused(Problem, retryAfter: Double?)

    /// The device has no valid access token, although it asked the service for a new token.
    static var noAccessToken: ServiceFailure { .noAnswer("the service returned no access token") }

    var description: String {
        switch self {
        case .noAnswer(let detail): detail
        case .refused(let problem, _): "\(problem.code.rawValue): \(problem.detail)"
        }
    }
}

extension URL {
    /// Appends segments to the path without escaping them.
    fileprivate func appendingPath(_ path: String) -> URL {
        let text = absoluteString
        return URL(string: (text.hasSuffix("/") ? text : text + "/") + path) ?? appendingPathComponent(path)
    }
}

/// Reads the header `Retry-After`.
extension TransportResponse {
    /// The seconds that the server asks the client to wait before the next request. Nil if the response has no valid
    /// `Retry-After`.
    ///
    /// RFC 9110, section 10.2.3, allows a number or a date. A date is compared with the server's own `Date`, because
    /// the device's clock may be wrong.
    var retryAfter: Double? {
        guard let text = header("Retry-After") else { return nil }
        if let seconds = Double(text) { return seconds.isFinite ? max(0, seconds) : nil }
        guard let date = Self.date(text), let now = header("Date").flatMap(Self.date) else { return nil }
        return max(0, date.timeIntervalSince(now))
    }

    /// Reads a date in the preferred format of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }
}
