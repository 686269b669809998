import TenureJSON
import Yams

/// The description of the HTTP API, as the service sends it. Its source is `openapi.yaml` in the folder of this file.
enum OpenAPIDocument {
    /// Returns the document as JSON, with its fields in the same order. Throws `failed` if it can't be read.
    static func json() throws(ServiceError) -> [UInt8] { try document.get() }

    /// The document, or why it can't be read. The services of all apps in a process share it.
    private static let document: Result<[UInt8], ServiceError> = Result { () throws(ServiceError) in try read() }

    private static func read() throws(ServiceError) -> [UInt8] {
        let node: Node?
        do {
            node = try Yams.compose(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self))
        } catch {
            throw .failed("the built-in OpenAPI document can't be read: \(error)")
        }
        guard let node else { throw .failed("the built-in OpenAPI document is empty") }
        var json = JSONWriter(capacity: 65_536)
        json.value(node)
        return json.bytes
    }
}

extension JSONWriter {
    /// Writes a node of YAML as JSON.
    fileprivate mutating func value(_ node: Node) {
        switch node {
        case .mapping(let mapping):
            beginObject()
            for (name, member) in mapping {
                key(name.string ?? "")
                value(member)
            }
            endObject()
        case .sequence(let sequence): array(sequence) { $0.value($1) }
        case .scalar(let scalar):
            // In YAML, a quoted `"true"` or `"1"` is a string. Yams also reads words such as `yes` as flags.
            if scalar.style == .plain, let flag = node.bool, ["true", "false"].contains(scalar.string) {
                value(flag)
            } else if scalar.style == .plain, let number = node.int {
                value(number)
            } else if scalar.style == .plain, scalar.string == "null" {
                null()
            } else {
                value(scalar.string)
            }
        // The document has no aliases.
        case .alias: null()
        }
    }
}
