import Foundation
import InProcessDevices
import LocalAppStore
import StoreKit
import Tenure
import TenureAppStore
import TenureCore
import TenureMint
import TenurePolicyFile

/// One of several processes that share a state, for tests: an app, an extension or a widget.
@main
struct StateProcess {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let step = arguments.first, let place = arguments.dropFirst().first else { return say("no step") }
        let rest = Array(arguments.dropFirst(2))
        switch step {
        case "try":
            try await beginTrials(in: options(place), sessions: Int(rest.first ?? "") ?? 0, rest.dropFirst().first)
        case "content": try await download(in: options(place), rest)
        case "buy": try await buy(in: options(place), rest)
        case "hold": try hold(place)
        default: say("no step is called \(step)")
        }
    }

    /// A folder by its path, or an access group by its name.
    private static func options(_ place: String) -> Tenure.Options {
        var options = Tenure.Options()
        if place.hasPrefix("/") { options.folder = URL(fileURLWithPath: place) } else { options.accessGroup = place }
        return options
    }

    private static func policy(sessions: Int) throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [Era(name: "always", model: .free)],
            entitlements: [
                Entitlement(
                    name: "cloud", products: [.init(id: "com.example.calculator.yearly")], trial: .sessions(sessions))
            ], whileUndetermined: .deny)
    }

    /// Begins sessions until the trial is over, one after the other, and writes a line for each.
    private static func beginTrials(in options: Tenure.Options, sessions: Int, _ signal: String?) async throws {
        let tenure = try Tenure(policy: .policy(try policy(sessions: sessions)), options: options)
        for await customer in tenure.updates where !customer.isResolving { break }
        say("ready")
        if let signal {
            while !FileManager.default.fileExists(atPath: signal) { usleep(500) }
        }
        while true {
            do {
                let session = try await tenure.trial("cloud").begin()
                say("began, \(session.sessionsLeft ?? -1) left")
            } catch Tenure.Error.trialOver {
                return say("over")
            } catch {
                return say("failed: \(error)")
            }
        }
    }

    /// Buys for several customers in a local App Store in this process, and runs the client for the last customer.
    ///
    /// - Parameter purchases: a customer and a product for each purchase, and the scenario at the end.
    private static func buy(in options: Tenure.Options, _ purchases: [String]) async throws {
        guard let path = purchases.last else { return say("no scenario") }
        let scenario = try ScenarioReader.read(Array(Data(contentsOf: URL(fileURLWithPath: path))), named: path)
        let store = LocalAppStore(
            scenario.header.state, signer: AppStoreSigner(authority: try TestAuthority())
        ) { _, _, _ in .success }
        try await scenario.perform(in: store)
        var customer = ""
        for purchase in purchases.dropLast() {
            let words = purchase.split(separator: ":").map(String.init)
            guard words.count == 2 else { return say("no purchase: \(purchase)") }
            customer = words[0]
            try await store.perform(AppStoreOperation(.buy, [.customer: words[0], .product: words[1]]))
        }
        LocalStore.use(try await LocalStore(store, customer: customer))
        let tenure = try Tenure(policy: .policy(try policy(sessions: 3)), options: options)
        for await customer in tenure.updates where !customer.isResolving { break }
        say("looked")
    }

    /// Downloads an asset pack, and writes a line for each state.
    ///
    /// - Parameter arguments: the address of a published folder, the key that signed its catalog, and the pack; then a
    ///   file for which it waits.
    private static func download(in options: Tenure.Options, _ arguments: [String]) async throws {
        guard arguments.count >= 3, let url = URL(string: arguments[0]) else { return say("no pack") }
        var options = options
        options.content = .webServer(url, keys: [arguments[1]])
        options.appStoreTimeout = 0.2
        options.whileUndetermined = .allow(86_400)
        let tenure = try Tenure(policy: .policy(try policy(sessions: 3)), options: options)
        for await customer in tenure.updates where !customer.isResolving { break }
        let pack = tenure.content[arguments[2]]
        let telling = Task { for await state in pack.states { say("\(state)") } }
        say("ready")
        if arguments.count > 3 {
            while !FileManager.default.fileExists(atPath: arguments[3]) { usleep(500) }
        }
        do {
            try await pack.download()
            telling.cancel()
            say("done: \(try await pack.url(for: "").path)")
        } catch {
            say("failed: \(error)")
        }
    }

    /// Holds the lock until it is killed.
    private static func hold(_ folder: String) throws {
        try FileStateStorage(folder: URL(fileURLWithPath: folder)).update { _ in
            say("holding")
            while true { sleep(1) }
        }
    }

    /// Writes at once, because a killed process would lose the contents of a buffer.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
