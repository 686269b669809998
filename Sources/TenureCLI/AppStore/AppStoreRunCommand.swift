import ArgumentParser
import Foundation
import LocalAppStore
import TenureCore
import TenureJSON
import TenureMint

struct AppStoreRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the local App Store on this machine.",
        discussion: """
            The world begins as a scenario file says: its app, its customers and its timeline, whose expectations are \
            passed over. It is kept in the folder, and goes on where it was left; --world then counts no more.

            In the folder lie `world.sqlite`, the test authority that signs (`authority/roots.pem` is what to trust), \
            `SubscriptionKey.p8` with which servers sign their tokens, and `clock` with the world's time, which a \
            service can go by. The issuer and key ids are printed.

            Exit codes: 0 stopped by a signal, 1 could not start or failed, 64 wrong usage.

            Examples:
              tenure appstore run --world Examples/scenarios/calculator-disaster.yaml
              tenure appstore run --world world.yaml --notify http://127.0.0.1:8080/v1/notifications/apple --speed 60x
            """
    )

    @Option(help: ArgumentHelp("A scenario with which the world begins.", valueName: "file"))
    var world: String?

    @Option(help: ArgumentHelp("Where the world is kept.", valueName: "dir"))
    var folder = "var/appstore"

    @Option(help: "The port to listen on; 0 for any free one.")
    var port = 8090

    @Option(
        help: ArgumentHelp("How fast the world's clock runs, such as 60x. It stands still otherwise.", valueName: "n"))
    var speed: Speed?

    @Option(help: ArgumentHelp("Where notifications are posted.", valueName: "url"))
    var notify: String?

    struct Speed: ExpressibleByArgument {
        let factor: Double

        init?(argument: String) {
            guard let factor = Double(argument.hasSuffix("x") ? String(argument.dropLast()) : argument), factor >= 0,
                factor <= 10_000_000
            else { return nil }
            self.factor = factor
        }
    }

    func run() async throws {
        try await reportingErrors {
            let desk = try AppStoreFolder(path: folder)
            // The folder is this process's until it ends.
            defer { withExtendedLifetime(desk) {} }
            let (store, key) = try await desk.open(world: world)
            if let notify {
                for app in await store.world.apps where app.notificationURL != notify {
                    try await store.perform(Act(.notifyAt, [.app: app.bundleID, .url: notify]))
                }
            }
            let server = StoreServer(store: store, key: key, port: port, speed: speed?.factor ?? 0)
            let world = await store.world
            try await server.run { port in
                Terminal.standardOutput.write(
                    """
                    it is \(world.now.rfc3339) in \(world.environment.rawValue); \(world.accounts.count) customers
                    trust \(desk.authorityPath)/roots.pem
                    clock \(desk.clockPath)
                    server API key \(desk.keyPath), issuer \(key.issuerID), key id \(key.keyID)
                    serving \(world.apps.map(\.bundleID).joined(separator: ", ")) on http://127.0.0.1:\(port)
                    """)
            }
        }
    }
}
