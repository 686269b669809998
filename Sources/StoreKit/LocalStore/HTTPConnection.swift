import Dispatch
import Foundation
import Synchronization
import TenureAppStore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// To a store on a port: `tenure appstore run`.
struct HTTPConnection: StoreConnection {
    let url: URL

    /// How long one question about changes waits there.
    private static let patience = 20

    func ask(_ question: Question, _ body: JSONObject) async throws(ConnectionFailure) -> JSONObject {
        do {
            let (data, response) = try await URLSession.shared.data(for: request(question, body))
            return try Self.answer(data, response).get()
        } catch let error as ConnectionFailure {
            throw error
        } catch let error as URLError {
            throw .network(error)
        } catch is CancellationError {
            throw .network(URLError(.cancelled))
        } catch {
            throw .network(URLError(.unknown))
        }
    }

    func askAtOnce(_ question: Question, _ body: JSONObject) -> JSONObject? {
        let result = Result()
        let isDone = DispatchSemaphore(value: 0)
        // Answered on the session's own queue: whoever waits here keeps nobody else from running.
        URLSession.shared.dataTask(with: request(question, body)) { data, response, _ in
            if let data, let response { result.value.withLock { $0 = try? Self.answer(data, response).get() } }
            isDone.signal()
        }.resume()
        return isDone.wait(timeout: .now() + 10) == .success ? result.value.withLock { $0 } : nil
    }

    private final class Result: Sendable {
        let value = Mutex<JSONObject?>(nil)
    }

    private func request(_ question: Question, _ body: JSONObject) -> URLRequest {
        var body = body
        if question == .changes { body["seconds"] = .number(String(Self.patience)) }
        var request = URLRequest(url: url.appendingPathComponent("control/device/\(question.rawValue)"))
        request.httpMethod = "POST"
        request.timeoutInterval = TimeInterval(3 * Self.patience)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(JSONValue.object(body).bytes)
        return request
    }

    private static func answer(_ data: Data, _ response: URLResponse) -> Swift.Result<JSONObject, ConnectionFailure> {
        guard case .object(let answer)? = try? JSONValue(parsing: Array(data)) else {
            return .failure(.network(URLError(.badServerResponse)))
        }
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            return .failure(
                .refused(code: answer.text("code") ?? "", detail: answer.text("error") ?? "the store refused it"))
        }
        return .success(answer)
    }
}
