import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// Sends one service the requests of apps and of the App Store.
struct SoakClient: Sendable {
    let port: Int

    /// Whether the service acknowledged a request.
    enum Answer: Sendable {
        case acknowledged(SoakOperation)
        /// The status code; 0 without a response.
        case refused(Int)
    }

    func sync(_ appTransaction: String, _ transactions: [String]?, of id: String) async throws -> Answer {
        let (status, json) = await post("/v1/sync", Self.body(appTransaction, transactions))
        guard status == 200 else { return .refused(status) }
        return .acknowledged(
            .sync(
                SoakSync(
                    appTransactionID: id, customer: try #require(json["id"] as? String),
                    token: try #require((json["accessToken"] as? [String: Any])?["value"] as? String),
                    hashes: Set(([appTransaction] + (transactions ?? [])).map(SoakSync.hash)))))
    }

    static func body(_ appTransaction: String?, _ transactions: [String]?) -> [String: Any] {
        var body: [String: Any] = ["deviceVerificationID": SoakTestBed.device.uuidString]
        if let appTransaction { body["appTransaction"] = appTransaction }
        if let transactions { body["transactions"] = transactions }
        return body
    }

    func notify(_ notification: String, uuid: String) async -> Answer {
        let (status, _) = await post("/v1/notifications/apple", ["signedPayload": notification])
        return status == 200 ? .acknowledged(.notification(uuid)) : .refused(status)
    }

    func beginTrial(_ session: String, of sync: SoakSync) async -> Answer {
        let (status, _) = await post("/v1/trials/studio/sessions", ["id": session], token: sync.token)
        return status == 200 ? .acknowledged(.trialSession(session, customer: sync.customer)) : .refused(status)
    }

    func grant(to sync: SoakSync) async -> Answer {
        let (status, _) = await post(
            "/v1/admin/customers/\(sync.customer)/grants", ["entitlement": "studio", "reason": "soak"],
            token: SoakTestBed.adminKey)
        return (200..<300).contains(status) ? .acknowledged(.grant(customer: sync.customer)) : .refused(status)
    }

    /// The status code (0 without a response) and the response's object.
    func post(_ path: String, _ body: [String: Any], token: String? = nil) async -> (Int, [String: Any]) {
        let data = (try? JSONSerialization.data(withJSONObject: body)) ?? Data()
        return await send(.POST, path, ByteBuffer(bytes: data), token)
    }

    func get(_ path: String, token: String) async -> (Int, [String: Any]) { await send(.GET, path, nil, token) }

    private func send(
        _ method: HTTPMethod, _ path: String, _ body: ByteBuffer?, _ token: String?
    ) async -> (Int, [String: Any]) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body)
        }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
            let answer = try await response.body.collect(upTo: 1 << 20)
            let json = try? JSONSerialization.jsonObject(with: Data(answer.readableBytesView)) as? [String: Any]
            return (Int(response.status.code), json ?? [:])
        } catch {
            return (0, [:])
        }
    }
}
