import Foundation
public import StoreKit
import Tenure

/// The model of a calculator app, without its views. The app was sold until build 119. From build 120 on it is free,
/// and its scientific keys are an in-app purchase. Customers who paid for the app have the scientific keys, too.
@MainActor public final class CalculatorModel {
    public private(set) var keypad = Keypad.basic
    /// True until the client knows what the customer owns. Show neither a lock nor a price meanwhile.
    public private(set) var isResolving = true
    /// A message for the customer, such as why a purchase failed.
    public internal(set) var notice: String?
    public internal(set) var sounds = Sounds.locked
    /// The app's only client, created when the app starts.
    let tenure: Tenure
    private var arithmetic = Arithmetic()

    public var display: String { arithmetic.display }

    /// - Parameter service: the service that delivers the sounds of the keys; without one, there are no sounds.
    /// - Throws: if the app was built without its policy, which `tenure policy compile` writes.
    public init(service: CalculatorService? = nil) throws {
        let policy = Tenure.PolicySource.bundled("tenure.json", in: .module)
        guard let service else {
            tenure = try Tenure(policy: policy)
            return
        }
        var options = Tenure.Options()
        options.content = .service(keys: [service.contentKey])
        tenure = try Tenure(service: service.url, key: service.key, policy: policy, options: options)
    }

    /// Shows each change of the customer's entitlements, such as a purchase or a refund. Call it from the view's
    /// `task`.
    public func follow() async {
        for await customer in tenure.updates { show(customer) }
    }

    /// Waits for the first answer and shows it. Call it once, before the first key is drawn.
    public func open() async {
        _ = await tenure.allows("everything")
        show(tenure.customer)
    }

    /// The action of the button "Buy Scientific Keys".
    public func buyTapped(_ product: Product) async {
        do {
            guard case .purchased(_, let customer) = try await tenure.purchase(product) else { return }
            show(customer)
        } catch {
            notice = error.localizedDescription
        }
    }

    /// The action of the button "Restore Purchases".
    public func restoreTapped() async {
        let restored = await tenure.restore()
        show(restored.customer)
        if case .failed(let reason) = restored.signIn { notice = reason }
    }

    private func show(_ customer: Tenure.Customer) {
        keypad = customer.allows("everything") ? .scientific : .basic
        isResolving = customer.isResolving
    }

    /// Handles a tap on a key. Keys that the keypad doesn't show have no effect.
    public func tap(_ key: Key) {
        guard keypad.keys.contains(key) else { return }
        arithmetic.tap(key)
    }
}
