import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

/// A server that behaves as Apple documents the App Store Server API. Tests set its contents.
actor ImitatedAppStore {
    /// The contents of one environment.
    struct Contents {
        /// Each customer's transactions, in the order of the history. Any of `ids` finds them.
        var histories: [(ids: Set<String>, transactions: [String])] = []
        var refunds: [String: [String]] = [:]
        /// The JSON text of `data`, by ID.
        var statuses: [String: String] = [:]
        var appTransactions: [String: String] = [:]
        var transactions: [String: String] = [:]
        /// Signed payloads, each with the time at which it was sent, in milliseconds since 1970.
        var notifications: [(sent: Int64, payload: String)] = []
        /// The payloads of test notifications, by test token.
        var tests: [String: String] = [:]
    }

    /// A response that is sent once, instead of the regular one.
    struct Scripted: Sendable {
        var status = 500
        var headers: [String: String] = [:]
        var body = ""
        /// Sent instead of `body`.
        var stream: (@Sendable (inout any ResponseBodyWriter) async throws -> Void)?

        static func error(_ status: Int, _ code: Int64? = nil, retryAfter: String? = nil) -> Scripted {
            Scripted(
                status: status, headers: retryAfter.map { ["Retry-After": $0] } ?? [:],
                body: code.map { #"{"errorCode":\#($0),"errorMessage":"as scripted"}"# } ?? "")
        }
    }

    /// A request that the imitated App Store received.
    struct Asked: Sendable, Hashable {
        let environment: String
        let path: String
        let query: String?
        let token: String
        let contentType: String?
        let body: String
    }

    private(set) var asked: [Asked] = []
    private var contentsByEnvironment: [String: Contents] = [:]
    private var script: [Scripted] = []
    /// The public key that verifies the tokens of requests.
    private let key: P256.Signing.PublicKey
    private let now: @Sendable () -> Date
    static let pageSize = 20

    init(key: P256.Signing.PublicKey, now: @escaping @Sendable () -> Date) {
        self.key = key
        self.now = now
    }

    func put(_ environment: AppStoreEnvironment, _ change: @Sendable (inout Contents) throws -> Void) rethrows {
        try change(&contentsByEnvironment[environment.rawValue, default: Contents()])
    }

    func answerFirst(with scripted: Scripted...) { script += scripted }

    // MARK: Responses

    /// An error response of the App Store Server API.
    private struct Fault: Error {
        let status: Int
        let code: Int64
    }

    fileprivate func respond(to request: Request, _ environment: String, _ path: String) async throws -> Response {
        var request = request
        let body = String(buffer: try await request.collectBody(upTo: 1 << 20))
        let token = request.headers[.authorization]?.split(separator: " ").last.map(String.init) ?? ""
        asked.append(
            Asked(
                environment: environment, path: path, query: request.uri.query, token: token,
                contentType: request.headers[.contentType], body: body))
        guard isAuthorized(token) else { return Response(status: .unauthorized) }
        if !script.isEmpty { return response(script.removeFirst()) }
        do {
            let uri = request.uri
            let query = { (name: String) in uri.queryParameters[Substring(name)].map(String.init) }
            return json(try answer(path.split(separator: "/").map(String.init), query, body, environment))
        } catch let fault as Fault {
            return json(#"{"errorCode":\#(fault.code),"errorMessage":"not here"}"#, status: fault.status)
        }
    }

    private func answer(
        _ path: [String], _ query: (String) -> String?, _ body: String, _ environment: String
    ) throws -> String {
        let contents = contentsByEnvironment[environment] ?? Contents()
        let id = path.last ?? ""
        switch path.dropLast().joined(separator: "/") {
        case "inApps/v2/history":
            guard let found = contents.histories.first(where: { $0.ids.contains(id) }) else {
                throw Fault(status: 404, code: 4_040_010)
            }
            return page(found.transactions, after: query("revision"), environment)
        case "inApps/v2/refund/lookup":
            return page(contents.refunds[id] ?? [], after: query("revision"), environment)
        case "inApps/v1/subscriptions":
            guard let data = contents.statuses[id] else { throw Fault(status: 404, code: 4_040_010) }
            return #"{"environment":"\#(environment)","bundleId":"com.example.calculator","data":\#(data)}"#
        case "inApps/v1/transactions":
            guard let jws = contents.transactions[id] else { throw Fault(status: 404, code: 4_040_010) }
            return #"{"signedTransactionInfo":"\#(jws)"}"#
        case "inApps/v1/transactions/appTransactions":
            guard let jws = contents.appTransactions[id] else { throw Fault(status: 404, code: 4_040_019) }
            return #"{"signedAppTransactionInfo":"\#(jws)"}"#
        case "inApps/v1/notifications" where id == "history":
            return try notifications(contents, body, after: query("paginationToken"))
        case "inApps/v1/notifications" where id == "test":
            return #"{"testNotificationToken":"test-1"}"#
        case "inApps/v1/notifications/test":
            guard let jws = contents.tests[id] else { throw Fault(status: 404, code: 4_040_008) }
            return """
                {"signedPayload":"\(jws)","sendAttempts":[{"attemptDate":1795176000000,"sendAttemptResult":"SUCCESS"}]}
                """
        default: throw Fault(status: 400, code: 4_000_000)
        }
    }

    /// Returns one page. The `revision` of the response encodes where the next page begins.
    private func page(_ all: [String], after revision: String?, _ environment: String) -> String {
        let start = revision.flatMap { Int($0.dropFirst(4)) } ?? 0
        let page = all.dropFirst(start).prefix(Self.pageSize)
        let next = start + page.count
        let list = page.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            {"revision":"rev-\(next)","hasMore":\(next < all.count),"bundleId":"com.example.calculator",\
            "environment":"\(environment)","signedTransactions":[\(list)]}
            """
    }

    private func notifications(_ contents: Contents, _ body: String, after token: String?) throws -> String {
        guard case .object(let asked)? = try? JSONValue(parsing: Array(body.utf8)),
            case .number(let from)? = asked["startDate"], case .number(let to)? = asked["endDate"],
            let start = Int64(from), let end = Int64(to)
        else { throw Fault(status: 400, code: 4_000_015) }
        guard start < end else { throw Fault(status: 400, code: 4_000_013) }
        let oldest = now().addingTimeInterval(-180 * 86_400).timeIntervalSince1970 * 1000
        guard Double(start) >= oldest else { throw Fault(status: 400, code: 4_000_012) }
        // The newest notification comes first, because Apple documents no order.
        let all = contents.notifications.filter { ($0.sent >= start) && $0.sent <= end }.reversed()
        let first = token.flatMap { Int($0.dropFirst(5)) } ?? 0
        let page = all.dropFirst(first).prefix(Self.pageSize)
        let list = page.map { #"{"signedPayload":"\#($0.payload)","sendAttempts":[]}"# }.joined(separator: ",")
        let next = first + page.count
        return """
            {"paginationToken":"page=\(next)","hasMore":\(next < all.count),"notificationHistory":[\(list)]}
            """
    }

    /// Verifies a token as Apple's documentation requires.
    private func isAuthorized(_ token: String) -> Bool {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = object(parts[0]), let claims = object(parts[1]),
            let bytes = Base64.urlSafe.decode(Array(parts[2].utf8)[...]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes),
            key.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8)),
            case .number(let iat)? = claims["iat"], case .number(let exp)? = claims["exp"],
            let issued = Double(iat), let end = Double(exp)
        else { return false }
        let instant = now().timeIntervalSince1970
        return header["alg"] == .string("ES256") && header["typ"] == .string("JWT")
            && header["kid"] == .string(AppStoreClientTestBed.keyID)
            && claims["iss"] == .string(AppStoreClientTestBed.issuerID)
            && claims["aud"] == .string("appstoreconnect-v1") && claims["bid"] == .string("com.example.calculator")
            && end - issued <= 3600 && issued <= instant && instant < end
    }

    private func object(_ segment: Substring) -> JSONObject? {
        guard let bytes = Base64.urlSafe.decode(Array(segment.utf8)[...]),
            case .object(let object)? = try? JSONValue(parsing: bytes)
        else { return nil }
        return object
    }

    private func json(_ text: String, status: Int = 200) -> Response {
        Response(
            status: .init(code: status), headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    private func response(_ scripted: Scripted) -> Response {
        var headers = HTTPFields()
        for (name, value) in scripted.headers { HTTPField.Name(name).map { headers[$0] = value } }
        let body =
            if let stream = scripted.stream { ResponseBody { writer in try await stream(&writer) } } else {
                ResponseBody(byteBuffer: ByteBuffer(string: scripted.body))
            }
        return Response(status: .init(code: scripted.status), headers: headers, body: body)
    }
}

extension ImitatedAppStore {
    nonisolated func application() -> some ApplicationProtocol {
        let router = Router()
        for method in [HTTPRequest.Method.get, .post] {
            router.on(":environment/**", method: method) { request, context in
                let environment = try context.parameters.require("environment")
                // The raw path keeps an encoded slash.
                let path = String(request.uri.path.dropFirst(environment.count + 1))
                return try await self.respond(to: request, environment, path)
            }
        }
        return Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)), logger: Calculator.logger)
    }
}
