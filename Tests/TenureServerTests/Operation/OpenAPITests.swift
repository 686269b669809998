import CommandRunner
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the OpenAPI document` {
    @Test func `the OpenAPI document describes every route of the service, and no other route`() async throws {
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let routes = try service.router().routes.map { "\($0.method.rawValue) \($0.path.description)" }
            let described = try InterfaceDocument().operations.map(\.name)
            #expect(Set(routes).subtracting(described).sorted() == [], "add them to openapi.yaml")
            #expect(Set(described).subtracting(routes).sorted() == [], "the service has no such route")
            try await service.store.close()
        }
    }

    @Test func `the OpenAPI document is served as JSON, and equals the document in Docs`() async throws {
        let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Docs")
        let written = try Data(contentsOf: docs.appendingPathComponent("openapi.yaml"))
        #expect(written == Data(PackageResources.openapi_yaml))
        try await withService { client in
            let served = try await client.get("/v1/openapi.json")
            let document = try JSONValue(parsing: Array(Data(buffer: served.body)))
            #expect(document["openapi"] == .string("3.1.0"))
            #expect(document["info"]?["version"] == .string("1"))
        }
    }

    @Test func `the OpenAPI document lists all fields of each request body that refuses unknown fields`() throws {
        func fields<Body: AdminRequest>(of _: Body.Type) -> [String] {
            Body.CodingKeys.allCases.map(\.stringValue).sorted()
        }
        let schemas = try InterfaceDocument().schema.document["components"]?["schemas"]
        let bodies: [any AdminRequest.Type] = [
            GrantRequest.self, RevocationRequest.self, UserRequest.self, LinkRequest.self, MergeRequest.self,
            FindRequest.self, RehearseRequest.self, PublishRequest.self, PersonaRequest.self,
            ReadyMadePersonasRequest.self,
        ]
        for body in bodies {
            let schema = try #require(schemas?["\(body)"], "\(body)")
            #expect(schema["additionalProperties"] == .boolean(false), "\(body)")
            #expect(schema["properties"]?.object?.members.map(\.name).sorted() == fields(of: body))
        }
    }

    @Test func `the OpenAPI document refers only to existing definitions, and each operation has a unique ID`() throws {
        let document = try InterfaceDocument()
        func references(_ value: JSONValue) -> [String] {
            switch value {
            case .object(let object):
                object.members.flatMap { member -> [String] in
                    if member.name == "$ref", case .string(let reference) = member.value { return [reference] }
                    return references(member.value)
                }
            case .array(let elements): elements.flatMap(references)
            default: []
            }
        }
        for reference in references(document.schema.document) {
            #expect(document.schema.resolve(reference) != nil, "\(reference)")
        }
        let names = document.operations.compactMap { $0.fields["operationId"] }
        #expect(names.count == document.operations.count)
        #expect(Set(names).count == names.count)
        for operation in document.operations {
            let captured = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                $0.dropFirst().dropLast()
            }
            for name in captured {
                guard case .array(let parameters)? = operation.fields["parameters"] else {
                    Issue.record("\(operation.name) doesn't describe `\(name)`")
                    continue
                }
                let described = parameters.map { parameter in
                    if case .string(let reference)? = parameter["$ref"] {
                        document.schema.resolve(reference) ?? parameter
                    } else {
                        parameter
                    }
                }
                #expect(described.contains { $0["name"] == .string(String(name)) && $0["in"] == .string("path") })
            }
        }
    }

    @Test func `each route accepts exactly the query parameters in the OpenAPI document`() throws {
        let document = try InterfaceDocument()
        var described: [String: Set<String>] = [:]
        for operation in document.operations {
            guard case .array(let parameters)? = operation.fields["parameters"] else { continue }
            for parameter in parameters {
                var parameter = parameter
                if case .string(let reference)? = parameter["$ref"] {
                    parameter = try #require(document.schema.resolve(reference))
                }
                guard parameter["in"] == .string("query"), case .string(let name)? = parameter["name"] else { continue }
                described[operation.name, default: []].insert(name)
            }
        }
        #expect(described == QueryCheck.parameters.mapValues { Set($0.map(String.init)) })
    }

    @Test
    func `an unknown or repeated query parameter gets 400, except on the routes for notifications, health and metrics`()
        async throws
    {
        let operations = try InterfaceDocument().operations
        try await withService({ $0.adminKey = AdminClient.adminKey }) { client in
            for operation in operations {
                let parts = operation.name.split(separator: " ")
                let method = try #require(HTTPRequest.Method(String(parts[0])))
                let path = String(parts[1].filter { $0 != "{" && $0 != "}" })
                func answer(_ query: String) async throws -> TestResponse {
                    try await client.http.execute(uri: "\(path)?\(query)", method: method) { $0 }
                }
                let unknown = try await answer("limt=5")
                if QueryCheck.uncheckedPaths.contains(path) {
                    #expect(!String(buffer: unknown.body).contains("limt"), "\(operation.name)")
                    continue
                }
                #expect(unknown.status == .badRequest, "\(operation.name)")
                #expect(String(buffer: unknown.body).contains("there is no query parameter `limt`"))
                for name in QueryCheck.parameters[operation.name] ?? [] {
                    #expect(String(buffer: unknown.body).contains("`\(name)`"), "\(operation.name)")
                    let repeated = try await answer("\(name)=1&\(name)=1")
                    #expect(repeated.status == .badRequest, "\(operation.name)")
                    #expect(String(buffer: repeated.body).contains("`\(name)` is repeated"))
                }
            }
            let head = try await client.http.execute(uri: "/v1/products?limt=5", method: .head) { $0 }
            #expect(head.status == .badRequest)
            #expect(try await client.get("/v1/products?").status == .ok)
        }
    }

    @Test func `the OpenAPI document lists every problem code`() throws {
        let document = try InterfaceDocument()
        let codes = document.schema.resolve("#/components/schemas/Problem/properties/code/enum")
        #expect(codes == .array(Problem.Code.allCases.map { .string($0.rawValue) }))
    }

    @Test func `the service's responses match the OpenAPI document`() async throws {
        let document = try InterfaceDocument()
        let operations = Dictionary(uniqueKeysWithValues: document.operations.map { ($0.name, $0) })
        @Sendable func check(_ response: TestResponse, to name: String) throws {
            let mistakes = document.mistakes(of: response, to: try #require(operations[name]))
            #expect(mistakes == [], "\(String(buffer: response.body))")
        }
        let folder = try Folder()
        try PublishedContent(in: folder.path).publishThree()
        try await withService({
            $0.metrics = .open
            $0.content = ContentSettings(folder: folder.path + "/published")
        }) { client in
            let minter = Calculator.minter()
            let full = SyncRequest(
                appTransaction: try minter.text(.appTransaction),
                transactions: [try minter.text(.transaction), "rubbish"], renewalInfos: [try minter.text(.renewalInfo)],
                receipt: try Calculator.receipts().text(), deviceVerificationID: Calculator.device.uuidString)
            let synced = try await client.send(full)
            try check(synced, to: "POST /v1/sync")
            let token = try #require(
                try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: synced.body)).accessToken?.value)
            try check(try await client.get("/v1/customer", token: token), to: "GET /v1/customer")
            try check(try await client.get("/v1/customer"), to: "GET /v1/customer")
            let content = try await client.get("/v1/content", token: token)
            try check(content, to: "GET /v1/content")
            try check(try await client.get("/v1/content"), to: "GET /v1/content")
            let links = try #require(
                try JSONDecoder().decode(ContentResponse.self, from: Data(buffer: content.body)).packs["grand-piano"])
            for link in [links.manifest, links.archive, "/v1/content/a", links.archive + "A"] {
                try check(try await client.get(link), to: "GET /v1/content/{digest}")
            }
            let headers: [HTTPFields] = [
                [.range: "bytes=0-1"], [.range: "bytes=-0"], [.ifMatch: "\"a\""], [.ifNoneMatch: "*"],
            ]
            for fields in headers {
                let part = try await client.http.execute(uri: links.archive, method: .get, headers: fields) { $0 }
                try check(part, to: "GET /v1/content/{digest}")
            }
            let newcomer = SyncRequest(appTransaction: try minter.newcomer(), transactions: [])
            try check(try await client.send(newcomer), to: "POST /v1/sync")
            let receipt = SyncRequest(receipt: try Calculator.receipts(.sandbox).text())
            try check(try await client.send(receipt), to: "POST /v1/sync")
            try check(try await client.send(SyncRequest(appTransaction: "x")), to: "POST /v1/sync")
            try check(try await client.post("{"), to: "POST /v1/sync")
            for path in ["/.well-known/jwks.json", "/v1/openapi.json", "/metrics", "/health/live", "/health/ready"] {
                try check(try await client.get(path), to: "GET \(path)")
            }
        }
    }

    @Test func `the tests reject a problem response that the OpenAPI document doesn't describe`() throws {
        let document = try InterfaceDocument()
        let problem = try #require(document.schema.resolve("#/components/schemas/Problem"))
        func mistakes(_ text: String) throws -> [String] {
            document.schema.mistakes(of: try JSONValue(parsing: Array(text.utf8)), under: problem)
        }
        let sound = #"{"title":"t","status":404,"code":"notFound","detail":"d"}"#
        #expect(try mistakes(sound) == [])
        for (part, other) in [
            ("404", "\"404\""), ("404", "200"), ("notFound", "lost"), ("\"detail\":\"d\"", "\"detail\":\"\""),
            (",\"detail\":\"d\"", ""), ("}", ",\"secret\":1}"),
        ] {
            #expect(try !mistakes(sound.replacingOccurrences(of: part, with: other)).isEmpty, "\(other)")
        }
    }
}
