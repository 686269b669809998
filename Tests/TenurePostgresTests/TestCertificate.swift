import CommandRunner
import Foundation

/// A self-signed certificate for 127.0.0.1, as PEM files.
struct TestCertificate {
    let chain: String
    let key: String

    private static let tool = "/usr/bin/openssl"

    static var canBeMade: Bool { FileManager.default.isExecutableFile(atPath: tool) }

    init(in folder: String, name: String) throws {
        chain = "\(folder)/\(name).crt"
        key = "\(folder)/\(name).key"
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", chain,
        ]
        guard try Tool.run(Self.tool, arguments).status == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
