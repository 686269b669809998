import ArgumentParser
import Foundation
import Logging
import TenureAPI
import TenureCore
import TenureMint
import TenurePolicyFile
import TenureServer

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run the service with an invented app, and customers from before and after it became free.",
        discussion: """
            Everything is in one folder: a policy to play with, an asset pack, a test authority (keys that sign in place \
            of Apple's), and the database. The authority signs the customers' artifacts, which are sent over HTTP. The \
            demo prints each decision as a sentence, and which packs the customer may download. Then the service runs \
            until Ctrl-C; the next run finds its customers again.
            """)

    @Option(help: .value("dir", "The folder for all files of the demo.")) var folder = "var"

    @Option(help: "The port to listen on; 0 for any free one.") var port = 8080

    @Flag(help: "Stop after all customers have synced.") var once = false

    func run() async throws {
        let folder = DemoFolder(path: self.folder)
        try folder.prepare()
        let authority = try folder.authority()
        var configuration = ServiceConfiguration(
            databasePath: folder.databasePath, policy: try ServiceConfiguration.readPolicy(at: folder.policyPath))
        configuration.port = port
        let anchors = try authority.anchors
        configuration.anchors = [.production: anchors, .sandbox: anchors]
        let adminKey = try folder.adminKey()
        configuration.adminKey = adminKey
        configuration.content = try DemoContent.publish(folder, for: configuration.policy)
        var logger = Logger(label: "tenure") { TextLogHandler(label: $0) }
        // Don't warn that the policy in the file isn't the active one: `publish` below reports that.
        logger.logLevel = .error

        let customers = try DemoCustomer.all(of: configuration.policy.app, signedBy: authority, now: Date())
        let (ports, portContinuation) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [configuration, logger] in
                defer { portContinuation.finish() }
                // The service accepts connections only when this closure has returned, so only pass the port on.
                try await serve(configuration: configuration, logger: logger) { portContinuation.yield($0) }
            }
            // The loop runs once, when the service listens, or never if the service can't start.
            for await port in ports {
                terminal.write("serving com.example.calculator on http://127.0.0.1:\(port)\n")
                await publish(
                    configuration.policy, of: folder,
                    by: ServiceClient(url: "http://127.0.0.1:\(port)", key: adminKey))
                await syncCustomers(port: port, customers: customers, folder: folder)
                // The signal stops the service, like Ctrl-C.
                if once { kill(getpid(), SIGTERM) }
            }
            try await group.waitForAll()
        }
    }
}

/// Publishes the policy in the folder if its file was changed. The service refuses that if a customer would lose
/// something; then the function only prints the reason.
private func publish(_ policy: Policy, of folder: DemoFolder, by client: ServiceClient) async {
    let text = String(decoding: PolicyFile.compile(policy), as: UTF8.self)
    var request = PublishRequest(policy: text, reason: "\(folder.policyPath) was changed")
    do {
        let rehearsal: RehearsalAnswer = try await client.post(
            "/v1/admin/policies/rehearsals", RehearseRequest(policy: text))
        // Publishing usually needs a confirmation of how many customers gain something. These customers are invented,
        // so confirm it here.
        if rehearsal.gaining > 0, rehearsal.losing == 0 {
            request.giveTo = rehearsal.gaining
            request.rehearsal = rehearsal.id
        }
        let publication: PublicationAnswer = try await client.post("/v1/admin/policies", request)
        terminal.write("\(folder.policyPath) was changed, and is in effect as version \(publication.version)\n")
    } catch let refusal as ServiceClient.Refusal where refusal.problem.reason == "alreadyCurrent" {
        return
    } catch let refusal as ServiceClient.Refusal {
        terminal.write("\(folder.policyPath) was changed, but wasn't published: \(refusal.problem.detail)")
        guard refusal.problem.reason == "takesRights" else { return }
        terminal.write(
            """
            To see which customers it affects: `tenure policy publish \(folder.policyPath) --rehearse --key-file \(folder.adminKeyPath) --service \(client.url)`

            """)
    } catch {
        // The service is stopping or doesn't respond. `syncCustomers` reports that.
    }
}

/// Syncs the customers, prints what each may use, and suggests what to try next.
private func syncCustomers(port: Int, customers: [DemoCustomer], folder: DemoFolder) async {
    let client = ServiceUnderTest(url: "http://127.0.0.1:\(port)", adminKey: nil)
    // The first pack that a customer may download, for the suggestion at the end.
    var example: (customer: String, pack: String, link: String)?
    for customer in customers {
        do {
            let answer = try await client.sync(customer.request)
            terminal.write("\(terminal.styled(customer.name, .bold)): \(customer.story)")
            // In reverse order, so that `everything` comes before `cloud`.
            for (name, entitlement) in answer.entitlements.sorted(by: { $0.key > $1.key }) {
                let outcome = terminal.styled(entitlement.outcome.rawValue, entitlement.outcome.style)
                terminal.write("  \(name) \(outcome): \(entitlement.sentence)")
            }
            let packs = try await client.packs(for: answer).sorted { $0.key < $1.key }
            if !packs.isEmpty {
                terminal.write("  may download: \(packs.map(\.key).joined(separator: ", "))")
            } else if !answer.bound {
                terminal.write(
                    "  may download: nothing, because the receipt doesn't prove that the device is the customer's")
            }
            if example == nil, let pack = packs.first {
                example = (customer.name, pack.key, pack.value.archive)
            }
            terminal.write(terminal.styled("  customer \(answer.id)\n", .faint))
        } catch {
            // The user may stop the service meanwhile: that's no error.
            guard await client.isAlive else { return }
            Terminal.standardError.write("error: \(customer.name) couldn't be synced: \(describe(error))")
        }
    }
    if let example {
        terminal.write(
            """
            The asset packs are described in \(folder.contentPath). \(example.customer) downloads `\(example.pack)` with this link, for a day:
              curl -C - -o \(example.pack).tar "http://127.0.0.1:\(port)\(example.link)"
              tar -tf \(example.pack).tar
            """)
    }
    terminal.write(
        """
        The policy is \(folder.policyPath): change it, start again, and compare the answers.
        The admin key is in \(folder.adminKeyPath): `tenure policy versions --key-file \(folder.adminKeyPath) --service http://127.0.0.1:\(port)`
        The authority is \(folder.authorityPath): `tenure mint app-transaction --authority \(folder.authorityPath)` signs more customers.
        Ctrl-C stops the service; the next run finds these customers again.
        """)
}
