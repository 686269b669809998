public import Foundation
import Synchronization
import TenureAppStore
import TenureCore
import TenureJSON

/// Requests to the App Store, and what the device does with the answers.
extension LocalStore {
    /// Does what the test has set in `LocalStore.Behavior` for this kind of call:
    ///
    /// - `genuine`: returns nil.
    /// - `unverified`: returns the flaw that the values from the App Store must have.
    /// - `fails`: throws the error.
    /// - `hangs`: waits until the test sets another behavior.
    func applyBehavior(_ behavior: any KeyPath<Behavior, Answer> & Sendable) async throws(StoreKitError) -> Flaw? {
        while true {
            switch self.behavior[keyPath: behavior] {
            case .genuine: return nil
            case .fails(let error): throw error
            case .unverified(let flaw): return flaw
            case .hangs:
                await hang { if case .hangs = $0[keyPath: behavior] { true } else { false } }
            }
        }
    }

    /// Waits until the test sets another `LocalStore.Behavior`, even in a canceled task.
    func hang(while isHanging: @Sendable (Behavior) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard isHanging(state.behavior) else { return true }
                state.hangingCallers.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Sends a request. Throws while `LocalStore.Behavior.isOffline` is true.
    func send(_ kind: RequestKind, _ parameters: JSONObject = JSONObject()) async throws(StoreKitError) -> JSONObject {
        do throws(ConnectionFailure) {
            return try await sendKeepingFailure(kind, parameters)
        } catch {
            throw error.storeKitError
        }
    }

    /// Like `send`, but the error still has the code of a refusal.
    func sendKeepingFailure(
        _ kind: RequestKind, _ parameters: JSONObject = JSONObject()
    ) async throws(ConnectionFailure) -> JSONObject {
        let (isOffline, body) = state.withLock { ($0.behavior.isOffline, self.body(parameters, of: $0.configuration)) }
        if isOffline { throw .network(URLError(.notConnectedToInternet)) }
        return try await connection.send(kind, body)
    }

    /// Returns the body of a request: the parameters, and which customer, app and device send the request.
    func body(_ parameters: JSONObject = JSONObject()) -> JSONObject {
        state.withLock { self.body(parameters, of: $0.configuration) }
    }

    private func body(_ parameters: JSONObject, of configuration: Configuration) -> JSONObject {
        var body = parameters
        body["customer"] = configuration.customer.map(JSONValue.string)
        body["app"] = configuration.app.map(JSONValue.string)
        body["device"] = .string(deviceVerificationID.uuidString.lowercased())
        return body
    }

    /// Installs the app: contacts the App Store for the first time, and gets the receipt.
    func install() async throws(StoreKitError) {
        try await contact()
        try await fetchReceipt()
    }

    /// Gets everything from the App Store, and notifies the listeners of changes.
    ///
    /// - Parameter isFresh: whether the device replaces all stored transactions and subscriptions, even if their
    ///   content is the same.
    @discardableResult
    func contact(isFresh: Bool = false) async throws(StoreKitError) -> DeviceContents {
        // First report the finished transactions that the App Store doesn't know yet.
        for id in state.withLock({ $0.finishedHere }) {
            _ = try await send(.finish, ["transaction": .string(String(id))])
            state.withLock { _ = $0.finishedHere.remove(id) }
        }
        let customer = state.withLock { $0.configuration.customer }
        guard let contents = DeviceContents(try await send(.contents)) else { throw .unknown }
        try await createVerifier(for: contents)
        let hasChanged: Bool? = state.withLock { state in
            // If another customer signed in during the request, the result is nil, and the device asks again.
            state.configuration.customer == customer ? state.storeReport(contents, isFresh: isFresh) : nil
        }
        guard let hasChanged else { return try await contact(isFresh: isFresh) }
        if hasChanged { wakeListeners() }
        return state.withLock { $0.contents } ?? contents
    }

    /// Creates the verifier, unless the device has one. The verifier needs the trusted roots and the app's IDs.
    private func createVerifier(for contents: DeviceContents) async throws(StoreKitError) {
        guard state.withLock({ $0.verifier == nil }) else { return }
        let anchors: TrustAnchors
        do throws(Rejection) {
            if let configured = state.withLock({ $0.configuration.anchors }) {
                anchors = configured
            } else {
                let roots: [[UInt8]]
                do throws(StoreKitError) {
                    roots = try await send(.roots).texts("roots").compactMap {
                        Base64.standard.decode(Array($0.utf8)[...])
                    }
                } catch {
                    throw Rejection(.misconfigured, "the local App Store returned no roots: \(error)")
                }
                anchors = try TrustAnchors(der: roots)
            }
            let verifier = AppStoreVerifier(
                app: AppIdentity(bundleID: contents.bundleID, appAppleID: contents.appAppleID),
                trust: try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors]))
            state.withLock { $0.verifier = verifier }
        } catch {
            throw .systemError(Failure(error.detail))
        }
    }

    /// Returns what the App Store reports. If it can't be reached, returns its last report, or nil if there is no
    /// report.
    func knownContents() async -> DeviceContents? {
        if let contents = try? await contact() { return contents }
        return state.withLock { $0.contents }
    }

    /// Returns the local App Store's time, which the device knows even while it is offline. If the store doesn't
    /// respond, returns the time at which it reported `contents`.
    func deviceTime(_ contents: DeviceContents) async -> Date {
        guard let answer = try? await connection.send(.now, body()),
            let now = answer.text("now").flatMap({ Date(rfc3339: $0) })
        else { return contents.now }
        return max(now, contents.now)
    }

    /// Gives a signed value the flaw that the test has set, if any, and verifies the value. Returns nil if the value
    /// can't be read, or if the device has no verifier yet.
    func check<Signed: SignedValue>(_ signed: SignedText, _ flaw: Flaw?) -> VerificationResult<Signed>? {
        guard var verifier = state.withLock({ $0.verifier }) else { return nil }
        var (jws, device) = (signed.jws, deviceVerificationID)
        switch flaw {
        case nil: break
        case .brokenSignature: jws = signed.withBrokenSignature
        case .otherDevice: device = UUID()
        // Apple's roots didn't sign the local App Store's certificates.
        case .foreignAuthority: verifier = AppStoreVerifier(app: verifier.app, trust: .appStore)
        case .otherApp:
            verifier = AppStoreVerifier(app: AppIdentity(bundleID: "com.example.another"), trust: verifier.trust)
        }
        return .checking(jws, by: verifier, onDevice: device)
    }

    // MARK: Operations of a test that happen outside of the device, such as a refund

    /// The local App Store's current time, even while `LocalStore.Behavior.isOffline` is true.
    /// Throws a `StoreKitError` if the store can't be reached.
    public var now: Date {
        get async throws {
            guard let now = try await sendEvenOffline(.now, JSONObject()).text("now").flatMap({ Date(rfc3339: $0) })
            else { throw StoreKitError.unknown }
            return now
        }
    }

    /// Performs an operation: `perform("refund", ["product": "com.example.pro"])`, `perform("advance", ["by": "31d"])`.
    /// `tenure local-store do --help` lists the operations and their parameters. If an operation needs a customer and
    /// the parameters contain none, it uses this device's customer. The call works even if the device is offline.
    /// Throws a `StoreKitError.systemError` with the reason if the operation isn't possible.
    public func perform(_ operation: String, _ parameters: [String: String] = [:]) async throws(StoreKitError) {
        var object: JSONObject = ["operation": .string(operation)]
        for (name, text) in parameters.sorted(by: { $0.key < $1.key }) { object[name] = .string(text) }
        _ = try await sendEvenOffline(.operations, ["operations": .array([.object(object)])])
    }

    /// Sends a request even while `LocalStore.Behavior.isOffline` is true, because the test sends it and not the
    /// device.
    private func sendEvenOffline(_ kind: RequestKind, _ parameters: JSONObject) async throws(StoreKitError)
        -> JSONObject
    {
        do throws(ConnectionFailure) {
            return try await connection.send(kind, body(parameters))
        } catch {
            switch error {
            // Report the reason even if the code is `unknown`, for which StoreKit's own error has no reason.
            case .refused(_, let detail): throw .systemError(Failure(detail))
            case .network: throw error.storeKitError
            }
        }
    }
}

extension SignedText {
    /// The JWS with one changed bit in its signature.
    fileprivate var withBrokenSignature: String {
        var bytes = Array(signatureData)
        if !bytes.isEmpty { bytes[0] ^= 1 }
        return String(decoding: signedData, as: UTF8.self) + "." + Base64.urlSafe.text(bytes)
    }
}
