import ArgumentParser
import Foundation
import Logging
import TenureAPI
import TenureAppStore
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
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [configuration, logger] in
                defer { started.finish() }
                // The service accepts no connections before this closure returns.
                try await serve(configuration: configuration, logger: logger) { started.yield($0) }
            }
            for await port in ports {
                terminal.write("serving com.example.calculator on http://127.0.0.1:\(port)\n")
                await publish(
                    configuration.policy, of: folder,
                    by: ServiceClient(url: "http://127.0.0.1:\(port)", key: adminKey))
                await syncCustomers(port: port, customers: customers, folder: folder)
                if once { kill(getpid(), SIGTERM) }
            }
            try await group.waitForAll()
        }
    }
}

/// Publishes the policy in the folder if it has changed and no customer loses anything.
private func publish(_ policy: Policy, of folder: DemoFolder, by client: ServiceClient) async {
    let text = String(decoding: PolicyFile.compile(policy), as: UTF8.self)
    var request = PublishRequest(policy: text, reason: "\(folder.policyPath) was changed")
    do {
        // Policies that grant more are published without a question, because these customers are invented.
        let rehearsal: RehearsalAnswer = try await client.post(
            "/v1/admin/policies/rehearsals", RehearseRequest(policy: text))
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
        // The service is stopping or doesn't respond. The customers' syncs below report that.
    }
}

/// Syncs the customers, prints what each may use, and suggests what to try next.
private func syncCustomers(port: Int, customers: [DemoCustomer], folder: DemoFolder) async {
    let client = ServiceUnderTest(url: "http://127.0.0.1:\(port)", adminKey: nil)
    var example: (customer: String, pack: String, link: String)?
    for customer in customers {
        do {
            let answer = try await client.sync(customer.request)
            terminal.write("\(terminal.styled(customer.name, .bold)): \(customer.story)")
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
            // If the service was stopped while the customers sync, that isn't an error.
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

/// An invented customer, with the artifacts that the App Store would have signed.
struct DemoCustomer: Sendable {
    let name: String
    /// What the customer did, as the demo prints it after the name.
    let story: String
    /// The request with which the customer's app syncs.
    let request: SyncRequest

    /// Returns all customers of the demo, who are the same in every run.
    static func all(of app: Policy.App, signedBy authority: TestAuthority, now: Date) throws -> [DemoCustomer] {
        var minter = DemoMinter(app: app, authority: authority, now: now)
        return try [
            minter.customer(
                "Ada", "bought the app in May 2014, as build 37, on her iPhone", version: "37",
                bought: "2014-05-01T10:00:00Z"),
            minter.customer(
                "Boris", "bought version 1.9 on his Mac in March 2026", version: "1.9", bought: "2026-03-05T10:00:00Z",
                platform: "macOS"),
            minter.customer(
                "Chen", "paid the old price two hours after the change, and got the new build", version: "120",
                bought: "2026-10-01T18:00:00Z"),
            minter.customer(
                "Dana", "got the free app in November 2026", version: "121", bought: "2026-11-14T10:00:00Z"),
            minter.customer(
                "Emre", "got the free app too, and subscribed", version: "121", bought: "2026-11-14T11:00:00Z",
                subscribes: true),
            minter.customer(
                "Fay", "bought the app in 2024 and got a refund", version: "88", bought: "2024-02-01T10:00:00Z",
                refunded: "2024-02-03T10:00:00Z"),
            minter.ownerOfOldReceipt("Gus", "has only a receipt of 2012, which contains no version"),
            minter.customer(
                "Hana", "tests the app in TestFlight, where every version is \"1.0\"", version: "1.0",
                bought: "2013-08-01T07:00:00Z", environment: .sandbox),
        ]
    }
}

/// Creates the invented customers, with artifacts that the test authority signs. Each customer has a separate account
/// and device.
private struct DemoMinter {
    let app: Policy.App
    let authority: TestAuthority
    let now: Date
    /// The number of customers so far.
    var count: UInt8 = 0

    /// Creates a customer with an app transaction, and with a subscription if `subscribes` is true.
    ///
    /// - Parameter version: the original version of the app, which is a build on iOS.
    mutating func customer(
        _ name: String, _ story: String, version: String, bought: String, platform: String = "iOS",
        subscribes: Bool = false, refunded: String? = nil, environment: AppStoreEnvironment = .production
    ) throws -> DemoCustomer {
        let app = nextApp(in: environment)
        let minter = JWSMinter(authority: authority, app: app, signedAt: now)
        func mint(_ kind: JWSKind, _ fields: KeyValuePairs<String, String>) throws -> String {
            var payload = try minter.payload(of: kind)
            for (field, value) in fields { payload = try kind.setting(field, to: value, in: payload) }
            return String(decoding: try minter.mint(payload: payload), as: UTF8.self)
        }
        let (id, transactionID) = ("7040000000000000\(10 + count)", "4100000000000\(10 + count)")
        let appTransaction = try mint(
            .appTransaction,
            [
                "appTransactionId": id, "originalApplicationVersion": version, "originalPurchaseDate": bought,
                "originalPlatform": platform, "revocationDate": refunded ?? "",
            ])
        var request = SyncRequest(
            appTransaction: appTransaction, transactions: [], deviceVerificationID: app.deviceVerificationID.uuidString)
        if subscribes {
            let purchase = try mint(
                .transaction,
                [
                    "appTransactionId": id, "productId": "com.example.calculator.yearly",
                    "type": "Auto-Renewable Subscription", "purchaseDate": "2026-11-14T11:05:00Z",
                    "expiresDate": "2027-11-14T11:05:00Z", "transactionId": transactionID,
                    "originalTransactionId": transactionID,
                ])
            request.transactions = [purchase]
        }
        return DemoCustomer(name: name, story: story, request: request)
    }

    /// Creates a customer with a receipt of 2012, which has a purchase date but no version.
    mutating func ownerOfOldReceipt(_ name: String, _ story: String) throws -> DemoCustomer {
        let app = nextApp(in: .production)
        let signed = Date(written: "2012-10-03T09:00:00Z") ?? now
        let minter = ReceiptMinter(authority: authority, app: app, signedAt: signed)
        let receipt = try minter.mint { draft in
            try draft.set("original_application_version", to: "")
            try draft.set("original_purchase_date", to: "2012-10-01T09:00:00Z")
            try draft.set("download_id", to: "50000000000001")
            draft.purchases = []
        }
        let request = SyncRequest(
            transactions: [], receipt: Data(receipt).base64EncodedString(),
            deviceVerificationID: app.deviceVerificationID.uuidString)
        return DemoCustomer(name: name, story: story, request: request)
    }

    /// Returns the app as the next customer has it: with a device ID that no earlier customer has.
    private mutating func nextApp(in environment: AppStoreEnvironment) -> MintedApp {
        count += 1
        return MintedApp(
            bundleID: app.bundleID, appAppleID: app.appleID ?? 0, environment: environment,
            deviceVerificationID: UUID(uuid: (0xD1, 0xCE, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, count)))
    }
}
