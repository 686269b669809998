import ArgumentParser
import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The options of commands that send requests to a running service with a key.
struct ServiceOptions: ParsableArguments {
    @Option(help: .value("URL", "The URL of the service, with /apps/NAME at its end for one of several apps."))
    var service = "http://127.0.0.1:8080"

    @Option(help: "A key from `tenure admin-key`. Others on this machine may see it: prefer --key-file.")
    var key: Secret<String>?

    @Option(help: .value("file", "A file with the key, mode 600; - for standard input."))
    var keyFile: String?

    func validate() throws {
        try require(key != nil || keyFile != nil, "the admin key is missing; pass --key-file or --key")
        try require(key == nil || keyFile == nil, "--key-file and --key exclude each other; pass one of them")
    }

    /// Reads the key, and returns a client for the service.
    func client() throws -> ServiceClient {
        guard !service.contains("@") else {
            throw CommandError(
                "the URL of the service contains a user or a password; remove them, and pass a key with --key-file")
        }
        let path = keyFile ?? "-"
        let bytes =
            if let key {
                Array(key.revealed.utf8)
            } else if path == "-" {
                try InputFile(path: path).bytes(limit: 1 << 16)
            } else {
                try SecretFile(path: path).existingContents()
            }
        let key = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard KeySecret(key) != nil else {
            throw CommandError("the admin key is invalid or incomplete; `tenure admin-key create` makes a new one")
        }
        return ServiceClient(url: service.hasSuffix("/") ? String(service.dropLast()) : service, key: key)
    }
}

/// Sends requests with an admin key to a running service.
struct ServiceClient {
    let url: String
    private let key: Secret<String>

    /// The timeout in seconds. It is long, because the service responds to a rehearsal only after it has decided for
    /// all customers.
    private static let timeout: TimeInterval = 3600

    init(url: String, key: String) {
        self.url = url
        self.key = Secret(key)
    }

    /// The error for a request that the service rejected.
    struct Refusal: Error, CustomStringConvertible {
        let problem: Problem

        /// The detail, with commands and options in place of routes and fields.
        var description: String {
            Self.commands.reduce(problem.detail) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        }

        /// Parts of the service's messages, and what replaces them.
        private static let commands: KeyValuePairs = [
            #"send `"replace": true`"#: "pass --replace", "`GET /v1/admin/personas`": "`tenure persona list`",
            "`GET /v1/admin/policies`": "`tenure policy versions`", "`expires`": "--expires",
            "this route exists only if `apps` is configured; call it without `/apps/NAME`":
                "the command is for a service with several apps; if the configuration has `apps`, pass --service without /apps/NAME",
        ]
    }

    func get<Answer: Decodable>(_ path: String) async throws -> Answer { try decoded(await send("GET", path)) }

    func delete<Answer: Decodable>(_ path: String) async throws -> Answer { try decoded(await send("DELETE", path)) }

    func post<Answer: Decodable>(_ path: String, _ body: some Encodable) async throws -> Answer {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in try date.rfc3339.encode(to: encoder) }
        return try decoded(await send("POST", path, try encoder.encode(body)))
    }

    /// Sends a request, and returns the body of the response. Throws a `Refusal` for any other status than 200.
    func send(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Data {
        guard let target = URL(string: url + path), target.host != nil else {
            throw CommandError("`\(url)` isn't a URL; pass the service's, such as `http://127.0.0.1:8080`")
        }
        let answer: (status: Int, body: Data)
        do {
            answer = try await exchange(method, target, body: body, token: key.revealed, timeout: Self.timeout)
        } catch {
            throw CommandError(
                "no service responds at `\(url)`; pass the service's URL with --service, or start it with `tenure serve`"
            )
        }
        guard answer.status == 200 else {
            guard let problem = try? JSONDecoder().decode(Problem.self, from: answer.body) else {
                throw CommandError("the server at `\(url)` isn't a Tenure service; pass the right URL with --service")
            }
            throw Refusal(problem: problem)
        }
        return answer.body
    }

    func decoded<Answer: Decodable>(_ data: Data) throws -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch {
            throw CommandError(
                "this release can't read the response of the service at `\(url)`; use the command of the service's release"
            )
        }
    }

    /// Percent-encodes one component of a path.
    static func escaped(_ text: String) -> String {
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove("/")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}

/// Reads an option of the command line as a secret, so that no log or error shows it.
extension Secret: ExpressibleByArgument where Value == String {
    init?(argument: String) { self.init(argument) }

    /// The default value in the help, which doesn't reveal the secret.
    var defaultValueDescription: String { description }
}

/// Sends a request, with JSON if it has a body, and returns the status and the body of the response.
///
/// - Parameters:
///   - token: the token for `Authorization: Bearer …`.
///   - timeout: the timeout in seconds.
/// - Throws: the error of the connection.
func exchange(
    _ method: String, _ url: URL, body: Data? = nil, token: String? = nil, timeout: TimeInterval = 60
) async throws -> (status: Int, body: Data) {
    var request = URLRequest(url: url, timeoutInterval: timeout)
    request.httpMethod = method
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    if let body {
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let (data, response) = try await URLSession.shared.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
}
