import Crypto
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

@testable import LocalAppStore

extension BearerToken {
    /// A token as a developer's server makes it, valid for `lifetime` seconds from `now`.
    static func make(key: ServerAPIKey, bundleID: String, now: Date, lifetime: Int = 300) throws -> String {
        func segment(_ members: [(String, JSONValue)]) -> String {
            let object = JSONObject(members: members.map { .init(name: $0.0, value: $0.1) })
            return Base64.urlSafe.text(JSONValue.object(object).bytes)
        }
        let seconds = Int64(now.timeIntervalSince1970)
        let head = segment([("alg", .string("ES256")), ("kid", .string(key.keyID)), ("typ", .string("JWT"))])
        let claims = segment([
            ("iss", .string(key.issuerID)), ("iat", .number(String(seconds))),
            ("exp", .number(String(seconds + Int64(lifetime)))), ("aud", .string(audience)),
            ("bid", .string(bundleID)),
        ])
        let signature = try key.privateKey.signature(for: Array("\(head).\(claims)".utf8)).rawRepresentation
        return "\(head).\(claims).\(Base64.urlSafe.text(signature))"
    }
}
