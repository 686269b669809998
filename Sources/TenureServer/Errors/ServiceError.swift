import TenureStore

/// The reason why the service doesn't start, or why it stopped. The message of an error is one line. Only the messages
/// of `brokenPolicy` and `several` have more lines, one for each mistake.
public enum ServiceError: Error, Sendable, Hashable {
    /// The port is below 0 or above 65535.
    case invalidPort(Int)
    /// Another process listens on the port.
    case portInUse(host: String, port: Int)
    /// The system refused to open the port, for the reason in `detail`: for example, the address isn't one of this
    /// machine.
    case cannotListen(host: String, port: Int, detail: String)
    /// The service accepts no App Store environment.
    case noEnvironment
    /// The policy lacks the app's Apple ID, which artifacts from production contain.
    case productionNeedsAppleID
    /// Signers other than Apple are trusted, and other machines can reach the service.
    case testAnchorsBeyondLoopback(host: String)
    /// Other machines can reach the service, and it has no admin key.
    case noAdminKey(host: String)
    /// The admin key in the settings isn't a whole key, as `tenure admin-key generate` prints it.
    case invalidAdminKey
    /// Other machines can reach the service, and it has neither TLS nor a proxy.
    case noTransportSecurity(host: String)
    /// The policy's file can't be opened or read. A policy that was read and has mistakes is a `brokenPolicy`.
    case unreadablePolicy(path: String, detail: String)
    /// The policy has mistakes. Each message begins with file, line and column.
    case brokenPolicy([String])
    /// A file with a key or another secret can't be used.
    case keyFile(path: String, detail: String)
    /// Other processes that use the same database have other keys.
    case otherKeys(String)
    /// The database isn't a file, so the keys have no default folder.
    case noKeysFolder
    /// The certificate or private key of the service's TLS is invalid.
    case certificateFile(path: String, detail: String)
    /// Several mistakes, the most important first.
    case several([ServiceError])
    /// The settings of one webhook are invalid, such as its address or secret.
    case webhook(name: String, detail: String)
    /// The settings for calls to the App Store are invalid.
    case appStore(String)
    /// The settings or files for asset packs are invalid, so the service can't deliver them.
    case content(String)
    /// The file with the clock for tests is invalid, or the clock isn't allowed.
    case clock(String)
    /// Several apps can't run in one service: for example, two apps have the same name or database.
    case apps(String)
    /// One of several apps can't run, or its settings have a mistake.
    case app(name: String, String)
    /// The database can't be used.
    case database(String)
    /// The service failed for any other reason.
    case failed(String)

    /// Creates the error of a database that can't be used.
    init(_ error: StoreError) { self = .database(error.description) }

    /// Creates the error for any reason why the service doesn't start or has stopped.
    init(wrapping error: any Error) {
        switch error {
        case let error as ServiceError: self = error
        case let error as StoreError: self.init(error)
        default: self = .failed("\(error)")
        }
    }

    /// Combines mistakes into one error; nil if there are no mistakes.
    init?(_ mistakes: [ServiceError]) {
        guard let first = mistakes.first else { return nil }
        self = mistakes.count == 1 ? first : .several(mistakes)
    }
}

extension ServiceError: CustomStringConvertible {
    /// The problem and its fix, for the operator.
    public var description: String {
        switch self {
        case .invalidPort(let port): "`\(port)` isn't a valid port; use a port from 1 to 65535, or 0 for any free port"
        case .portInUse(let host, let port):
            "port \(port) on `\(host)` is in use; stop the process that listens there, or choose another port with --port"
        case .cannotListen(let host, let port, let detail):
            "can't listen on `\(host)`, port \(port): \(detail); choose another `host` or `port`"
        case .noEnvironment:
            "no App Store environment is configured; set `environments` to production, sandbox, xcode, or several of them"
        case .productionNeedsAppleID:
            "the app's Apple ID is missing, which production artifacts contain; add `appleID` to the policy's `app`"
        case .testAnchorsBeyondLoopback(let host):
            """
            `trust` has a test authority, and other machines can reach `\(host)`; anyone with the authority's key could \
            get every entitlement. Listen on 127.0.0.1 without a proxy, or set `testAnchorsBeyondLoopback` to true
            """
        case .noAdminKey(let host):
            "other machines can reach `\(host)`, and no admin key is configured; set `adminKeyFile`"
        case .invalidAdminKey:
            "the admin key is invalid or incomplete; create one with `tenure admin-key generate`"
        case .noTransportSecurity(let host):
            """
            `\(host)` isn't loopback, and there is no TLS; set `tls.certificate` and `tls.key`, or put a TLS proxy in \
            front and set `behindProxy` to its address
            """
        case .unreadablePolicy(let path, let detail): "the policy `\(path)` can't be read: \(detail)"
        case .brokenPolicy(let mistakes): mistakes.joined(separator: "\n")
        case .noKeysFolder:
            """
            the folder of the service's keys isn't set; with a database server, set `keys` to a folder that all processes \
            have in common
            """
        case .keyFile(let path, let detail): "the key file `\(path)` can't be used: \(detail)"
        case .certificateFile(let path, let detail): "the TLS file `\(path)` can't be used: \(detail)"
        case .several(let mistakes): mistakes.map(\.description).joined(separator: "\n")
        case .webhook(let name, let detail): "the webhook `\(name)` is invalid: \(detail)"
        case .appStore(let detail): "the App Store can't be called: \(detail)"
        case .clock(let detail): "the setting `clock` is invalid: \(detail)"
        case .apps(let detail): "the apps can't run together: \(detail)"
        case .app(let name, let detail): "the app `\(name)`: \(detail)"
        case .content(let detail), .database(let detail), .otherKeys(let detail): detail
        case .failed(let detail): "the service failed: \(detail)"
        }
    }
}
