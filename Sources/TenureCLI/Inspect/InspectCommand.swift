import ArgumentParser
import Foundation
import TenureAppStore
import TenureJSON

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show the content of a signed App Store artifact, and whether it is genuine.",
        discussion: """
            Recognizes the kind of artifact: a JWS (app transaction, transaction, renewal info, notification), an \
            app receipt in DER, BER or Base64, or the JSON of verifyReceipt. A file may have one JWS per line: then each \
            is shown, with --json as one JSON object per line, which has the file and the line as `file`.

            Exit codes: 0 all verified, 2 any rejected or unsigned, 1 a file or line can't be read, 64 wrong usage.

            Examples:
              tenure inspect receipt
              tenure inspect --json transaction.jws
              pbpaste | tenure inspect --bundle-id com.example.calculator -
              tenure inspect --environment xcode --trust StoreKitTest.cer transaction.jws
            """)

    @Argument(help: "The file with the artifact; - or nothing for standard input.") var file = "-"

    @OptionGroup var trust: TrustOptions

    @Option(help: .value("id", "The app's bundle ID. Artifacts of other apps are rejected."))
    var bundleID: String?

    @Option(
        help: .value("number", "The app's Apple ID, which app transactions and notifications of production must have."))
    var appAppleID: Int64?

    @Flag(
        help:
            "Write JSON with `kind`, `verification`, `payload` and `certificates`. A notification also has `nested`: the payloads of the artifacts in it."
    )
    var json = false

    func run() async throws {
        let artifacts = try InputFile(path: file).artifacts()
        let verifier = AppStoreVerifier(
            app: AppIdentity(bundleID: bundleID, appAppleID: appAppleID), trust: try trust.configuration())
        var (isAnyUnreadable, isAnyRefused, isFirst) = (false, false, true)
        for (name, bytes) in artifacts {
            do throws(Rejection) {
                let inspection = try Inspection(of: AppStoreArtifact(recognizing: bytes), by: verifier, now: Date())
                if !inspection.verdict.isAccepted { isAnyRefused = true }
                if json {
                    terminal.write(json: inspection.json(file: artifacts.count > 1 ? name : nil))
                    continue
                }
                if artifacts.count > 1 { terminal.write("\(isFirst ? "" : "\n")\(Terminal.escaped(name)):") }
                isFirst = false
                for line in inspection.lines(for: terminal) { terminal.write(line) }
            } catch {
                Terminal.standardError.write(error: CommandError("`\(name)` can't be read: \(error.detail)"))
                isAnyUnreadable = true
            }
        }
        if isAnyUnreadable { throw ExitCode.error }
        if isAnyRefused { throw ExitCode.refused }
    }
}
