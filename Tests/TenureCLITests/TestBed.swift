import CommandRunner
import Foundation
import Testing

/// A test authority, a policy, and customers minted for a test.
struct TestBed {
    let folder: Folder
    let authority: String
    let policy: String

    init() async throws {
        folder = try Folder()
        authority = folder.url("authority").path
        try #require(try await Command.run("mint", "authority", authority).status == 0)
        policy = try folder.write(Self.policy, to: "policy.yaml")
    }

    func mint(_ kind: String, _ settings: String..., options: [String] = []) async throws -> String {
        let file = folder.url(UUID().uuidString).path
        let result = try await Command.run(
            ["mint", kind, "--authority", authority, "--out", file] + settings.flatMap { ["--set", $0] } + options)
        try #require(result.status == 0, "\(result.errors)")
        return file
    }

    func decide(_ arguments: String...) async throws -> Command.Result {
        try await Command.run(["decide", "--policy", policy, "--trust", authority, "--json"] + arguments)
    }

    static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins:
              iOS: { build: "120", at: 2015-06-10T18:00:00Z }
              macOS: { version: "2.0", at: 2015-06-12T18:00:00Z }
            changeover: { from: -24h, until: +48h }
        buildNumbers: increasing
        entitlements:
          everything:
            products: [com.example.calculator.everything, com.example.calculator.yearly]
            honors: [paid]
        """
}
