package import Foundation
package import TenureJSON

extension JSONObject {
    /// Sets these fields in their order. Leaves out the fields that are nil.
    package mutating func add(_ fields: KeyValuePairs<String, JSONValue?>) {
        for case (let name, let value?) in fields { self[name] = value }
    }

    /// This app transaction as the App Store signs it for a server: without the fields about a device.
    package var signedForServer: JSONObject {
        let deviceFields = [
            "applicationVersion", "versionExternalIdentifier", "deviceVerification", "deviceVerificationNonce",
        ]
        return JSONObject(members: members.filter { !deviceFields.contains($0.name) })
    }
}

extension JSONValue {
    /// Returns a date in milliseconds since 1970, as the App Store writes dates.
    package static func instant(_ date: Date) -> JSONValue {
        .number(String(Int64((date.timeIntervalSince1970 * 1000).rounded())))
    }
}
