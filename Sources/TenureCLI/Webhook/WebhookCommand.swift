import ArgumentParser
import Foundation
import TenureCore
import TenureJSON
import TenureServer
import TenureStore

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Try a webhook, see what became of messages, and send them again.",
        discussion: "Docs/webhooks.md says what is sent, and how a receiver verifies it.",
        subcommands: [Test.self, Log.self, Replay.self]
    )

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a signed message of the type `test` to a URL, once, as the service would.",
            discussion: "Exit codes: 0 delivered, 2 not delivered, 1 something could not be read."
        )

        @Argument(help: "Where to send it: https://…")
        var url: String

        @Option(help: ArgumentHelp("The file with the endpoint's secret, mode 600.", valueName: "file"))
        var secretFile: String

        @Flag(help: "The host may lie in a private network, or be loopback without TLS.")
        var allowPrivate = false

        func run() async throws {
            let (isDelivered, words) = try await reportingErrors {
                let webhook = Webhook(
                    name: "test", url: url, secrets: try Webhook.secrets(in: secretFile), allowsPrivate: allowPrivate)
                return try await webhook.test()
            }
            Terminal.standardOutput.write(words)
            if !isDelivered { throw ExitCode.refused }
        }
    }

    struct Log: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show messages, the latest first, with every attempt to deliver them.")

        @OptionGroup var record: RecordDatabaseOption
        @OptionGroup var selection: SelectionOptions

        @Option(help: "At most so many messages.")
        var limit = 100

        func run() async throws {
            try await reportingErrors {
                try await withRecord(record.database) { store in
                    let messages = try await store.messages(try selection.selection, limit: max(1, limit))
                    if messages.isEmpty { Terminal.standardError.write("there is no such message") }
                    for (message, deliveries) in messages {
                        Terminal.standardOutput.write(
                            "\(message.event)  \(message.createdAt.rfc3339)  \(message.type)"
                                + (message.publicID.map { "  \($0)" } ?? ""))
                        for delivery in deliveries { write(delivery) }
                    }
                }
            }
        }

        private func write(_ delivery: RecordedDelivery) {
            let end: String
            if let date = delivery.deliveredAt {
                end = "delivered \(date.rfc3339)"
            } else if let date = delivery.nextAttempt {
                end = "next attempt \(date.rfc3339)"
            } else {
                end = "given up"
            }
            Terminal.standardOutput.write("  \(Terminal.clean(delivery.endpoint)): \(end)")
            for attempt in delivery.attempts {
                let words = [attempt.status.map { String($0) }, attempt.detail].compactMap { $0 }
                Terminal.standardOutput.write("    \(attempt.at.rfc3339)  \(words.joined(separator: "  "))")
            }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Queue messages anew, delivered or not, for every endpoint that wants them now.",
            discussion: """
                The running service sends them within a second or so; a receiver knows by their id what it has seen. \
                Endpoints are those with which the service last started.
                """
        )

        @OptionGroup var record: RecordDatabaseOption
        @OptionGroup var selection: SelectionOptions

        func run() async throws {
            try await reportingErrors {
                let count = try await withRecord(record.database) { store in
                    try await store.replay(try selection.selection, at: Date())
                }
                guard count > 0 else {
                    throw CommandError("no message was found that an endpoint wants; see `tenure webhook log`")
                }
                Terminal.standardOutput.write(count == 1 ? "1 delivery is queued" : "\(count) deliveries are queued")
            }
        }
    }
}

/// Which messages.
struct SelectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("One message, by its id.", valueName: "id"))
    var event: String?

    @Option(help: ArgumentHelp("All since a day or an instant.", valueName: "date"))
    var since: Instant?

    func validate() throws {
        guard (event == nil) != (since == nil) else {
            throw ValidationError("say which messages: `--event` with an id, or `--since` with a date")
        }
    }

    var selection: MessageSelection {
        get throws {
            if let event { return .event(event) }
            guard let since else { throw ValidationError("say since when") }
            return .since(since.date)
        }
    }
}
