import ArgumentParser
import Foundation
import LocalAppStore
import TenureCore
import TenureJSON

struct LocalStoreRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the local App Store on this machine.",
        discussion: """
            The scenario file has the app, the customers and the timeline to begin with; its expectations are ignored. \
            The folder keeps the state. If the folder has a state, the store continues from it, and ignores --scenario.

            The folder has `journal.sqlite`, the test authority that signs (trust `authority/roots.pem`), \
            `SubscriptionKey.p8`, with which servers sign their tokens, and `clock`. This file has the store's \
            current time, which a service can follow (`clock` in its configuration). The issuer ID and the key ID are \
            printed.

            Exit codes: 0 stopped by a signal, 1 couldn't start or failed, 64 wrong usage.

            Examples:
              tenure local-store run --scenario Examples/scenarios/calculator-disaster.yaml
              tenure local-store run --scenario scenario.yaml \\
                  --notify http://127.0.0.1:8080/v1/notifications/apple --speed 60x
            """)

    @Option(help: .value("file", "The scenario to begin with.")) var scenario: String?

    @Option(help: .value("dir", "The folder that keeps the state.")) var folder = "var/local-store"

    @Option(help: "The port to listen on; 0 for any free one.") var port = 8090

    @Option(
        help: .value("n", "The speed of the local clock, such as 60x. Without it, only operations advance the clock.")
    )
    var speed: Speed?

    @Option(help: .value("url", "The URL to post notifications to.")) var notify: String?

    /// How many seconds of the local clock pass in a second of real time, such as `60x` or `60`.
    struct Speed: ExpressibleByArgument {
        let factor: Double

        init?(argument: String) {
            let number = argument.hasSuffix("x") ? String(argument.dropLast()) : argument
            guard let factor = Double(number), (0...10_000_000).contains(factor) else { return nil }
            self.factor = factor
        }
    }

    func run() async throws {
        let folder = try LocalStoreFolder(path: self.folder)
        // This process locks the folder until it ends.
        defer { withExtendedLifetime(folder) {} }
        let (store, key) = try await folder.open(scenario: scenario)
        if let notify {
            for app in await store.state.apps where app.notificationURL != notify {
                try await store.perform(AppStoreOperation(.notifyAt, [.app: app.bundleID, .url: notify]))
            }
        }
        let server = AppStoreServer(store: store, key: key, port: port, speed: speed?.factor ?? 0)
        let state = await store.state
        try await server.run { port in
            terminal.write(
                """
                it is \(state.now.rfc3339) in \(state.environment.rawValue); \(counted(state.accounts.count, "customer"))
                trust \(folder.authorityPath)/roots.pem
                clock \(folder.clockPath)
                server API key \(folder.keyPath), issuer \(key.issuerID), key ID \(key.keyID)
                serving \(state.apps.map(\.bundleID).joined(separator: ", ")) on http://127.0.0.1:\(port)
                """)
        }
    }
}
