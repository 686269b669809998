import Foundation
import Synchronization
import TenureJSON

/// The app transaction, the sign-in, and the receipt.
extension LocalStore {
    /// Returns the app transaction that the device has stored, or gets one from the App Store if the device has none.
    func appTransaction() async throws(StoreKitError) -> VerificationResult<AppTransaction> {
        let flaw = try await applyBehavior(\.appTransaction)
        if let copy = state.withLock({ $0.appTransaction }),
            let result: VerificationResult<AppTransaction> = check(copy, flaw)
        {
            return result
        }
        return try await fetchAppTransaction(flaw)
    }

    /// Asks the customer to sign in, and replaces the device's copies of the app transaction and of the receipt.
    func refreshAppTransaction() async throws(StoreKitError) -> VerificationResult<AppTransaction> {
        try await askToSignIn()
        let flaw = try await applyBehavior(\.appTransaction)
        defer { wakeListeners() }
        let result = try await fetchAppTransaction(flaw)
        try await fetchReceipt()
        return result
    }

    /// Asks the customer to sign in, and replaces everything that the device has stored from the App Store.
    func sync() async throws(StoreKitError) {
        try await askToSignIn()
        try await contact(isFresh: true)
        // A customer who never got the app (`appVersion` is nil) has no app transaction.
        if state.withLock({ $0.contents?.appVersion != nil }) { _ = try await fetchAppTransaction(nil) }
        try await fetchReceipt()
    }

    /// Renews the device's copies of the app transaction and of the receipt without a sign-in, as the system sometimes
    /// does. If the App Store can't be reached, the device keeps the copies that it has.
    public func renewArtifacts() async {
        _ = try? await fetchAppTransaction(nil)
        try? await fetchReceipt()
    }

    /// Gets the app transaction from the App Store, gives it the flaw (if any), verifies it, and stores it on the
    /// device.
    private func fetchAppTransaction(_ flaw: Flaw?) async throws(StoreKitError) -> VerificationResult<AppTransaction> {
        // Creating the verifier needs the app and the trusted roots, so contact the App Store first.
        if state.withLock({ $0.verifier == nil }) { try await contact() }
        guard let signed = try await send(.appTransaction).signedText("appTransaction"),
            let result: VerificationResult<AppTransaction> = check(signed, flaw)
        else { throw .unknown }
        state.withLock { $0.appTransaction = signed }
        return result
    }

    /// Shows the sign-in, which ends as the test has set it in `LocalStore.Behavior.signIn`.
    private func askToSignIn() async throws(StoreKitError) {
        state.withLock { $0.signInRequests += 1 }
        while true {
            switch behavior.signIn {
            case .succeeds: return
            case .isCancelled: throw .userCancelled
            case .hangs: await hang { $0.signIn == .hangs }
            }
        }
    }

    // MARK: The receipt

    /// Fetches the receipt, and writes it where apps look for it. Writes nothing if the customer has no receipt, or if
    /// the App Store can't be reached. Throws if the folder isn't writable; otherwise an app would look for a receipt
    /// that never exists.
    func fetchReceipt() async throws(StoreKitError) {
        if let answer = try? await send(.receipt) { try keepReceipt(answer) }
    }

    /// Fetches the receipt if its file is missing, and blocks the thread meanwhile. If the file can't be written,
    /// prints the error to standard error, because `receiptURL` can't throw it.
    func fetchReceiptIfMissing() {
        guard !behavior.isOffline, !FileManager.default.fileExists(atPath: receiptFile.path) else { return }
        guard let answer = connection.sendBlocking(.receipt, body()) else { return }
        do {
            try keepReceipt(answer)
        } catch {
            FileHandle.standardError.write(Data("StoreKit: \(error.localizedDescription)\n".utf8))
        }
    }

    /// Writes the receipt from the App Store's response to `receiptFile`. Does nothing if the response has no receipt.
    private func keepReceipt(_ answer: JSONObject) throws(StoreKitError) {
        guard let receipt = answer.text("receipt").flatMap({ Base64.standard.decode(Array($0.utf8)[...]) }) else {
            return
        }
        state.withLock { $0.isSandbox = answer.text("environment") == AppStore.Environment.sandbox.rawValue }
        let receiptURL = receiptFile
        do {
            try FileManager.default.createDirectory(
                at: receiptURL.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(receipt).write(to: receiptURL, options: .atomic)
        } catch {
            throw .systemError(
                Failure(
                    "the receipt can't be saved as `\(receiptURL.path)`; make the folder writable, or set TENURE_LOCAL_STORE_FOLDER to another folder"
                ))
        }
    }
}
