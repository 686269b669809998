import Foundation
public import StoreKit
import Tenure

/// The calculator, without its views. It was sold until build 119. From build 120 on it is free, and its scientific keys are
/// a purchase, or belong to those who paid before.
@MainActor public final class CalculatorModel {
    public private(set) var keypad = Keypad.basic
    /// Show neither a lock nor a price while this is true: an owner may just have been asked for.
    public private(set) var isResolving = true
    public internal(set) var notice: String?
    public internal(set) var sounds = Sounds.locked
    /// One for the whole app, from its start on.
    let tenure: Tenure
    private var arithmetic = Arithmetic()

    public var display: String { arithmetic.display }

    /// - Parameter service: has the sounds of the keys; nil: the app has none.
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

    /// As long as the window is open: a purchase, a refund, another account, the end of a trial session.
    public func follow() async {
        for await customer in tenure.updates { show(customer) }
    }

    /// Once, before the first key is drawn.
    public func open() async {
        _ = await tenure.allows("everything")
        show(tenure.customer)
    }

    /// The button "Buy Scientific Keys".
    public func buyTapped(_ product: Product) async {
        do {
            guard case .purchased(_, let customer) = try await tenure.purchase(product) else { return }
            show(customer)
        } catch {
            notice = error.localizedDescription
        }
    }

    /// The button "Restore Purchases".
    public func restoreTapped() async {
        let restored = await tenure.restore()
        show(restored.customer)
        if case .failed(let reason) = restored.signIn { notice = reason }
    }

    private func show(_ customer: Tenure.Customer) {
        keypad = customer.allows("everything") ? .scientific : .basic
        isResolving = customer.isResolving
    }

    /// A key of the keypad. Keys that aren't on it do nothing.
    public func tap(_ key: Key) {
        guard keypad.keys.contains(key) else { return }
        arithmetic.tap(key)
    }
}
