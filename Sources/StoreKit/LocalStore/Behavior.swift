extension LocalStore {
    /// How the device and the App Store behave. By default, everything works.
    public struct Behavior: Sendable {
        /// `AppTransaction.shared` and `refresh()`.
        public var appTransaction = Answer.genuine
        /// `Transaction.all`, `currentEntitlements`, `unfinished`, `latest(for:)`, `updates`, and the statuses of
        /// subscriptions. Sequences can't throw: one that fails is empty, and `updates` waits.
        public var transactions = Answer.genuine
        /// `Product.products(for:)`.
        public var products = Answer.genuine
        /// `Product.purchase(options:)`.
        public var purchases = PurchaseAnswer.completes
        /// What the customer does when asked to sign in.
        public var signIn = SignIn.succeeds
        /// Whether the device has no network. It then uses the copies that it has.
        public var isOffline = false
        /// `AppStore.canMakePayments`; false also lets every purchase throw `Product.PurchaseError.purchaseNotAllowed`.
        public var canMakePayments = true

        public init() {}
    }

    public enum Answer: Sendable {
        case genuine
        case fails(StoreKitError)
        /// No answer until another behavior is set. As on devices, canceling the task doesn't end it.
        case hangs
        /// The answer has a flaw, so StoreKit returns it as `.unverified`.
        case unverified(Flaw)
    }

    /// What is wrong with signed data.
    public enum Flaw: String, CaseIterable, Sendable, Hashable {
        /// `invalidSignature`: one bit of the signature is different.
        case brokenSignature
        /// `invalidCertificateChain`: the device doesn't trust the signer.
        case foreignAuthority
        /// `invalidDeviceVerification`: it was signed for another device.
        case otherDevice
        /// `missingRequiredProperties`: it was signed for another app.
        case otherApp
    }

    public enum PurchaseAnswer: Sendable {
        case completes
        /// The customer closes the sheet.
        case isCancelled
        /// A parent is asked; see `LocalStore.approvePurchases()`.
        case waitsForApproval
        /// Throws a `StoreKitError` or a `Product.PurchaseError`.
        case fails(any Error)
        case hangs
        case unverified(Flaw)
    }

    public enum SignIn: Sendable, Hashable {
        case succeeds
        case isCancelled
        case hangs
    }
}
