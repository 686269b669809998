import ArgumentParser
import TenureStore

struct DatabaseReopenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen",
        abstract: "Let services write again to a database that was moved.",
        discussion: """
            `tenure database migrate` marks its source as moved, and services don't write to it anymore. Undo that if the \
            move was interrupted, or if you give up the target. What services wrote to the target isn't moved back.

            Example:
              tenure database reopen --database var/tenure.sqlite
            """
    )

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        let selection = try options.selection()
        let database = selection.database
        try await selection.withStore { store in
            let target = try await store.database.writeAlone { session throws(StoreError) in
                let header = try DatabaseHeader.read(in: session)
                try DatabaseHeader.markMoved(to: nil, in: session)
                return header.movedTo
            }
            guard let target else {
                throw CommandError("`\(database.name)` wasn't moved; services can write to it")
            }
            Terminal.standardOutput.write(
                "services can write to \(database.name) again; don't start a service on \(target)")
        }
    }
}
