public import Foundation
import Synchronization
package import TenureAppStore

/// The device that StoreKit uses: the one that `run` sets for a task, otherwise the one that `use` sets for the
/// process, otherwise the one that the environment variables `TENURE_LOCAL_STORE_…` describe.
extension LocalStore {
    /// The device on which StoreKit runs in this task. Nil if no device is configured.
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
