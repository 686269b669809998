import ArgumentParser
import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The options of commands that talk to a running service with a key.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the service answers, with /apps/NAME behind it for one of several.", valueName: "URL"))
    var service = "http://127.0.0.1:8080"

    @Option(
        help: "A key of `tenure key create`, or the operator's. Others on this machine may see it: use --key-file.")
    var key: Secret<String>?

    @Option(help: ArgumentHelp("A file with the key, mode 600; - for standard input.", valueName: "file"))
    var keyFile: String?

    func validate() throws {
        guard (key == nil) != (keyFile == nil) else {
            throw ValidationError("name a key by --key-file, or by --key")
        }
    }

    func client() throws -> ServiceClient {
        guard !service.contains("@") else {
            throw CommandError("a service takes no user and no password in its URL; leave them out, and name a key")
        }
        let text: String
        if let key {
            text = key.revealed
        } else {
            let path = keyFile ?? "-"
            let bytes =
                path == "-"
                ? try InputFile(path: path).bytes(limit: 1 << 16) : try SecretFile(path: path).existingContents()
            text = String(decoding: bytes, as: UTF8.self)
        }
        let key = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard KeySecret(key) != nil else {
            throw CommandError(
                "the admin key is invalid or incomplete; `tenure key create` makes a new one")
        }
        return ServiceClient(url: service.hasSuffix("/") ? String(service.dropLast()) : service, key: key)
    }
}

/// Talks to a running service as somebody with a key does.
struct ServiceClient {
    let url: String
    private let key: Secret<String>

    /// Seconds. A rehearsal goes over the whole record before it answers.
    private static let patience: TimeInterval = 3600

    init(url: String, key: String) {
        self.url = url
        self.key = Secret(key)
    }

    /// What a service answered that did not do it.
    struct Refusal: Error, CustomStringConvertible {
        let problem: Problem
        /// As it came.
        let body: Data

        var description: String { problem.detail }
    }

    func get<Answer: Decodable>(_ path: String) async throws -> Answer { try decoded(await send("GET", path)) }

    func delete<Answer: Decodable>(_ path: String) async throws -> Answer { try decoded(await send("DELETE", path)) }

    func post<Answer: Decodable>(_ path: String, _ body: (inout JSONWriter) -> Void) async throws -> Answer {
        try decoded(await post(path, body))
    }

    /// Throws a `Refusal` for any other status than 200.
    func post(_ path: String, _ body: (inout JSONWriter) -> Void) async throws -> Data {
        var json = JSONWriter()
        json.object(body)
        return try await send("POST", path, Data(json.bytes))
    }

    func post<Answer: Decodable>(_ path: String, _ body: some Encodable) async throws -> Answer {
        try decoded(await send("POST", path, try JSONEncoder().encode(body)))
    }

    func send(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Data {
        guard let target = URL(string: url + path), target.host != nil else {
            throw CommandError("`\(url)` is no address of a service")
        }
        var request = URLRequest(url: target, timeoutInterval: Self.patience)
        request.httpMethod = method
        request.setValue("Bearer \(key.revealed)", forHTTPHeaderField: "Authorization")
        if let body {
            request.httpBody = body
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let answer: (data: Data, response: URLResponse)
        do {
            answer = try await URLSession.shared.data(for: request)
        } catch {
            throw CommandError("no service answers at `\(url)`; name it by --service, or start it with `tenure serve`")
        }
        guard (answer.response as? HTTPURLResponse)?.statusCode == 200 else {
            guard let problem = try? JSONDecoder().decode(Problem.self, from: answer.data) else {
                throw CommandError("what answers at `\(url)` is no service of Tenure")
            }
            throw Refusal(problem: problem, body: answer.data)
        }
        return answer.data
    }

    private func decoded<Answer: Decodable>(_ data: Data) throws -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch {
            throw CommandError("the service at `\(url)` answers what this release does not know; use its own release")
        }
    }

    /// A part of a path.
    static func escaped(_ text: String) -> String {
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove("/")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}
