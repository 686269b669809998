import Foundation
import LocalAppStore
import TenureAPI
import TenureAppStore
import TenureCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A running service, to which a scenario's customers and notifications come over HTTP.
///
/// It decides by its own clock, whatever time it is in the story.
actor HTTPService: EntitlementService {
    private let url: String
    /// By customer, as the service gave them.
    private var tokens: [String: String] = [:]

    init(url: String) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    func open(_ device: DeviceArtifacts, at now: Date) async throws -> [String: Decision.Outcome] {
        let sync = SyncRequest(
            appTransaction: device.appTransaction, transactions: device.transactions,
            renewalInfos: device.renewalInfos, receipt: device.receipt.map { Data($0).base64EncodedString() },
            deviceVerificationID: device.deviceVerificationID.uuidString)
        let answer = try customer(await send("/v1/sync", body: try JSONEncoder().encode(sync)))
        if let problem = answer.problems.first {
            throw CommandError("the service refused an artifact of `\(device.customer)`: \(problem.detail)")
        }
        tokens[device.customer] = answer.accessToken?.value
        return answer.outcomes
    }

    func known(_ customer: String, at now: Date) async throws -> [String: Decision.Outcome]? {
        guard let token = tokens[customer] else { return nil }
        return try self.customer(await send("/v1/customer", token: token)).outcomes
    }

    func receive(_ signedPayload: String, at now: Date) async -> SendAttemptResult {
        let body: JSONObject = ["signedPayload": .string(signedPayload)]
        guard let answer = try? await send("/v1/notifications/apple", body: Data(JSONValue.object(body).bytes)) else {
            return .noResponse
        }
        return SendAttemptResult(status: answer.status)
    }

    private func customer(_ answer: (status: Int, data: Data)) throws -> CustomerResponse {
        guard answer.status == 200 else {
            let problem = try? JSONDecoder().decode(Problem.self, from: answer.data)
            throw CommandError("the service at `\(url)` refused: \(problem?.detail ?? "status \(answer.status)")")
        }
        return try JSONDecoder().decode(CustomerResponse.self, from: answer.data)
    }

    private func send(_ path: String, body: Data? = nil, token: String? = nil) async throws -> (status: Int, data: Data)
    {
        guard let target = URL(string: url + path) else { throw CommandError("`\(url)` is no address of a service") }
        var request = URLRequest(url: target)
        if let body {
            request.httpMethod = "POST"
            request.httpBody = body
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        do {
            let (data, response) = try await URLSession.shared.data(for: request)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
        } catch {
            throw CommandError("no service answers at `\(url)`; start one with `tenure serve`")
        }
    }
}

extension CustomerResponse {
    fileprivate var outcomes: [String: Decision.Outcome] { entitlements.mapValues(\.outcome) }
}
