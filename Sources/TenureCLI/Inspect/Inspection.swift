import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// The result of `tenure inspect`: the kind, the verdict, every field, and the certificates.
struct Inspection {
    enum Verdict {
        /// The artifact is genuine. The status says whether the App Store or a developer's Xcode signed it.
        case accepted(VerificationStatus, AppStoreEnvironment)
        case rejected(Rejection)
        /// The artifact is a response of verifyReceipt, which has no signature.
        case unsigned

        var isAccepted: Bool { if case .accepted = self { true } else { false } }
    }

    /// The kind of artifact, such as `appTransaction`; nil for a JWS of an unknown kind.
    let kind: String?
    let verdict: Verdict
    /// The artifact's fields. Empty for a receipt that can't be parsed.
    let payload: JSONObject
    /// The payloads of the JWS inside a notification, by field name.
    let nested: [(name: String, payload: JSONObject)]
    /// The certificates in the artifact, beginning with the signer's. Empty if it has no signature.
    let certificates: [CertificateSummary]

    /// Whether the chain ends in one of Apple's roots, not in a root from `--trust`.
    var isUnderAppleRoot: Bool { AppleAnchors.containAnchor(of: certificates) }

    /// Throws a `Rejection` if the artifact can't be parsed. An artifact that can be parsed but is invalid gets a
    /// verdict.
    init(of artifact: AppStoreArtifact, by verifier: AppStoreVerifier, now: Date) throws(Rejection) {
        kind = artifact.kindName
        var verified: VerifiedArtifact?
        do {
            // The file may come from the App Store Server API, so accept app transactions that aren't bound to a
            // device.
            verified = try verifier.verify(artifact, from: .appStoreServer, now: now)
            verdict = verified.map { .accepted($0.status, $0.environment) } ?? .unsigned
        } catch {
            verdict = .rejected(error)
        }
        switch artifact {
        case .jws(let jws, _):
            payload = jws.payload
            nested = jws.nested
            certificates = verified?.certificates ?? jws.certificates
        case .receipt(let bytes):
            let receipt: UnverifiedReceipt?
            do {
                receipt = try UnverifiedReceipt(bytes)
            } catch {
                // Any other rejection leaves the verdict, which is shown without fields: for example, a receipt with an
                // unsupported algorithm.
                guard error.code != .malformed, error.code != .tooLarge else { throw error }
                receipt = nil
            }
            payload = receipt?.payload.verifyReceiptJSON ?? JSONObject()
            nested = []
            certificates = verified?.certificates ?? receipt?.certificates ?? []
        case .verifyReceiptResponse(let response):
            payload = response.json
            nested = []
            certificates = []
        }
    }
}

extension Inspection {
    /// The JSON with `kind`, `verification`, `payload` and `certificates`. A notification also has `nested`: the
    /// payloads of the artifacts in it. Fields of a payload have Apple's names; the fields of a receipt have the names
    /// of verifyReceipt.
    ///
    /// - Parameter file: the artifact's file and line, for `file`. Nil leaves it out.
    func json(file: String?) -> [UInt8] {
        let verification: JSONObject =
            switch verdict {
            case .accepted(let status, let environment):
                [
                    "status": .string(status.rawValue), "environment": .string(environment.rawValue),
                    "anchor": .string(isUnderAppleRoot ? "apple" : "named"),
                ]
            case .rejected(let rejection):
                [
                    "status": .string("rejected"), "reason": .string(rejection.code.rawValue),
                    "detail": .string(rejection.detail),
                ]
            case .unsigned:
                [
                    "status": .string("unsigned"), "reason": .string("unsigned"),
                    "detail": .string(
                        "a response of verifyReceipt has no signature, so its contents can't be verified"),
                ]
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
        [
            "subject": .string(subject), "issuer": .string(issuer), "serialNumber": .string(serialNumber),
            "notBefore": .string(notBefore.rfc3339), "notAfter": .string(notAfter.rfc3339),
            "sha256": .string(fingerprint),
        ]
    }
}

extension Inspection {
    /// The text output: the verdict, then every field, then the certificates.
    func lines(for terminal: Terminal) -> [String] {
        var lines = [terminal.styled(title, .bold), verdictLine(for: terminal), ""]
        lines += Self.lines(of: payload, dates: instantFields, indentation: 0)
        for (name, payload) in nested {
            lines += ["", terminal.styled(name, .bold)]
            lines += Self.lines(of: payload, dates: JWSKind.allInstantFields, indentation: 2)
        }
        if !certificates.isEmpty { lines += ["", terminal.styled("certificates", .bold)] }
        for certificate in certificates {
            lines.append("  \(Terminal.escaped(certificate.subject))")
            lines.append(
                terminal.styled(
                    "    valid \(certificate.notBefore.rfc3339) to \(certificate.notAfter.rfc3339), serial \(certificate.serialNumber)",
                    .faint))
            lines.append(terminal.styled("    SHA-256 \(certificate.fingerprint)", .faint))
        }
        return lines
    }

    /// The kind of artifact, as the heading of the output.
    private var title: String {
        switch kind {
        case "appTransaction": "app transaction"
        case "renewalInfo": "renewal info"
        case "receipt": "app receipt"
        case "verifyReceipt": "response of verifyReceipt"
        case "realtime": "retention messaging request"
        case let name?: name
        case nil: "JWS of an unknown kind"
        }
    }

    private func verdictLine(for terminal: Terminal) -> String {
        switch verdict {
        case .accepted(.local, let environment):
            terminal.styled("local", .yellow)
                + ": signed in \(environment.rawValue) with a certificate from `--trust`; other verifiers won't accept it"
        case .accepted(_, let environment):
            terminal.styled("verified", .green) + ": \(environment.rawValue), under "
                + (isUnderAppleRoot ? "Apple's root" : "a root that you trust")
        case .rejected(let rejection):
            terminal.styled("rejected", .red)
                + ": \(Terminal.escaped(rejection.detail))\(rejection.advice ?? "") [\(rejection.code.rawValue)]"
        case .unsigned:
            terminal.styled("unsigned", .yellow)
                + ": its contents can't be verified; trust them only if you fetched the response from Apple yourself"
        }
    }

    /// The names of the fields with milliseconds since 1970, which are shown as dates. In receipts, dates are texts
    /// already.
    private var instantFields: Set<String> {
        kind == "receipt" || kind == "verifyReceipt" ? [] : JWSKind.allInstantFields
    }

    /// Returns a line for each field of an object. Fields of objects inside it are indented.
    ///
    /// - Parameter dates: the names of fields with milliseconds since 1970, which are shown as dates.
    private static func lines(of object: JSONObject, dates: Set<String>, indentation: Int) -> [String] {
        let names = Set(object.members.map(\.name))
        let width = names.map { Terminal.escaped($0).count }.max() ?? 0
        return object.members.flatMap { member -> [String] in
            if repeatsDate(member.name, among: names) { return [] }
            let name = Terminal.escaped(member.name)
            let start = String(repeating: " ", count: indentation + 2)
            let label = start + name + String(repeating: " ", count: width - name.count)
            switch member.value {
            case .object(let inner):
                return [start + name] + lines(of: inner, dates: dates, indentation: indentation + 2)
            case .array(let elements):
                return [start + "\(name) (\(elements.count))"]
                    + elements.enumerated().flatMap { index, element -> [String] in
                        guard case .object(let inner) = element else { return [start + "  " + element.displayText] }
                        return [start + "  [\(index)]"] + lines(of: inner, dates: dates, indentation: indentation + 4)
                    }
            case .number(let text):
                // Show numbers beyond the range of dates as they are.
                if dates.contains(member.name), let milliseconds = Double(text),
                    abs(milliseconds) <= Date.maximumMilliseconds
                {
                    return [label + "  \(Date(timeIntervalSince1970: milliseconds / 1000).rfc3339)"]
                }
                return [label + "  \(text)"]
            default: return [label + "  \(member.value.displayText)"]
            }
        }
    }

    /// Whether the field repeats a date: verifyReceipt writes each date in three formats, and the text shows one.
    private static func repeatsDate(_ name: String, among names: Set<String>) -> Bool {
        ["_ms", "_pst"].contains { name.hasSuffix($0) && names.contains(String(name.dropLast($0.count))) }
    }
}

extension JSONValue {
    /// The value on one line, with control characters escaped so that they can't change the terminal's output.
    fileprivate var displayText: String {
        // Escape a list's whole JSON: the names of members in it are untrusted, too.
        guard case .string(let text) = self else { return Terminal.escaped(String(decoding: bytes, as: UTF8.self)) }
        // Cut long strings, such as a JWS or a receipt.
        let clean = Terminal.escaped(text)
        return clean.count > 160 ? clean.prefix(120) + "… (\(clean.count) characters)" : clean
    }
}

extension JWSKind {
    /// The names of all fields, in any kind of JWS, that contain an instant.
    fileprivate static let allInstantFields = Set(JWSKind.allCases.flatMap { instants(in: $0.fields) })

    /// Returns the names of the fields that hold an instant, including those in nested objects.
    private static func instants(in fields: [FieldDescription]) -> [String] {
        fields.flatMap { field -> [String] in
            switch field.shape {
            case .instant: [field.name]
            case .object(let inner), .list(.object(let inner)): instants(in: inner)
            default: []
            }
        }
    }
}
