import ArgumentParser
import Crypto
import Foundation
import Testing

@testable import TenureCLI

/// Recognizable secrets. A search of all output finds commands that show them.
enum Canaries {
    /// All texts that reveal a secret: as it is, in Base64 at any offset, in hexadecimal, percent-encoded, and as Swift
    /// prints bytes.
    static func forms(of bytes: [UInt8]) -> [String] {
        var forms = [
            bytes.map { String(format: "%02x", $0) }.joined(), bytes.map { String(format: "%02X", $0) }.joined(),
            bytes.map { String(format: "%%%02X", $0) }.joined(), bytes.map { String(format: "%%%02x", $0) }.joined(),
            bytes.map { "\($0)" }.joined(separator: ", "),
        ]
        if let text = String(validating: bytes, as: UTF8.self) {
            forms.append(text)
            forms.append(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text)
            forms.append(text.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? text)
        }
        for offset in 0..<3 {
            let shifted = Data([UInt8](repeating: 0, count: offset) + bytes).base64EncodedString()
            // Leaves out the characters that also depend on neighboring bytes.
            let inner = String(shifted.dropFirst(offset == 0 ? 0 : 4).prefix(while: { $0 != "=" }).dropLast(2))
            forms.append(inner)
            forms.append(inner.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_"))
        }
        return forms
    }

    static func expect(
        _ output: String, without canaries: [String: [UInt8]], _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (name, bytes) in canaries {
            for form in forms(of: bytes) where output.contains(form) {
                let line = output.split(separator: "\n").first { $0.contains(form) } ?? ""
                Issue.record("\(what) shows the \(name): \(line.prefix(600))", sourceLocation: sourceLocation)
                break
            }
        }
    }

    /// Every private key in PEM format in the files of a folder and its subfolders, also inside JSON: the PEM's first
    /// line and the key's bytes.
    static func privateKeys(in folder: String) -> [String: [UInt8]] {
        var canaries: [String: [UInt8]] = [:]
        for name in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)"), data.count < 1 << 16 else {
                continue
            }
            let text = String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\\n", with: "\n")
            for (index, rest) in text.components(separatedBy: "-----BEGIN ").dropFirst().enumerated() {
                guard let label = rest.components(separatedBy: "-----").first, label.hasSuffix("PRIVATE KEY"),
                    let body = rest.components(separatedBy: "-----").dropFirst().first
                else { continue }
                // The first line has only the kind of key.
                let line = body.split(separator: "\n").dropFirst().first ?? ""
                let pem = "-----BEGIN \(label)-----\(body)-----END \(label)-----\n"
                canaries["key \(index) in \(name) \(line.prefix(4)) (PEM)"] = Array(line.utf8)
                if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
                    canaries["key \(index) in \(name) \(line.prefix(4))"] = Array(key.rawRepresentation)
                }
            }
        }
        return canaries
    }
}

/// The words of every command, without groups of commands.
func everyCommand(_ command: any ParsableCommand.Type = Tenure.self, _ path: [String] = []) -> [[String]] {
    let inner = command.configuration.subcommands
    guard !inner.isEmpty else { return [path] }
    return inner.flatMap { everyCommand($0, path + [$0._commandName]) }
}
