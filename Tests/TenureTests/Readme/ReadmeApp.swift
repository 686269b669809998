import StoreKit
import Tenure

@MainActor final class ReadmeApp {
    private let tenure: Tenure
    private var session: Tenure.TrialSession?
    private(set) var isUnlocked = false
    private(set) var isResolving = true  // show neither a lock nor a price yet
    private(set) var message: String?

    init(_ tenure: Tenure) { self.tenure = tenure }  // try Tenure(policy: .bundled("tenure.json"))

    func follow() async {
        for await customer in tenure.updates {
            isUnlocked = customer.allows("everything")
            isResolving = customer.isResolving
        }
    }

    func buyTapped(_ product: Product) async {
        do {
            if case .pending = try await tenure.purchase(product) { message = "Waiting for approval" }
        } catch { message = error.localizedDescription }
    }

    func restoreTapped() async {
        if case .failed(let reason) = await tenure.restore().signIn { message = reason }
    }

    func tryTapped() async {
        do {
            session = try await tenure.trial("everything").begin()
            message = session?.sessionsLeft.map { "\($0) free sessions left" }
        } catch { message = error.localizedDescription }
    }
}
