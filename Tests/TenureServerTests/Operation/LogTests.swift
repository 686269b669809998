import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import TenureAPI
import TenureAppStore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct logs {
    @Test func `the service's log has one JSON object per line`() throws {
        let lines = LogLines()
        var logger = lines.logger(.info)
        logger[metadataKey: "hb.request.id"] = "abc"
        logger.debug("below the level")
        logger.warning(
            "two\nlines \"quoted\"", metadata: ["status": .stringConvertible(7), "level": "x", "list": ["a"]])
        let line = try #require(lines.texts.first)
        #expect(lines.texts.count == 1)
        #expect(line.hasSuffix("}\n") && line.dropLast().allSatisfy { $0 != "\n" })
        let json = try JSONValue(parsing: Array(line.utf8.dropLast()))
        #expect(json["level"] == .string("warning"))
        #expect(json["message"] == .string("two\nlines \"quoted\""))
        #expect(json["request"] == .string("abc"))
        #expect(json["status"] == .number("7"))
        #expect(json["level_"] == .string("x"))
        #expect(json["time"] != nil)
    }

    @Test func `the metadata of an entry overrides that of the logger, and metadata about whole services is left out`()
        throws
    {
        let lines = LogLines()
        var logger = lines.logger(.info)
        logger[metadataKey: "app"] = "calculator"
        logger[metadataKey: "key"] = "of the logger"
        logger.notice(
            "\u{202E}reversed",
            metadata: [
                "key": "of the entry", "time": "t", "message": "m", "sl-service": "all", "sl-service-name": "x",
                "ratio": .stringConvertible(1.5), "count": .stringConvertible(0),
            ])
        let line = try #require(lines.texts.first)
        // A line can't alter the display of a terminal.
        #expect(!line.contains("\u{202E}"))
        let json = try JSONValue(parsing: Array(line.utf8.dropLast()))
        #expect(
            json.object?.members.map(\.name) == [
                "time", "level", "message", "app", "count", "key", "message_", "ratio", "time_",
            ])
        #expect(json["key"] == .string("of the entry") && json["app"] == .string("calculator"))
        #expect(json["message"] == .string("\u{202E}reversed") && json["message_"] == .string("m"))
        #expect(json["count"] == .number("0") && json["ratio"] == .string("1.5") && json["time_"] == .string("t"))
    }

    @Test func `the service's log has one line per request, with no text that a client chose`() async throws {
        let lines = LogLines()
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let application = try service.application(logger: lines.logger(.trace)) { _ in }
            try await application.test(.router) { http in
                let client = Client(http: http)
                let artifact = try Calculator.minter().text(.appTransaction)
                let answer = try await client.sync(SyncRequest(appTransaction: artifact, transactions: ["secret-one"]))
                let token = try #require(answer.accessToken?.value)
                _ = try await client.customer(token)
                _ = try await client.get("/secret-two?secret-three", token: "secret-four")
                var headers: HTTPFields = [.userAgent: "secret-five", .contentType: "secret-six"]
                headers[try #require(HTTPField.Name("X-Request-Id"))] = "secret-seven"
                _ = try await client.post("secret-eight", headers: headers)
                let all = lines.texts.joined()
                for secret in [artifact, token, "secret", Calculator.device.uuidString] {
                    #expect(!all.lowercased().contains(secret.lowercased()), "\(secret)")
                }
                let requests = try lines.texts.map { try JSONValue(parsing: Array($0.utf8.dropLast())) }
                    .filter { $0["message"] == .string("request") && $0["level"] == .string("info") }
                #expect(requests.map { $0["status"] } == ["200", "200", "404", "415"].map { .number($0) })
                #expect(requests.map { $0["method"] } == ["POST", "GET", "GET", "POST"].map { .string($0) })
                #expect(
                    requests.map { $0["route"] }
                        == ["/v1/sync", "/v1/customer", "none", "/v1/sync"].map { .string($0) })
                #expect(requests.allSatisfy { $0["request"] != nil && $0["microseconds"] != nil })
            }
        }
    }

    @Test func `a service without logs still gives each request an ID`() async throws {
        let field = try #require(HTTPField.Name("X-Request-Id"))
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let silent = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            try await service.application(logger: silent) { _ in }.test(.live) { http in
                var names: Set<String> = []
                for path in ["/health/live", "/v1/customer", "/nowhere"] {
                    names.insert(try await http.execute(uri: path, method: .get) { $0.headers[field] ?? "" })
                }
                #expect(names.count == 3 && !names.contains(""))
            }
        }
    }

    @Test func `a service uses the request ID of a declared proxy, but not of other clients`() async throws {
        let field = try #require(HTTPField.Name("X-Request-Id"))
        @Sendable func id(_ client: Client, sent: String) async throws -> String? {
            try await client.http.execute(uri: "/health/live", method: .get, headers: [field: sent]) {
                $0.headers[field]
            }
        }
        try await withLiveService { client, _ in
            let own = try await id(client, sent: "mine-1")
            #expect(own != nil && own != "mine-1")
        }
        try await withLiveService({
            $0.proxies = [try #require(AddressBlock("127.0.0.1"))]
            $0.adminKey = AdminClient.adminKey
            $0.allowsTestAnchorsBeyondLoopback = true
        }) { client, _ in
            let given = try await id(client, sent: "mine-1")
            #expect(given == "mine-1")
            let longest = String(repeating: "a", count: 64)
            #expect(try await id(client, sent: longest) == longest)
            for bad in ["", "a b", "a\"b", "a~b", String(repeating: "a", count: 65)] {
                #expect(try await id(client, sent: bad) != bad)
            }
        }
    }

    @Test func `the log has the cause of a failed request and of a failed health check, and the responses don't`()
        async throws
    {
        let lines = LogLines()
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let application = try service.application(logger: lines.logger(.info)) { _ in }
            try await application.test(.router) { http in
                try await service.store.close()
                let client = Client(http: http)
                let artifact = try Calculator.minter().text(.appTransaction)
                let failed = try await client.refused(SyncRequest(appTransaction: artifact))
                #expect(failed.code == .internalError)
                #expect(
                    failed.detail == "the service failed; search its log for the ID in the header `X-Request-Id`")
                let refused = lines.texts.filter { $0.contains(#""message":"request refused""#) }
                #expect(refused.count == 1, "\(lines.texts)")
                for part in [
                    #""level":"error""#, #""code":"internalError""#, #""status":"500""#, #""path":"/v1/sync""#,
                    "the database is closed",
                ] {
                    #expect(refused.first?.contains(part) == true, "\(refused)")
                }
                let ready = try client.problem(try await client.get("/health/ready"))
                #expect(ready.reason == "databaseFailed" && !ready.detail.contains("closed"))
                let check = lines.texts.filter { $0.contains(#""message":"the database failed""#) }
                #expect(check.count == 1 && check[0].contains("the database is closed"), "\(lines.texts)")
            }
        }
    }
}
