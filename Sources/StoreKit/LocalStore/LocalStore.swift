import Crypto
public import Foundation
import Synchronization
package import TenureAppStore
import TenureJSON

/// A simulated device that gets its data from a local App Store for tests. On Linux, it is the source of
/// `AppTransaction`, `Transaction`, `Product` and StoreKit's other values. Apps never need this class. Their tests use
/// it to control how the store behaves.
///
/// By default, StoreKit uses the device that the environment variables describe: `TENURE_LOCAL_STORE_URL` and related
/// variables. In a test, `run` replaces this device for the length of a closure, and `use` replaces it for the whole
/// process.
public final class LocalStore: Sendable {
    /// The ID of this device. The local App Store signs all values for this ID. If the test sets no ID, the ID is
    /// derived from the names of customer and device. So it is the same in each run.
    public let deviceVerificationID: UUID
    /// The file of the legacy receipt: `StoreKit/receipt` in the device's folder, in the sandbox
    /// `StoreKit/sandboxReceipt`.
    ///
    /// If the file doesn't exist, this property fetches the receipt, and blocks the thread meanwhile. A customer
    /// without the app has no receipt; then the file is missing. Foundation's `Bundle.main.appStoreReceiptURL` is
    /// always nil on Linux, so use this property instead.
    public var receiptURL: URL {
        fetchReceiptIfMissing()
        return receiptFile
    }

    /// The file of the receipt. Unlike `receiptURL`, this property doesn't fetch a missing receipt.
    var receiptFile: URL {
        receiptFolder.appendingPathComponent(state.withLock { $0.isSandbox } ? "sandboxReceipt" : "receipt")
    }

    /// The folder with the receipt's file.
    private let receiptFolder: URL
    let connection: any AppStoreConnection
    let state: Mutex<State>
    /// Whether to delete the device's folder with this object, because the test set no folder.
    private let ownsFolder: Bool

    /// The names of the device, its customer and its app in the local App Store, and the test's settings for the
    /// device.
    struct Configuration: Sendable {
        /// The customer's name; nil for the store's only customer.
        var customer: String?
        /// The bundle ID; nil for the store's only app.
        var app: String?
        /// The device's name. With another name, the customer has another device.
        var device = "first"
        /// Nil for an ID that is derived from the names of customer and device.
        var deviceVerificationID: UUID?
        /// The roots that the device trusts; nil for the roots that the store sends.
        var anchors: TrustAnchors?
        /// The folder for the receipt; nil for a folder that is deleted with the device, or with the process.
        var folder: URL?
    }

    struct State {
        var configuration: Configuration
        var behavior = Behavior()
        var signInRequests = 0
        /// Whether the last receipt was from the sandbox, which decides the name of the receipt's file.
        var isSandbox = false
        /// Nil until the app and the trusted roots are known.
        var verifier: AppStoreVerifier?
        /// The last report of the App Store; nil before the first report.
        var contents: DeviceContents?
        /// The stored app transaction, which `AppTransaction.shared` returns.
        var appTransaction: SignedText?
        var changeLog = ChangeLog()
        /// The number of purchases in progress on this device, by product ID.
        var purchasesInProgress: [String: Int] = [:]
        /// IDs of transactions that `purchase` has returned to the running app.
        var boughtHere: Set<UInt64> = []
        /// IDs of transactions that the app has finished, and that the App Store may not know as finished yet.
        var finishedHere: Set<UInt64> = []
        /// Purchases that wait for a parent.
        var waitingPurchases: [JSONObject] = []
        /// Callers that hang until the test sets another `LocalStore.Behavior`.
        var hangingCallers: [CheckedContinuation<Void, Never>] = []
        /// Listeners that wait for a change.
        var watchers: [AsyncStream<Void>.Continuation] = []
    }

    init(connection: any AppStoreConnection, configuration: Configuration) {
        self.connection = connection
        deviceVerificationID = configuration.deviceVerificationID ?? Self.deviceID(of: configuration)
        ownsFolder = configuration.folder == nil
        let folder = configuration.folder ?? Self.temporaryFolder.appendingPathComponent(UUID().uuidString)
        receiptFolder = folder.appendingPathComponent("StoreKit")
        state = Mutex(State(configuration: configuration))
    }

    /// The folder for all devices that were created without a folder. It is deleted when the process ends, because some
    /// devices are never deallocated: the device that the environment variables describe, and devices with a hanging
    /// call.
    private static let temporaryFolder: URL = {
        // The closure runs at the end of the process, when `temporaryFolder` has its value.
        atexit { try? FileManager.default.removeItem(at: LocalStore.temporaryFolder) }
        return FileManager.default.temporaryDirectory.appendingPathComponent("StoreKit-\(UUID().uuidString)")
    }()

    deinit {
        guard ownsFolder else { return }
        try? FileManager.default.removeItem(at: receiptFolder.deletingLastPathComponent())
    }

    /// Returns the device ID, which is always the same for a customer and a device name.
    private static func deviceID(of configuration: Configuration) -> UUID {
        let label = "\(configuration.customer ?? "")\u{0}\(configuration.device)"
        var bytes = Array(SHA256.hash(data: Array(label.utf8)).prefix(16))
        // Set the bits that mark a random UUID (RFC 9562, version 4).
        bytes[6] = (bytes[6] & 0x0F) | 0x40
        bytes[8] = (bytes[8] & 0x3F) | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The reason why the local App Store failed, as the underlying error of `StoreKitError.systemError`.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
        /// The reason in one sentence, as the local App Store or the connection reports it.
        public let description: String

        init(_ description: String) { self.description = description }

        /// The same as `description`.
        public var errorDescription: String? { description }
    }

    // MARK: Behavior

    /// How the device and the store behave. A call that hangs continues after the test has set another behavior.
    public var behavior: Behavior {
        get { state.withLock { $0.behavior } }
        set {
            let hanging = state.withLock { state in
                state.behavior = newValue
                defer { state.hangingCallers = [] }
                return state.hangingCallers
            }
            for continuation in hanging { continuation.resume() }
            wakeListeners()
        }
    }

    /// The bundle ID of the app on this device. Nil until the store was reached, if the device was created without a
    /// bundle ID.
    public var bundleID: String? { state.withLock { $0.contents?.bundleID ?? $0.configuration.app } }

    /// How many times the customer was asked to sign in. Only `AppStore.sync()` and `AppTransaction.refresh()` ask.
    public var signInRequests: Int { state.withLock { $0.signInRequests } }

    /// Another customer signs in on this device, as in the system's settings. The app transaction stays the former
    /// customer's until it is refreshed, because the former customer installed the app. Everything else is the new
    /// customer's at once.
    public func signIn(as customer: String) {
        state.withLock { state in
            state.configuration.customer = customer
            state.contents = nil
            state.changeLog.forgetCustomer()
            state.boughtHere = []
            state.finishedHere = []
        }
        wakeListeners()
    }

    /// The app is relaunched. Its new listeners also get the unfinished purchases that it made before.
    public func relaunchApp() {
        state.withLock { state in
            state.boughtHere = []
            state.changeLog.transactions.backlog =
                state.contents?.transactions.reversed().filter { !$0.isFinished }.map(\.value) ?? []
        }
    }

    /// Lets the listeners of `updates` check whether something has changed.
    func wakeListeners() {
        // Yields without holding the lock: yielding takes the lock of the waiting task, which another thread holds
        // while it cancels that task.
        let watchers = state.withLock { state in
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.yield() }
    }

    // MARK: The device that StoreKit uses

    /// The device on which StoreKit runs in this task: the device of `run`, otherwise the device of `use`, otherwise
    /// the device that the environment variables `TENURE_LOCAL_STORE_…` describe. Nil if no device is configured.
    public static var current: LocalStore? { taskDevice ?? processDevice.withLock { $0 } ?? environmentDevice }

    @TaskLocal private static var taskDevice: LocalStore?
    private static let processDevice = Mutex<LocalStore?>(nil)
    private static let environmentDevice = LocalStore(environment: ProcessInfo.processInfo.environment)

    /// Runs StoreKit on this device inside of the closure, and in tasks that begin there, but not in detached tasks.
    @discardableResult
    public func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result { try await Self.$taskDevice.withValue(self, operation: body) }

    /// Runs StoreKit on this device in the whole process, except inside of `run`. Pass nil to use the device that the
    /// environment variables describe.
    public static func use(_ device: LocalStore?) { processDevice.withLock { $0 = device } }

    /// Returns `current`, or throws if no device is configured.
    static func required() throws(StoreKitError) -> LocalStore {
        guard let current else {
            throw .systemError(
                Failure(
                    "no local App Store is configured; set the environment variable TENURE_LOCAL_STORE_URL to its URL"))
        }
        return current
    }

    /// Creates a device that uses the store at an address, such as `http://127.0.0.1:8090`, and installs the app on it.
    ///
    /// - Parameters:
    ///   - customer: the customer's name in the store; nil for the store's only customer.
    ///   - app: the bundle ID; nil for the store's only app.
    ///   - device: a name for the device. With another name, the customer has another device.
    ///   - deviceVerificationID: `AppStore.deviceVerificationID`; nil for an ID that is derived from the names of
    ///     customer and device.
    ///   - roots: PEM or DER of the certificates to trust; nil for the roots that the store sends.
    ///   - folder: where the receipt is kept; nil for a temporary folder.
    /// - Throws: a `StoreKitError` if the store doesn't answer, or has no such customer or app.
    public convenience init(
        url: URL, customer: String? = nil, app: String? = nil, device: String = "first",
        deviceVerificationID: UUID? = nil, roots: [UInt8]? = nil, folder: URL? = nil
    ) async throws(StoreKitError) {
        let anchors: TrustAnchors?
        do throws(Rejection) {
            anchors = try roots.map { roots throws(Rejection) in try TrustAnchors(roots) }
        } catch {
            throw .systemError(Failure(error.detail))
        }
        try await self.init(
            connection: HTTPConnection(url: url), customer: customer, app: app, device: device,
            deviceVerificationID: deviceVerificationID, anchors: anchors, folder: folder)
    }

    /// Creates a customer's device with any connection, and installs the app on it.
    package convenience init(
        connection: any AppStoreConnection, customer: String?, app: String?, device: String,
        deviceVerificationID: UUID?, anchors: TrustAnchors? = nil, folder: URL? = nil
    ) async throws(StoreKitError) {
        self.init(
            connection: connection,
            configuration: Configuration(
                customer: customer, app: app, device: device, deviceVerificationID: deviceVerificationID,
                anchors: anchors, folder: folder))
        try await install()
    }

    /// Creates the device that the environment variables describe. Nil if `TENURE_LOCAL_STORE_URL` isn't a URL with a
    /// host. The app is treated as installed, and no request is sent yet.
    convenience init?(environment: [String: String]) {
        guard let address = environment["TENURE_LOCAL_STORE_URL"], let url = URL(string: address), url.host != nil
        else { return nil }
        let device = environment["TENURE_LOCAL_STORE_DEVICE"] ?? "first"
        var configuration = Configuration(
            customer: environment["TENURE_LOCAL_STORE_CUSTOMER"],
            app: environment["TENURE_LOCAL_STORE_APP"] ?? Bundle.main.bundleIdentifier, device: device,
            deviceVerificationID: UUID(uuidString: device))
        configuration.folder = environment["TENURE_LOCAL_STORE_FOLDER"].map { URL(fileURLWithPath: $0) }
        if let path = environment["TENURE_LOCAL_STORE_ROOTS"] {
            // If the roots can't be read, trust Apple's roots, which a local App Store never uses. So every value is
            // unverified, and the developer notices the mistake.
            do {
                configuration.anchors = try TrustAnchors([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
            } catch {
                configuration.anchors = .apple
                FileHandle.standardError.write(
                    Data(
                        "StoreKit: the root certificates in `\(path)` (TENURE_LOCAL_STORE_ROOTS) can't be read, so every signed value is `.unverified`: \(error)\n"
                            .utf8))
            }
        }
        self.init(connection: HTTPConnection(url: url), configuration: configuration)
    }
}
