import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import TenureJSON

/// Posts notifications as the App Store does.
package enum HTTPNotificationSender {
    /// A client that doesn't retry refused connections: the App Store sends the notification again in an hour. The
    /// client lives as long as the process.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.retryConnectionEstablishment = false
        // Tests send many notifications to one service at the same time, each on its own connection.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Posts `{"signedPayload": "..."}` as `application/json`, and returns the outcome: a timeout if there is no
    /// response after ten seconds. The parameters are those of `LocalAppStore.NotificationSender`.
    package static func send(_ payload: String, _ url: String, _: AppStoreNotification) async -> SendAttemptResult {
        let body: JSONObject = ["signedPayload": .string(payload)]
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: JSONValue.object(body).bytes))
        do {
            return SendAttemptResult(status: Int(try await client.execute(request, timeout: .seconds(10)).status.code))
        } catch let error as HTTPClientError {
            return switch error {
            case .readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded: .timedOut
            case .remoteConnectionClosed: .prematureClose
            case .redirectCycleDetected, .redirectLimitReached: .circularRedirect
            default: .other
            }
        } catch {
            // No process listens at the URL, or the connection broke.
            return .noResponse
        }
    }
}
