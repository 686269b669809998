import ArgumentParser
import Foundation
import TenureJSON
import TenureServer
import TenureStore

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Test a webhook, list messages and their deliveries, and send messages again.",
        discussion: "Docs/webhooks.md explains what the service sends and how a receiver verifies it.",
        subcommands: [Test.self, Log.self, Replay.self])

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send one signed message of the type `test` to a URL, as the service would.",
            discussion: "Exit codes: 0 delivered, 2 not delivered, 1 a file can't be read, 64 wrong usage.")

        @Argument(help: "The URL of the endpoint: https://…") var url: String

        @Option(help: .value("file", "The file with the endpoint's secret, mode 600."))
        var secretFile: String

        @Flag(help: "Allow hosts in a private network, and loopback without TLS.")
        var allowPrivate = false

        func run() async throws {
            let webhook = Webhook(
                name: "test", url: url, secrets: try Webhook.secrets(in: secretFile), allowsPrivate: allowPrivate)
            let (isDelivered, words) = try await webhook.test()
            terminal.write(words)
            if !isDelivered { throw ExitCode.refused }
        }
    }

    struct Log: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List messages, the latest first, with every delivery attempt.",
            discussion: "Without `--event` and `--since`, lists the messages of the last 24 hours.")

        @OptionGroup var databaseOption: DatabaseOption
        @OptionGroup var selection: SelectionOptions

        @Option(help: "The maximum number of messages.") var limit = 100

        func run() async throws {
            try await databaseOption.selection().withStore { store in
                let lastDay = MessageSelection.since(Date().addingTimeInterval(-86_400))
                let (chosen, limit) = (selection.selection, max(1, limit))
                let messages = try await store.read { try $0.messages(chosen ?? lastDay, limit: limit) }
                if messages.isEmpty {
                    Terminal.standardError.write(
                        chosen == nil
                            ? "no message in the last 24 hours; pass `--since` with an earlier date"
                            : "no message matches `--event` or `--since`")
                }
                for (message, deliveries) in messages {
                    terminal.write(
                        "\(message.event)  \(message.createdAt.rfc3339)  \(message.type)"
                            + (message.publicID.map { "  \($0)" } ?? ""))
                    for delivery in deliveries { write(delivery) }
                }
            }
        }

        /// Prints the state of a message's delivery to one endpoint, and all attempts.
        private func write(_ delivery: StoredDelivery) {
            let end =
                if let date = delivery.deliveredAt {
                    "delivered \(date.rfc3339)"
                } else if let date = delivery.nextAttempt {
                    "next attempt \(date.rfc3339)"
                } else {
                    "abandoned"
                }
            terminal.write("  \(Terminal.escaped(delivery.endpoint)): \(end)")
            for attempt in delivery.attempts {
                let words = [attempt.status.map { String($0) }, attempt.detail].compactMap(\.self)
                terminal.write("    \(attempt.at.rfc3339)  \(words.joined(separator: "  "))")
            }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Queue messages again, delivered or not, for every endpoint that subscribes to them.",
            discussion: """
                The running service sends them within about a second. They keep their IDs, so a receiver recognizes \
                repeats. The endpoints are those of the settings with which the service last started.
                """)

        @OptionGroup var databaseOption: DatabaseOption
        @OptionGroup var selection: SelectionOptions

        func validate() throws {
            try require(
                selection.selection != nil,
                "no messages are selected; pass `--event` with an ID, or `--since` with a date")
        }

        func run() async throws {
            let count = try await databaseOption.selection().withStore { store in
                guard let selection = selection.selection else { return 0 }
                return try await store.write { try $0.replay(selection) }
            }
            guard count > 0 else {
                throw CommandError(
                    "no endpoint subscribes to a matching message; `tenure webhook log` lists the messages")
            }
            terminal.write(count == 1 ? "1 delivery is queued" : "\(count) deliveries are queued")
        }
    }
}

/// The options that select webhook messages.
struct SelectionOptions: ParsableArguments {
    @Option(help: .value("id", "The ID of one message.")) var event: String?

    @Option(
        help: .value("date", "All messages since this instant. A day means 00:00 UTC."),
        transform: Date.init(argument:))
    var since: Date?

    func validate() throws {
        try require(event == nil || since == nil, "`--event` and `--since` exclude each other; pass one of them")
    }

    /// The messages that the options select; nil if both options are missing.
    var selection: MessageSelection? { event.map { .event($0) } ?? since.map { .since($0) } }
}
