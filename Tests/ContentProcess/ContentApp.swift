import Foundation
import Tenure
import TenureCore
import TenureHTTP
import TestTransport

/// An app with the asset pack `piano`. It writes each state as a line, and obeys the lines of a file.
///
/// Settings:
/// - `stall`: seconds without a byte.
/// - `delay`: microseconds for each piece that is written.
/// - `clock`: seconds that the clock is wrong.
/// - `space=unknown`: nothing says how much space is free.
/// - `daemon`: the folder of a `DownloadDaemon`.
/// - `stop`: the line after which the process stops until it is killed.
struct ContentApp {
    private let folder: URL
    private let source: Tenure.ContentSources
    /// Lines that tests append: what the app's user or the system does.
    private let commands: String
    private let settings: [String: String]

    struct NoAddress: Error {}

    init(_ arguments: [String]) throws {
        guard let url = URL(string: arguments[1]) else { throw NoAddress() }
        folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
        source = .webServer(url, keys: [arguments[2]])
        commands = arguments[3]
        let pairs = arguments.dropFirst(4).map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        settings = Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
    }

    func run() async throws {
        let device = DeviceEvents()
        let tenure = Tenure(try setup(device))
        let piano = tenure.content["piano"]
        let watching = Task {
            for await state in piano.states {
                let line = Self.line(state)
                ContentProcess.say(line)
                if line == settings["stop"] { kill(getpid(), SIGSTOP) }
            }
        }
        defer { watching.cancel() }
        ContentProcess.say("ready")
        var done = 0
        while true {
            let lines = (try? String(contentsOfFile: commands, encoding: .utf8))?.split(separator: "\n") ?? []
            for line in lines.dropFirst(done) {
                done += 1
                if line == "quit" { return }
                await perform(line.split(separator: " ").map(String.init), tenure, device)
            }
            try await Task.sleep(nanoseconds: 5_000_000)
        }
    }

    private func setup(_ device: DeviceEvents) throws -> Setup {
        let policy = try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [Era(name: "always", model: .free)],
            entitlements: [Entitlement(name: "everything", products: [.init(id: "com.example.calculator.everything")])])
        var setup = Setup(
            access: NoStore(), storage: FileStateStorage(folder: folder.appendingPathComponent("state")),
            policy: .policy(policy))
        setup.options.content = source
        setup.options.outsideAppStore = .allow
        setup.contentLocation = ContentLocation(in: folder)
        setup.events = { device.stream() }
        if let seconds = settings["stall"].flatMap({ Double($0) }) { setup.stallTimeout = seconds }
        if let delay = settings["delay"].flatMap({ UInt32($0) }) {
            setup.contentTransport = ArrangedTransport(delay: delay)
        }
        if let seconds = settings["clock"].flatMap({ Double($0) }) {
            setup.clock = { Date().addingTimeInterval(seconds) }
        }
        if settings["space"] == "unknown" { setup.freeSpace = { _ in nil } }
        if let daemon = settings["daemon"] { setup.background = DaemonConnection(folder: daemon) }
        return setup
    }

    private func perform(
        _ words: [String], _ tenure: Tenure, _ device: DeviceEvents
    ) async {
        let piano = tenure.content["piano"]
        switch words.first {
        case "download":
            Task {
                do {
                    try await piano.download()
                    ContentProcess.say("downloaded")
                } catch {
                    ContentProcess.say("error \(error)")
                }
            }
        case "pause": await piano.pause()
        case "resume": await piano.resume()
        case "cancel": await piano.cancel()
        case "refresh":
            await tenure.content.refresh()
            ContentProcess.say("refreshed")
        case "foreground": device.post(.appBecameActive)
        case "background": device.post(.appEnteredBackground)
        case "events":
            await tenure.content.finishBackgroundDownloads()
            ContentProcess.say("handled")
        case "compare": ContentProcess.say(await differences(from: words.last ?? "", in: piano))
        default: ContentProcess.say("unknown command")
        }
    }

    /// Compares the installed pack with a folder.
    private func differences(from folder: String, in piano: Tenure.AssetPack) async -> String {
        do {
            let installed = try await piano.url(for: "").path
            let files = FileManager.default
            let names = Set(try files.subpathsOfDirectory(atPath: folder))
            guard try Set(files.subpathsOfDirectory(atPath: installed)) == names else { return "different names" }
            let different = names.first {
                !files.contentsEqual(atPath: folder + "/" + $0, andPath: installed + "/" + $0)
            }
            return different.map { "different: \($0)" } ?? "identical"
        } catch {
            return "not comparable: \(error)"
        }
    }

    private static func line(_ state: Tenure.AssetPack.State) -> String {
        switch state {
        case .unknown: "unknown"
        case .notEntitled: "not entitled"
        case .needsAppUpdate: "needs app update"
        case .available(let size): "available \(size)"
        case .waiting(.turn): "waiting turn"
        case .waiting(.network): "waiting network"
        case .waiting(.consent): "waiting consent"
        case .waiting(.space(let missing)): "waiting space \(missing)"
        case .downloading(let progress): "downloading \(progress.bytes) \(progress.total)"
        case .paused: "paused"
        case .installing: "installing"
        case .installed(_, let update?): line(update)
        case .installed(let version, nil): "installed \(version)"
        case .failed(let error): "failed \(error)"
        }
    }
}

/// Passes events of the device, such as a changed network, to each part of the client that listens.
private final class DeviceEvents: Sendable {
    private let listeners = Locked<[AsyncStream<DeviceEvent>.Continuation]>([])

    func stream() -> AsyncStream<DeviceEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: DeviceEvent.self)
        listeners.withLock { $0.append(continuation) }
        return stream
    }

    func post(_ event: DeviceEvent) {
        for listener in listeners.withLock({ $0 }) { listener.yield(event) }
    }
}
