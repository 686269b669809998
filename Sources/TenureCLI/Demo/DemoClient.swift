import Foundation
import TenureAPI
import TenureJSON

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends the requests of an app.
struct DemoClient {
    let port: Int

    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// Whether the service accepts new connections; false while it stops.
    var isServed: Bool {
        get async {
            guard let url = try? url("/health/live") else { return false }
            return (try? await URLSession.shared.data(from: url)) != nil
        }
    }

    private func url(_ path: String) throws(Refusal) -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
            throw Refusal(description: "no such port")
        }
        return url
    }

    func sync(_ customer: DemoCustomer) async throws -> CustomerResponse {
        var request = URLRequest(url: try url("/v1/sync"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body(of: customer))
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode, status == 200 else {
            throw Refusal(description: String(decoding: data, as: UTF8.self))
        }
        return try JSONDecoder().decode(CustomerResponse.self, from: data)
    }

    /// The packs that the customer may download, by name.
    func packs(for customer: CustomerResponse) async throws -> [String: ContentResponse.Links] {
        guard let token = customer.accessToken?.value else { return [:] }
        var request = URLRequest(url: try url("/v1/content"))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw Refusal(description: String(decoding: data, as: UTF8.self))
        }
        return try JSONDecoder().decode(ContentResponse.self, from: data).packs
    }

    private func body(of customer: DemoCustomer) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("deviceVerificationID", customer.deviceVerificationID.uuidString)
            if let appTransaction = customer.appTransaction {
                writer.field("appTransaction", String(decoding: appTransaction, as: UTF8.self))
            }
            if let receipt = customer.receipt {
                writer.field("receipt", Data(receipt).base64EncodedString())
            }
            if let transactions = customer.transactions {
                writer.field("transactions", transactions.map { String(decoding: $0, as: UTF8.self) })
            }
        }
        return writer.bytes
    }
}
