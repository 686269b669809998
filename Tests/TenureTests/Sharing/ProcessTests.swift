import CommandRunner
import Foundation
import TenureCore
import Testing

@testable import Tenure

private let scenario = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../Examples/scenarios/calculator-disaster.yaml").standardizedFileURL.path

/// Separate processes that share one state. They are killed, and they wait for each other.
@Suite(.serialized) struct `Several processes with one state` {
    private func start(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningCommand {
        try RunningCommand(
            arguments, executable: Command.executable(named: "StateProcess"), environment: environment)
    }

    private func sessions(in folder: Folder) throws -> Int {
        let storage = FileStateStorage(folder: URL(fileURLWithPath: folder.path))
        guard case .state(let state) = storage.load(device: nil) else { throw NoState() }
        return state.trialSessions(of: "cloud")
    }

    private struct NoState: Error {}

    private func begun(_ process: RunningCommand) -> Int {
        process.output.split(separator: "\n").count { $0.hasPrefix("began") }
    }

    @Test func `a trial of three sessions begins exactly three sessions when several processes try at once`()
        async throws
    {
        for _ in 0..<3 {
            let folder = try Folder()
            let signal = folder.url("go").path
            let processes = try (0..<3).map { _ in try start("try", folder.path, "3", signal) }
            for process in processes { #expect(try await process.writes("ready")) }
            try folder.write("", to: "go")
            for process in processes { #expect(await process.ended() == 0) }
            #expect(processes.map(begun).reduce(0, +) == 3)
            for process in processes { #expect(process.output.hasSuffix("over\n"), "\(process.output)") }
            #expect(try sessions(in: folder) == 3)
        }
    }

    @Test func `processes with the same access group share a state, and another group has a separate state`()
        async throws
    {
        let folder = try Folder()
        let environment = ["XDG_DATA_HOME": folder.path]
        for (group, expected) in [
            ("group.com.example.calculator", 3), ("group.com.example.calculator", 0), ("other", 3),
        ] {
            let process = try start("try", group, "3", environment: environment)
            #expect(await process.ended() == 0)
            #expect(begun(process) == expected, "\(process.output)")
        }
    }

    @Test func `two processes that share a state keep each other's purchases`() async throws {
        let folder = try Folder()
        let everything = "com.example.calculator.everything"
        let yearly = "com.example.calculator.yearly"
        // In the extension's App Store another customer buys first, so that the two purchases have different IDs.
        let app = try start("buy", folder.path, "Dana:\(yearly)", scenario)
        let appExtension = try start("buy", folder.path, "Ada:\(yearly)", "Dana:\(everything)", scenario)
        for process in [app, appExtension] {
            #expect(await process.ended() == 0, "\(process.errors)")
            #expect(process.output == "looked\n")
        }
        let storage = FileStateStorage(folder: URL(fileURLWithPath: folder.path))
        guard case .state(let state) = storage.load(device: nil) else { throw NoState() }
        #expect(Set(state.account.purchases.map(\.productID)) == [everything, yearly])
    }

    @Test func `processes that share a state continue when one is killed while it writes`() async throws {
        let folder = try Folder()
        let survivor = try start("try", folder.path, "1000000")
        var counted = 0
        for line in 1...5 {
            let victim = try start("try", folder.path, "1000000")
            while victim.output.split(separator: "\n").count < 5 * line {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(await victim.end(by: SIGKILL) == SIGKILL)
            counted += begun(victim)
        }
        let before = begun(survivor)
        while begun(survivor) < before + 5 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(await survivor.end(by: SIGKILL) == SIGKILL)
        counted += begun(survivor)
        // A killed process may have counted a session without reporting it.
        #expect((counted...counted + 6).contains(try sessions(in: folder)))
    }

    @Test func `a change fails while another process holds the lock, and works after that process is killed`()
        async throws
    {
        let folder = try Folder()
        let holder = try start("hold", folder.path)
        #expect(try await holder.writes("holding"))
        let waiting = try start("try", folder.path, "3")
        #expect(await waiting.ended() == 0)
        #expect(waiting.output.contains("failed"), "\(waiting.output)")
        #expect(waiting.output.contains("another process has held"), "\(waiting.output)")
        #expect(await holder.end(by: SIGKILL) == SIGKILL)
        let next = try start("try", folder.path, "3")
        #expect(await next.ended() == 0)
        #expect(begun(next) == 3)
    }
}
