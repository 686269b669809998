import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TenureAppStore
import TenureJSON
import Testing

@testable import TenureServer

/// The OpenAPI document, as the service returns it.
struct InterfaceDocument {
    let schema: JSONSchema
    let operations: [Operation]

    /// A method of a path, and what the document says about it.
    struct Operation {
        let method: String
        let path: String
        let fields: JSONObject

        var name: String { "\(method) \(path)" }
    }

    init() throws {
        let document = try JSONValue(parsing: try OpenAPIDocument.json())
        schema = JSONSchema(document: document)
        let paths = try #require(document["paths"]?.object)
        operations = try paths.members.flatMap { path in
            try #require(path.value.object).members.compactMap { member in
                guard let fields = member.value.object, Self.methods.contains(member.name) else { return nil }
                return Operation(method: member.name.uppercased(), path: path.name, fields: fields)
            }
        }
    }

    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    /// Returns how a response differs from what the document says about the operation.
    func mistakes(of response: TestResponse, to operation: Operation) -> [String] {
        let status = response.status.code
        guard case .object(let responses)? = operation.fields["responses"],
            var described = responses[String(status)] ?? responses["default"]
        else { return ["\(operation.name): the status \(status) isn't documented"] }
        if case .string(let reference)? = described["$ref"] {
            guard let target = schema.resolve(reference) else { return ["there is no \(reference)"] }
            described = target
        }
        if described["content"] == nil {
            return response.body.readableBytes == 0 ? [] : ["\(operation.name): \(status) has a body"]
        }
        let type = response.headers[.contentType]?.split(separator: ";").first.map(String.init) ?? ""
        guard let content = described["content"]?.object?[type]?["schema"] else {
            return ["\(operation.name): \(status) has the undocumented type `\(type)`"]
        }
        let text = String(buffer: response.body)
        let value: JSONValue
        if type.hasSuffix("json") {
            guard let json = try? JSONValue(parsing: Array(text.utf8)) else { return ["\(operation.name): no JSON"] }
            value = json
        } else {
            value = .string(text)
        }
        var mistakes = schema.mistakes(of: value, under: content).map { "\(operation.name): \($0)" }
        if status >= 400, value["status"] != .number(String(status)) {
            mistakes.append("\(operation.name): the body has another status")
        }
        if response.headers[HTTPField.Name("X-Request-Id") ?? .accept] == nil {
            mistakes.append("\(operation.name): no request id")
        }
        return mistakes
    }
}

extension JSONValue {
    var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    subscript(name: String) -> JSONValue? { object?[name] }
}
