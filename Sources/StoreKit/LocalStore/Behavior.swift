extension LocalStore {
    /// How the device and the App Store behave, as a test sets it. By default, everything works.
    public struct Behavior: Sendable {
        /// What `AppTransaction.shared` and `AppTransaction.refresh()` return or throw.
        public var appTransaction = Answer.genuine
        /// How the App Store answers `Transaction.all`, `currentEntitlements`, `unfinished`, `latest(for:)`, `updates`,
        /// and the statuses of subscriptions. Sequences can't throw: a sequence that fails is empty, and `updates`
        /// waits.
        public var transactions = Answer.genuine
        /// What `Product.products(for:)` returns or throws.
        public var products = Answer.genuine
        /// How `Product.purchase(options:)` ends.
        public var purchases = PurchaseAnswer.completes
        /// What the customer does when the system shows a sign-in.
        public var signIn = SignIn.succeeds
        /// Whether the device has no network. Then it uses its stored copies of what the App Store signed.
        public var isOffline = false
        /// `AppStore.canMakePayments`; false also lets every purchase throw `Product.PurchaseError.purchaseNotAllowed`.
        public var canMakePayments = true

        /// Everything works: the device is online, and nothing fails, hangs or has a flaw.
        public init() {}
    }

    /// The result of a call that reads from the App Store.
    public enum Answer: Sendable {
        /// The local App Store's data, signed and verified.
        case genuine
        /// The call throws this error. A sequence can't throw: it is empty, and `updates` waits.
        case fails(StoreKitError)
        /// The call gets no answer until the test sets another behavior. As on devices, canceling the task doesn't end
        /// the call.
        case hangs
        /// The answer has a flaw, so StoreKit returns it as `.unverified`.
        case unverified(Flaw)
    }

    /// What is wrong with signed data.
    public enum Flaw: String, CaseIterable, Sendable, Hashable {
        /// One bit of the signature is changed, so StoreKit reports `invalidSignature`.
        case brokenSignature
        /// The device doesn't trust the signer, so StoreKit reports `invalidCertificateChain`.
        case foreignAuthority
        /// The value was signed for another device, so StoreKit reports `invalidDeviceVerification`.
        case otherDevice
        /// The value was signed for another app, so StoreKit reports `missingRequiredProperties`.
        case otherApp
    }

    /// How a purchase ends. On Apple's platforms, the system shows a sheet, and the customer decides. Here, the test
    /// decides.
    public enum PurchaseAnswer: Sendable {
        /// The local App Store sells the product, or reports why it can't.
        case completes
        /// The customer closes the sheet.
        case isCancelled
        /// The purchase waits for a parent's approval; see `LocalStore.approvePurchases()`.
        case waitsForApproval
        /// The call throws a `StoreKitError` or a `Product.PurchaseError`.
        case fails(any Error)
        /// The sheet stays open until the test sets another behavior.
        case hangs
        /// The product is sold, and its transaction comes as `.unverified`.
        case unverified(Flaw)
    }

    /// What happens to the prompt of `AppStore.sync()` and `AppTransaction.refresh()`.
    public enum SignIn: Sendable, Hashable {
        /// The customer signs in with the account that the device already has.
        case succeeds
        /// The customer closes the prompt, so the call throws `StoreKitError.userCancelled`.
        case isCancelled
        /// The prompt stays open until the test sets another behavior.
        case hangs
    }
}
