import ArgumentParser
import Foundation
import TenureAppStore
import TenureJSON

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the content of a signed App Store artifact, and whether it is genuine.",
        discussion: """
            Recognizes the kind of artifact: a JWS (app transaction, transaction, renewal info, notification), an \
            app receipt in DER, BER or Base64, or the JSON of verifyReceipt. A file may have one JWS per line: then each \
            is shown, with --json as one JSON object per line.

            Exit codes: 0 verified, 2 rejected or unsigned, 1 a file can't be read, 64 wrong usage.

            Examples:
              tenure inspect receipt
              tenure inspect --json transaction.jws
              pbpaste | tenure inspect --bundle-id com.example.calculator -
              tenure inspect --environment xcode --trust StoreKitTest.cer transaction.jws
            """
    )

    @Argument(help: "The file; - or nothing for standard input.")
    var file = "-"

    @OptionGroup var trust: TrustOptions

    @Option(help: ArgumentHelp("The app's bundle ID. Artifacts of other apps are rejected.", valueName: "id"))
    var bundleID: String?

    @Option(
        help: ArgumentHelp(
            "The app's Apple ID, which app transactions and notifications of production must have.",
            valueName: "number"))
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
        var inspections: [(name: String, inspection: Inspection)] = []
        for (name, bytes) in artifacts {
            do throws(Rejection) {
                let artifact = try AppStoreArtifact(recognizing: bytes)
                inspections.append((name, try Inspection(of: artifact, by: verifier, now: Date())))
            } catch {
                throw CommandError("`\(name)` can't be read: \(error.detail)")
            }
        }
        let terminal = Terminal.standardOutput
        for (index, (name, inspection)) in inspections.enumerated() {
            if json {
                terminal.write(json: inspection.json)
                continue
            }
            if inspections.count > 1 { terminal.write("\(index > 0 ? "\n" : "")\(Terminal.escaped(name)):") }
            for line in inspection.lines(for: terminal) { terminal.write(line) }
        }
        if inspections.contains(where: { !$0.inspection.verdict.isAccepted }) { throw ExitCode.refused }
    }
}
