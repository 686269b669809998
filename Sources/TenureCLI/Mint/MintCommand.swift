import ArgumentParser
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

struct MintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mint", abstract: "Create App Store artifacts that your test authority signs.",
        discussion: """
            A verifier accepts them only with the authority's folder in --trust.

            Example:
              tenure mint authority ./authority
              tenure mint app-transaction --authority ./authority \\
                  --set originalApplicationVersion=37 --out early.jws
              tenure inspect --trust ./authority early.jws
            """,
        subcommands: [
            MintAuthorityCommand.self, MintAppTransactionCommand.self, MintTransactionCommand.self,
            MintRenewalInfoCommand.self, MintNotificationCommand.self, MintReceiptCommand.self, MintCorpusCommand.self,
        ])
}

struct MintAuthorityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authority", abstract: "Create a test authority: roots, certificates and private keys.",
        discussion: """
            The keys are random, and stay in the folder.

            Example:
              tenure mint authority ./authority
            """)

    @Argument(help: "The folder to write; it is created if missing.") var directory: String

    @Flag(help: "Replace an existing authority. Artifacts that it signed become invalid.")
    var force = false

    func run() async throws {
        let folder = URL(fileURLWithPath: directory)
        guard force || !FileManager.default.fileExists(atPath: folder.path + "/roots.pem") else {
            throw CommandError("`\(directory)` already has an authority; choose another folder, or add --force")
        }
        do {
            try TestAuthority().save(to: folder)
        } catch let error where !(error is MintingError) {
            throw CommandError("`\(directory)` can't be written; check the folder and its permissions")
        }
        terminal.write("to trust it, pass `--trust \(directory)`")
    }
}

/// The options of all commands that mint (create and sign) one artifact.
struct MintOptions: ParsableArguments {
    @Option(help: .value("dir", "The folder of the test authority that signs."))
    var authority: String

    @Option(
        help: .value(
            "field=value",
            "Set a field, by Apple's name (in a receipt, by the name in verifyReceipt). Write dates as 2014-05-01, 2015-06-10T18:00:00Z or milliseconds since 1970. An empty value removes the field."
        ))
    var set: [String] = []

    @Option(help: .value("file", "A JSON object to sign instead of the usual fields."))
    var payload: String?

    @Option(help: .value("file", "The file to write; without this option, standard output."))
    var out: String?

    @OptionGroup var replacing: ReplaceOption

    @Option(help: "The environment in the artifact: production, sandbox or xcode.")
    var environment: TrustOptions.EnvironmentName?

    @Option(help: .value("uuid", "The device that the artifact is signed for (`AppStore.deviceVerificationID`)."))
    var deviceID: String?

    @Option(help: .value("name", "Give the artifact one defect. An unknown name prints the list of valid ones."))
    var defect: String?

    func validate() throws {
        try require(
            defect == nil || (self.set.isEmpty && payload == nil),
            "`--defect` can't be combined with `--set` or `--payload`; remove one of them")
        for text in self.set {
            try require(text.nameAndValue != nil, "`\(text)` isn't a field with a value; write field=value")
        }
        try checkDeviceID(deviceID)
    }

    /// The app, the environment and the device in the artifact.
    var app: MintedApp {
        MintedApp(
            environment: environment?.environment ?? .production,
            deviceVerificationID: deviceID.flatMap(UUID.init(digits:)) ?? MintedApp.device)
    }

    /// The fields of `--set`, in their order.
    var settings: [(name: String, value: String)] { self.set.compactMap(\.nameAndValue) }

    /// Reads the test authority that signs the artifact.
    func testAuthority() throws -> TestAuthority { try TestAuthority(readFrom: URL(fileURLWithPath: authority)) }

    /// Returns the JSON object in the file of `--payload`; nil without this option.
    func payloadObject() throws -> JSONObject? {
        guard let payload else { return nil }
        let file = InputFile(path: payload)
        do {
            guard case .object(let object) = try JSONValue(parsing: file.bytes()) else {
                throw CommandError("`\(file.name)` isn't a JSON object; write the fields as {\"name\": value}")
            }
            return object
        } catch let error as JSONError {
            throw CommandError("`\(file.name)`: \(error)")
        }
    }

    /// Throws if the command would overwrite a file that it reads, or an existing file without `--force`.
    func checkFiles() throws {
        let inputs = FilePlan.files(at: authority) + [payload].compactMap(\.self)
        try FilePlan(reading: inputs, writing: [out]).check(replacing: replacing.force)
    }

    /// Writes the artifact to the file of `--out`, or else to standard output.
    func write(_ bytes: [UInt8], newlineAtEnd: Bool = true) throws {
        try OutputFile(path: out, replaces: replacing.force).write(bytes, newlineAtEnd: newlineAtEnd)
    }

    /// Creates a JWS with the fields or the defect of the options, and writes it.
    func mint(_ kind: JWSKind) async throws {
        try checkFiles()
        let minter = JWSMinter(authority: try testAuthority(), app: app, signedAt: Date())
        if let defect { return try write(DefectMinting.jws(defect, of: kind, by: minter)) }
        var fields = try payloadObject() ?? minter.payload(of: kind)
        for (field, value) in settings { fields = try kind.setting(field, to: value, in: fields) }
        try write(minter.mint(payload: fields))
    }
}

struct MintAppTransactionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-transaction",
        abstract: "Sign an app transaction: when and with which version a customer got the app.",
        discussion: """
            Example:
              tenure mint app-transaction --authority ./authority \\
                  --set originalApplicationVersion=37 \\
                  --set originalPurchaseDate=2014-05-01 --out early.jws
            """)

    @OptionGroup var options: MintOptions

    func run() async throws { try await options.mint(.appTransaction) }
}

struct MintTransactionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transaction", abstract: "Sign a transaction: one purchase in the app.",
        discussion: """
            Example:
              tenure mint transaction --authority ./authority \\
                  --set productId=com.example.calculator.everything
            """)

    @OptionGroup var options: MintOptions

    func run() async throws { try await options.mint(.transaction) }
}

struct MintRenewalInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renewal-info", abstract: "Sign renewal info: whether and how a subscription renews.",
        discussion: """
            Example:
              tenure mint renewal-info --authority ./authority \\
                  --set gracePeriodExpiresDate=2027-01-05
            """)

    @OptionGroup var options: MintOptions

    func run() async throws { try await options.mint(.renewalInfo) }
}

struct MintNotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification", abstract: "Sign an App Store Server Notification, and the artifacts in it.",
        discussion: """
            Example:
              tenure mint notification --authority ./authority \\
                  --set notificationType=DID_RENEW
            """)

    @OptionGroup var options: MintOptions

    func run() async throws { try await options.mint(.notification) }
}

struct MintReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt", abstract: "Sign an app receipt.",
        discussion: """
            Example:
              tenure mint receipt --authority ./authority \\
                  --set original_application_version=37 \\
                  --set in_app.0.product_id=com.example.calculator.everything \\
                  --out receipt
            """)

    /// The encoding of the receipt.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case der, ber, base64
    }

    @OptionGroup var options: MintOptions

    @Option(help: "The encoding: der like the App Store, ber like Xcode, or base64 of DER.")
    var form: Form?

    func validate() throws {
        try require(
            options.defect == nil || form != .ber, "`--defect` corrupts the usual receipt; leave out `--form ber`")
    }

    func run() async throws {
        try options.checkFiles()
        let minter = ReceiptMinter(authority: try options.testAuthority(), app: options.app, signedAt: Date())
        let receipt = try options.defect.map { try DefectMinting.receipt($0, by: minter) } ?? validReceipt(by: minter)
        // Without --form, standard output gets Base64, because a terminal can't show DER.
        let isText = form == .base64 || (options.out == nil && form == nil)
        try options.write(isText ? Array(Data(receipt).base64EncodedString().utf8) : receipt, newlineAtEnd: isText)
    }

    /// Creates a receipt without a defect, with the fields of the options.
    private func validReceipt(by minter: ReceiptMinter) throws -> [UInt8] {
        var draft = minter.defaultReceipt
        if let payload = try options.payloadObject() {
            draft = ReceiptDraft()
            try draft.set(payload)
        }
        for (field, value) in options.settings { try draft.set(field, to: value) }
        // Without --form, the receipt has the encoding of its environment: BER for Xcode, otherwise DER.
        var style = minter.style
        if form == .der { style.form = .der }
        if form == .ber { style.form = .ber }
        return try minter.mint(draft, style: style)
    }
}
