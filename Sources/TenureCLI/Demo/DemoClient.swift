import Foundation
import TenureAPI

/// Sends the requests of an app.
struct DemoClient {
    let port: Int

    /// Whether the service accepts new connections; false while it stops.
    var isServed: Bool {
        get async { (try? await exchange("GET", try url("/health/live"))) != nil }
    }

    func sync(_ customer: DemoCustomer) async throws -> CustomerResponse {
        let body = SyncRequest(
            appTransaction: customer.appTransaction.map { String(decoding: $0, as: UTF8.self) },
            transactions: customer.transactions?.map { String(decoding: $0, as: UTF8.self) },
            receipt: customer.receipt.map { Data($0).base64EncodedString() },
            deviceVerificationID: customer.deviceVerificationID.uuidString)
        return try decoded(await exchange("POST", try url("/v1/sync"), body: try JSONEncoder().encode(body)))
    }

    /// The packs that the customer may download, by name.
    func packs(for customer: CustomerResponse) async throws -> [String: ContentResponse.Links] {
        guard let token = customer.accessToken?.value else { return [:] }
        let content: ContentResponse = try decoded(await exchange("GET", try url("/v1/content"), token: token))
        return content.packs
    }

    private func url(_ path: String) throws(CommandError) -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw CommandError("no such port") }
        return url
    }

    private func decoded<Answer: Decodable>(_ response: (status: Int, body: Data)) throws -> Answer {
        guard response.status == 200 else {
            throw CommandError(String(decoding: response.body, as: UTF8.self))
        }
        return try JSONDecoder().decode(Answer.self, from: response.body)
    }
}
