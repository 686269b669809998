import TenurePolicyFile
import TenureStore

/// Why the service does not start, or stopped. One clear line each; a policy's mistakes one line each.
public enum ServiceError: Error, Sendable, Hashable {
    case invalidPort(Int)
    case portInUse(host: String, port: Int)
    case cannotListen(host: String, port: Int, detail: String)
    case noEnvironment
    case productionNeedsAppleID
    case testAnchorsBeyondLoopback(host: String)
    case noAdminKey(host: String)
    case invalidAdminKey
    case noTransportSecurity(host: String)
    case unreadablePolicy(path: String, detail: String)
    /// Each mistake with file, line and column.
    case brokenPolicy([String])
    case keyFile(path: String, detail: String)
    /// The record is no file beside which the keys could lie.
    case noKeysFolder
    /// A file of the service's own TLS.
    case certificateFile(path: String, detail: String)
    /// More than one, in the order in which they would matter.
    case several([ServiceError])
    case webhook(name: String, detail: String)
    /// The settings for calls to the App Store.
    case appStore(String)
    /// The delivery of content.
    case content(String)
    /// The clock of a rehearsal.
    case clock(String)
    /// Apps that cannot run together.
    case apps(String)
    /// What is wrong with one of several.
    case app(name: String, String)
    /// The record cannot be opened or was damaged.
    case record(String)
    case failed(String)

    init(_ error: StoreError) {
        self = .record(error.description)
    }

    /// Combines mistakes into one error; nil without a mistake.
    init?(_ mistakes: [ServiceError]) {
        guard let first = mistakes.first else { return nil }
        self = mistakes.count == 1 ? first : .several(mistakes)
    }
}

extension ServiceError: CustomStringConvertible {
    /// The problem and its fix on one line, for the operator.
    public var description: String {
        switch self {
        case .invalidPort(let port): "`\(port)` is no port; choose one from 1 to 65535, or 0 for any free one"
        case .portInUse(let host, let port):
            "port \(port) on `\(host)` is in use; stop what listens there, or choose another with --port"
        case .cannotListen(let host, let port, let detail): "cannot listen on `\(host)`, port \(port): \(detail)"
        case .noEnvironment: "no environment is accepted; name at least one of production, sandbox and xcode"
        case .productionNeedsAppleID:
            "production artifacts name the app's Apple ID, and none is configured; add `appleID` to the policy's `app`"
        case .testAnchorsBeyondLoopback(let host):
            """
            test anchors are configured and `\(host)` is reached from beyond loopback, where whoever can sign with \
            them owns everything; listen on 127.0.0.1 without a proxy, or say that you mean it
            """
        case .noAdminKey(let host):
            "`\(host)` is reached from beyond loopback; configure an admin key before listening there"
        case .invalidAdminKey:
            "the admin key isn't one that `tenure admin-key generate` made, or a part is missing; make one with that command"
        case .noTransportSecurity(let host):
            """
            `\(host)` is not loopback and nothing encrypts; name a certificate and its key, or put a TLS proxy in front \
            and declare its address
            """
        case .unreadablePolicy(let path, let detail): "the policy `\(path)` cannot be read: \(detail)"
        case .brokenPolicy(let mistakes): mistakes.joined(separator: "\n")
        case .noKeysFolder:
            "name the folder of the service's keys by `keys`; every process beside one database needs the same ones"
        case .keyFile(let path, let detail): "the key file `\(path)` is unusable: \(detail)"
        case .certificateFile(let path, let detail): "`\(path)` does not serve for TLS: \(detail)"
        case .several(let mistakes): mistakes.map(\.description).joined(separator: "\n")
        case .webhook(let name, let detail): "the webhook `\(name)` cannot be used: \(detail)"
        case .appStore(let detail): "the App Store cannot be asked: \(detail)"
        case .content(let detail): detail
        case .clock(let detail): "the clock cannot be used: \(detail)"
        case .apps(let detail): "the apps cannot run together: \(detail)"
        case .app(let name, let detail): "the app `\(name)`: \(detail)"
        case .record(let detail): detail
        case .failed(let detail): "the service failed: \(detail)"
        }
    }
}
