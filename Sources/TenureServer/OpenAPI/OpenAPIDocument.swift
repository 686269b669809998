import TenureAPI
import TenureJSON
import Yams

/// The description of the HTTP API: `openapi.yaml` beside this file, for programs.
enum OpenAPIDocument {
    /// The document as JSON, in the order in which it is written. Throws `failed` where it isn't YAML.
    static func json() throws(ServiceError) -> [UInt8] {
        let node: Node?
        do {
            node = try Yams.compose(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self))
        } catch {
            throw .failed("its own OpenAPI document can't be read: \(error)")
        }
        guard let node else { throw .failed("its own OpenAPI document is empty") }
        var json = JSONWriter(capacity: 65_536)
        json.value(node)
        return json.bytes
    }
}

extension JSONWriter {
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
            // A quoted scalar is a text whatever it looks like.
            if scalar.style == .plain, let flag = node.bool, ["true", "false"].contains(scalar.string) {
                value(flag)
            } else if scalar.style == .plain, let number = node.int {
                value(number)
            } else if scalar.style == .plain, scalar.string == "null" {
                null()
            } else {
                value(scalar.string)
            }
        case .alias: null()
        }
    }
}
