import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

extension Inspection {
    /// The JSON with `kind`, `verification`, `payload` and `certificates`. A notification also has `nested`: the payloads
    /// of the artifacts in it. Fields of a payload have Apple's names; the fields of a receipt have the names of
    /// verifyReceipt.
    ///
    /// - Parameter file: the artifact's file and line, for `file`. Nil leaves it out.
    func json(file: String?) -> [UInt8] {
        var verification = JSONObject()
        verification["status"] = .string(verdict.status)
        switch verdict {
        case .accepted(_, let environment):
            verification["environment"] = .string(environment.rawValue)
            verification["anchor"] = .string(isUnderAppleRoot ? "apple" : "named")
        case .rejected(let rejection):
            verification["reason"] = .string(rejection.code.rawValue)
            verification["detail"] = .string(rejection.detail)
        case .unsigned:
            verification["reason"] = .string("unsigned")
            verification["detail"] = .string(
                "a response of verifyReceipt has no signature, so its contents can't be verified")
        }
        var result = JSONObject()
        if let file { result["file"] = .string(file) }
        result["kind"] = kind.map { .string($0) } ?? .null
        result["verification"] = .object(verification)
        result["payload"] = .object(payload)
        if !nested.isEmpty {
            result["nested"] = .object(
                JSONObject(members: nested.map { JSONObject.Member(name: $0.name, value: .object($0.payload)) }))
        }
        result["certificates"] = .array(certificates.map { .object($0.json) })
        return JSONValue.object(result).bytes
    }
}

extension CertificateSummary {
    fileprivate var json: JSONObject {
        var result = JSONObject()
        result["subject"] = .string(subject)
        result["issuer"] = .string(issuer)
        result["serialNumber"] = .string(serialNumber)
        result["notBefore"] = .string(notBefore.rfc3339)
        result["notAfter"] = .string(notAfter.rfc3339)
        result["sha256"] = .string(fingerprint)
        return result
    }
}
