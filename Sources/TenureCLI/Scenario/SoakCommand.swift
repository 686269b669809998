import ArgumentParser
import Foundation
import LocalAppStore
import Logging
import TenureMint

struct SoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Many customers' lives against the service, compared with what is true.",
        discussion: """
            An invented app, sold for two years and free from the third month of its service on. For 300 days its \
            customers buy, renew, cancel, change plans, cannot pay, share, and have their money back, while \
            notifications get lost, the network fails and the service is down. It runs as `tenure serve` runs it, on a \
            port of this machine, and finds out over HTTP. In the end each customer's entitlements are compared with \
            the world's own truth; every difference is named with its reason.

            Exit codes: 0 no difference, 2 there are some, 1 error, 64 wrong usage.

            Examples:
              tenure scenario soak
              tenure scenario soak --customers 100000
            """
    )

    @Option(help: "How many customers.")
    var customers = 1000

    @Option(help: ArgumentHelp("The same seed gives the same lives.", valueName: "text"))
    var seed = "soak"

    func validate() throws {
        guard (1...1_000_000).contains(customers) else {
            throw ValidationError("`--customers` is a number from 1 to 1000000")
        }
    }

    func run() async throws {
        let differences = try await reportingErrors {
            try await Soak(population: Population(size: customers, seed: seed)).run()
        }
        if differences > 0 { throw ExitCode.refused }
    }
}
